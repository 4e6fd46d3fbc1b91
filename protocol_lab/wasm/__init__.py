"""The search of one model as a small WebAssembly module, which a browser or Node runs.

driver         the search: visited set, levels, parents, bounds; written as the other kernels are
search_module  compiles a model's pieces with the driver, and says what a page needs to run them
translation    Numba's LLVM code for another machine: retargeted, optimised, made an object file,
               and this a module, without a linker

How it works. The pieces of a model (`compiler.code_generation`) take addresses and numbers of 64
bits, and no other memory than rows of bytes: that is what a WebAssembly module has, too. So Numba
compiles them with the driver as always, but without its optimisations, which assume this machine.
The LLVM code gets the triple of wasm32 and is then optimised by llvmlite, which has that target.
All functions are in one object, whose addresses are final; so no linker is needed: what it imports
(memory, stack pointer) is left as it is, and an export of the one function `search` is added.

`search(result, fault, control, most)` returns 0, and its own result at the address `result`; or not
0, where a step or a property has no value: then plain Python repeats the state that was expanded,
at the position DONE, and says where. `js/search.js` makes the memory, fills the table and asks for
some thousand states at a time, so that a page can show progress and stop.

Left out: symmetry and views, a search's own constraint or goal, deadlocks, and temporal
properties. The search runs in 300 MiB and does not widen storage by itself.
"""
