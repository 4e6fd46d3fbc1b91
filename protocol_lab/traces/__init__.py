"""Traces: paths of states and steps, taken, written, read and exported.

walk          a walk through a model: steps, undo, redo, branches
scenarios     scenario files: steps, captions, and claims about them
events        what happened in a step, as messages and notes for a sequence diagram
links         a walk as a short string for a link
text_exports  a walk as Python, JSON, Mermaid or sequencediagram.org text
junit_report  the outcome of a search as JUnit XML
readers       reads whatever a learner pastes: a link, JSON, a scenario, TLC's output
tlc_output    parses what TLC prints about an error
tlc_values    compares a state with one that TLC printed
tlc_traces    TLC's counterexample as a walk through our spec
"""
