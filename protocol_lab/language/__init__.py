"""The language of a spec's functions: their helpers, and how plain Python runs them.

node_sets     sets of nodes as bitmasks
containers    operations on sequences and bags inside a state
source_code   the source and syntax tree of a plain function
reading       a function as it was read: its variables, with those of comprehensions apart
dataflow      follows the paths through a function
ineffective   code that does nothing, or is never true: comparisons with None, unused values
stale_names   names for parts of the state that are read after the part was assigned
unassigned    variables that may be read before anything was assigned to them
dependencies  the functions that a function reaches, and a hash of their sources
hashing       a short hash of texts
kept_results  keeps what functions of a state return, while the same states are shown many times
evaluation    calls a plain function as it was written; errors name their place
"""
