"""Compiles plain Python functions to machine code that works on rows of states.

rewriting           rewrites a function's syntax tree into calls that Numba can compile
operations          compiled operations on fields, slots, bags and integers
compiler            compiles a spec's functions with Numba, each once
inner_functions     compiles what only compiled code calls, without machine code of its own
code_generation     generates the loop over an action's parameters, and the entry of a property
loops               the loops over states, the same for every spec
building            compiles generated code, or loads it from the cache
kernel_cache        the cache of compiled code on disk, with checksums
kernels             the compiled loops of one model, run on ranges of states
fingerprint         the fingerprint of a state, 64 bits
conditions          conditions typed by a learner, over the state `s` and the constants `c`
"""
