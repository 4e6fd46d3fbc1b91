"""Compiled operations, as Numba intrinsics.

records    a row of bytes as a record: reads, checked stores, comparisons; the constants
stores     what may be stored where, and how it is converted
slots      arrays of the state, and which of their slots are in use
bags       finding, adding and taking items; what a loop's body must not change
lookups    len, in and for on sequences, bags, arrays and sets of nodes
integers   checked arithmetic on int64; lists of numbers
"""
