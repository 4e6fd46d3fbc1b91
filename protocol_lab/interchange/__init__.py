"""Traces of other tools, such as TLC's counterexamples, and logs of real systems, read as walks
through our specs.

readers         reads whatever a learner gives: a scenario, a link, JSON, what TLC printed
log_lines       removes what terminals, logs and mails add to the lines of an output
tlc_output      parses what TLC prints about an error
json_traces     parses TLC's JSON, and ITF as Apalache and Quint write it
trace_identity  which spec a trace belongs to
tlc_values      compares a state with one that TLC printed
differences     tells by field how both differ
effort          bounds the search for the steps of a trace or a log
tlc_traces      the search: constants, names of nodes, and steps that permit the trace
"""
