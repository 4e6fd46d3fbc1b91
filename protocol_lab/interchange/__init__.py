"""Traces of other tools, such as TLC's counterexamples, read as walks through our specs.

readers      reads whatever a learner gives: a scenario, a link, JSON, ITF, what TLC printed
tlc_output   parses what TLC prints about an error
tlc_values   compares a state with one that such a tool printed
effort       bounds the search for the steps of a trace or a log
tlc_traces   the search: the steps that permit the trace
"""
