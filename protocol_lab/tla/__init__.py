"""A spec as TLA+, so that TLC can check it: a module to read, and a configuration file.

expressions     TLA+ expressions as values, and the simplest form of each
text            prints them
values          what stands for what: types, first values, conversions
paths           the paths through a function's code, and what is so where they meet again
values_of_code  expressions in a function, calls of the language's functions, comprehensions
functions       statements: what a function returns or leaves behind; loops
module          the whole module, and its configuration
"""
