"""Explicit-state model checking in one process, breadth first.

options         declarations of a search's options, and how others read them
engines         which engine searches in this process
request         what a search is asked: properties, bounds, callbacks
result          what a search answers: a verdict of three values, counts, a counterexample
compiled_model  the compiled actions and properties of a model, their bits, and its initial states
visited_set     the fingerprints of all states found, in partitions that threads fill at once
state_log       the states found: rows of the frontier, and links to make the others again
chunks          chunks of a level, and the threads that work on them
breadth_first   the native engine: expands, enters, checks and counts chunk by chunk
reference       the reference engine: the same search in plain Python, the oracle of the others
counterexample  puts a counterexample into a result, in causal order, computed uncompiled
cross_check     repeats counterexamples and a sample of states in plain Python
disagreement    where compiled code and plain Python differ: its bounds, or a defect to report
progress        the progress line of a search, in a terminal or a notebook
"""
