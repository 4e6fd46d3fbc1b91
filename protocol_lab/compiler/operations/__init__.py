"""Compiled operations, as Numba intrinsics.

records   a row of bytes as a record: reads, checked stores, comparisons
slots     arrays of the state, and which of their slots are in use
bags      finding, adding and taking items of a bag
integers  checked arithmetic on int64
"""
