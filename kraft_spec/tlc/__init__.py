"""What only comparisons with TLC need, a module for each variant that restates an original.

A spec names its module, `Spec(tlc=...)`; it is loaded with the first model.
"""
