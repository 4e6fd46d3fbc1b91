"""Compiled operations, as Numba intrinsics.

records    a row of bytes as a record: reads, checked stores, comparisons; the constants
stores     what may be stored where, and how it is converted
slots      arrays of the state, and which of their slots are in use
bags       finding, adding and taking items of a bag
lookups    len, in and for on sequences, bags, arrays and sets of nodes
unchanged  loops over a sequence or bag that their body may change
integers   checked arithmetic on int64; lists of numbers
"""
