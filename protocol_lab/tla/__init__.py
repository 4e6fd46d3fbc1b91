"""A spec as TLA+, so that TLC can check it: a module to read, and a configuration file.

values       TLA+ expressions, and what stands for what: types, first values, conversions
expressions  expressions in a function, calls of the language's functions, comprehensions
functions    statements: what a function returns or leaves behind; loops
module       the whole module, and its configuration
"""
