"""From plain Python functions to machine code that works on rows of states.

unsupported_syntax  rejects Python that can't be compiled, with a readable error
dependencies        the functions that a function reaches, and a hash of their sources
rewriting           rewrites a function's syntax tree into calls that Numba can compile
records             compiled reads, stores and comparisons of a state's fields
bags                compiled operations on bags
compiler            compiles a spec's functions with Numba, each once
code_generation     generates the loop over an action's parameters, and the entry of a property
loops               the loops over states, the same for every spec
building            compiles generated code, and caches it on disk
kernels             the compiled loops of one model, ready to be called on arrays of states
fingerprint         the 64-bit fingerprint of a state, and the hash table of visited states
conditions          conditions typed by a learner, over the state `s` and the constants `c`
"""
