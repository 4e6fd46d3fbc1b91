"""How TLC prints and counts what has another shape here.

variables     the originals' variables as TLC prints them
multiplicity  how often TLC generates the same step
"""
