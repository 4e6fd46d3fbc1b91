"""Traces of other tools, such as TLC's counterexamples, read as walks through our specs.

readers      reads whatever a learner gives: a scenario, a link, JSON, what TLC printed
tlc_output   parses what TLC prints about an error
json_traces  parses TLC's JSON, and ITF as Apalache and Quint write it
tlc_values   compares a state with one that such a tool printed
effort       bounds the search for the steps of a trace or a log
tlc_traces   the search: the steps that permit the trace
"""
