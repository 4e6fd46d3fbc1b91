"""The visited set: a hash table of fingerprints, in partitions that grow independently.

The highest bits of a fingerprint choose its partition, so that several threads can enter
fingerprints at once, each into partitions of its own. A partition is an open-addressing table with
linear probing. A fingerprint's slot increases with the fingerprint's lower half: so growing is one
pass over the old table that writes the new one almost in order, and table sizes need not be powers
of two. Only one partition at a time exists twice, so that the set can fill the memory it may use.

The table's loops are in this file because the kernel cache sees edits in their own file only.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.compiler.loops import number_at, put_number
from protocol_lab.system.memory import Budget

PARTITIONS = 64
_SHIFT = 58
"""The partition of a 64-bit fingerprint is in the bits from here on."""

_FEWEST = 512
"""Slots of an empty partition."""

_GROWTH = (2, 1), (4, 3), (9, 8)
"""The factors by which a partition grows: to twice its size while it is small, and by little where
memory is short."""

_SMALL = 1 << 17
"""A partition is small up to this many slots. A small one grows when half of them are used, a
larger one when three quarters are; where there is no memory to grow, seven eighths are used."""

KNOWN, NEW, OUTSIDE = 0, 1, 2
"""The verdict on a generated state: seen before, new, or outside the constraint."""

_AHEAD = 32
"""Candidates between the prefetch of a slot and its use."""

_ADDRESS, _SLOTS, _USED, _MOST = range(4)
"""The numbers noted for each partition: its address, its slots, how many are used, and how many may
be used before it grows."""

_PRINTS = types.uint64[::1]


class VisitedSet:
    """The fingerprints of the states found so far.

    budget: the memory that the tables may take.
    """

    def __init__(self, budget: Budget):
        self.budget = budget
        self._tables = [np.zeros(_FEWEST, np.uint64) for _ in range(PARTITIONS)]
        self._notes = np.zeros((PARTITIONS, 4), np.int64)
        budget.take(8 * _FEWEST * PARTITIONS, at_least=True)
        for partition, table in enumerate(self._tables):
            self._note(partition, table)

    def enter(
        self, first: int, last: int, prints: np.ndarray, count: int, verdicts: np.ndarray
    ) -> tuple[int, int]:
        """Enter those of prints[:count] whose partition is in [first, last), in order.

        prints: uint64. verdicts[k] is KNOWN or OUTSIDE before; KNOWN becomes
        NEW if the fingerprint was not in the set, and OUTSIDE ones are skipped. Returns how many
        candidates were handled, fewer than `count` if the memory is used up, and how many of them
        became NEW.
        """
        begin = new = 0
        while True:  # until no partition has to grow
            begin, more = _enter(self._notes, first, last, prints, begin, count, verdicts)
            new += more
            if begin == count or not self._grow(int(prints[begin]) >> _SHIFT):
                return begin, new

    def _grow(self, partition: int) -> bool:
        old = self._tables[partition]
        slots = len(old)
        for more, by in _GROWTH[slots > _SMALL :]:
            larger = 8 * (slots * more // by)
            if self.budget.take(larger):
                table = np.zeros(larger // 8, np.uint64)
                _refill(table, old)
                self._tables[partition] = table
                self._note(partition, table)
                self.budget.give_back(old.nbytes)
                return True
        fuller = 7 * slots // 8
        if self._notes[partition, _MOST] == fuller:
            return False
        self._notes[partition, _MOST] = fuller
        return True

    def _note(self, partition: int, table: np.ndarray) -> None:
        slots = len(table)
        most = slots // 2 if slots <= _SMALL else 3 * slots // 4
        used = self._notes[partition, _USED]
        self._notes[partition] = table.ctypes.data, slots, used, most


@intrinsic
def _prefetch(typing_context, address, position):
    """Prefetch an item of the int64 array that starts at an address into the processor's cache."""

    def codegen(context, builder, signature, args):
        start = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        pointer = builder.bitcast(builder.gep(start, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, word(1), word(1), word(1)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@kernel(
    types.UniTuple(types.int64, 2)(
        types.int64[:, ::1], types.int64, types.int64, _PRINTS, types.int64, types.int64,
        types.uint8[::1],
    ),
)  # fmt: skip
def _enter(notes, first, last, prints, begin, count, verdicts):
    """See `VisitedSet.enter`; stops also before a candidate whose partition has to grow."""
    own, places = np.empty(count - begin, np.int32), np.empty(count - begin, np.int64)
    found = new = 0
    for k in range(begin, count):
        own[found] = k
        partition = np.int64(prints[k] >> np.uint64(_SHIFT))
        # No branch: which candidates are its own can't be predicted.
        found += (verdicts[k] != OUTSIDE) & (first <= partition) & (partition < last)
    for i in range(found + _AHEAD):
        if i < found:
            one = prints[own[i]]
            partition = np.int64(one >> np.uint64(_SHIFT))
            slots = np.uint64(notes[partition, _SLOTS])
            places[i] = np.int64(((one & np.uint64(0xFFFFFFFF)) * slots) >> np.uint64(32))
            _prefetch(notes[partition, _ADDRESS], places[i])
        if i < _AHEAD:
            continue
        k, place = own[i - _AHEAD], places[i - _AHEAD]
        partition = np.int64(prints[k] >> np.uint64(_SHIFT))
        address, slots = notes[partition, _ADDRESS], notes[partition, _SLOTS]
        wanted = np.int64(prints[k])
        there = number_at(address, place)
        while there != 0 and there != wanted:
            place = place + 1 if place + 1 < slots else 0
            there = number_at(address, place)
        if there != 0:
            continue
        if notes[partition, _USED] >= notes[partition, _MOST]:
            return np.int64(k), new
        notes[partition, _USED] += 1
        put_number(address, place, wanted)
        verdicts[k] = NEW
        new += 1
    return count, new


@kernel(types.void(_PRINTS, _PRINTS))
def _refill(larger, table):
    """Enter the fingerprints of a partition into an empty, larger one."""
    slots = larger.shape[0]
    for k in range(table.shape[0]):
        if table[k] != np.uint64(0):
            place = np.int64(
                ((table[k] & np.uint64(0xFFFFFFFF)) * np.uint64(slots)) >> np.uint64(32)
            )
            while larger[place] != np.uint64(0):
                place = place + 1 if place + 1 < slots else 0
            larger[place] = table[k]
