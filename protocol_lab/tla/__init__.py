"""A spec as TLA+, so that TLC can check it: a module to read, and a configuration file.

expressions     TLA+ expressions as values, and the simplest form of each
text            prints them
values          what stands for what: types, first values, conversions
helper_effects  which functions change what they are given, or return a part of it
paths           where the paths through a function's code end, and meet again
functions       follows a function's code: what it returns, what it leaves behind
assignments     assignments in it, and containers that it changes
lookup          names, attributes and items in it
operations      conditions, comparisons, arithmetic, sets of nodes
helpers         calls of helpers as operators of the module
calls           all calls: Python's, the language's, helpers
iteration       what a loop or a comprehension goes through
repetition      loops as quantifiers, sets, sums and functions, or as a recursion
module          the whole module, and its configuration

In these modules `t` is the `Functions` of the spec that is being translated.
"""
