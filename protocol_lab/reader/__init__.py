"""Reads the Python of a spec's functions: what they mean, and mistakes before anything runs.

source_code         the source and syntax tree of a plain function
reading             a function as it was read: its variables, with those of comprehensions apart
possible_steps      the function that compiled code calls in the place of `enabled`
dependencies        the functions that a function reaches, and a hash of their sources
layouts_in_code     the layouts of the state, the constants, the parameters and the fields
named_values        texts that stand for numbers, and operations on sets, in a form that compiles
side_effects        what code changes, also before a refusal, and the paths through it
value_flow          follows values through calls: what each is, and which are not what they seem
common_mistakes     rejects code that means something else in a spec than in Python
unsupported_syntax  rejects Python that is not in the language, before anything runs
dry_run             tries a spec on a few states before it is compiled, to name mistakes early
"""
