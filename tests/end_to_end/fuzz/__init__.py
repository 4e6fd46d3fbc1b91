"""A differential fuzzer: random specs through every engine, compared in everything that is counted.

In reading order:

declarations  random constants, structs and states
expressions   random expressions over them
faults        what has no value or does not fit, in some states
generator     the text of a whole module, always the same for a seed and a number
comparison    one spec on every engine, and where two answers differ
worker        a process that compares specs one after the other
command       `python3 lab.py fuzz`: many specs in parallel
"""
