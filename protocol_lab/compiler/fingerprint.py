"""The 64-bit fingerprint of a state, and the hash table of the visited set.

One function, the same in every engine and for ever.

It mixes the row's 8-byte words one by one with multiplications and a rotation, each of which
can be undone, so that no word is lost on the way; 0 is kept free to mean "empty" in hash tables.
`VERSION` changes with the function and is written into whatever is stored by fingerprint.

The table's loops stand in this file because the kernel cache sees edits in their own file only.
What others call too, `fingerprint_words` and `slot_of`, is not to change.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from protocol_lab.compiler.kernel_cache import kernel

VERSION = 1

KNOWN, NEW, OUTSIDE = 0, 1, 2
"""What became of a generated state: seen before, new, or outside the constraint."""

_START, _WORD, _STEP = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F
_MASK = 2**64 - 1


@kernel()
def fingerprint_words(words: np.ndarray, row: int) -> int:
    """The fingerprint of row `row` of a uint64 array (rows, words per row)."""
    mixed = np.uint64(_START)
    for k in range(words.shape[1]):
        mixed = mixed ^ (words[row, k] * np.uint64(_WORD))
        mixed = ((mixed << np.uint64(29)) | (mixed >> np.uint64(35))) * np.uint64(_STEP)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(_WORD)
    mixed ^= mixed >> np.uint64(29)
    return mixed if mixed != np.uint64(0) else np.uint64(1)


@kernel()
def fingerprints(words: np.ndarray) -> np.ndarray:
    """The fingerprints (uint64) of all rows of a uint64 array."""
    found = np.empty(words.shape[0], np.uint64)
    for row in range(words.shape[0]):
        found[row] = fingerprint_words(words, row)
    return found


def fingerprint(row: bytes) -> int:
    """The fingerprint of one state in plain Python."""
    mixed = _START
    for at in range(0, len(row), 8):
        mixed ^= int.from_bytes(row[at : at + 8], "little") * _WORD & _MASK
        mixed = ((mixed << 29 | mixed >> 35) & _MASK) * _STEP & _MASK
    mixed ^= mixed >> 32
    mixed = mixed * _WORD & _MASK
    mixed ^= mixed >> 29
    return mixed or 1


def collision_probability(distinct: int, generated: int) -> float:
    """How likely two states shared a fingerprint and one was missed, as TLC estimates it.

    Every one of the generated states that was found known could have met any of the distinct
    ones by chance: distinct * (generated - distinct) / 2**64.
    """
    return distinct * (generated - distinct) / 2.0**64


@intrinsic
def prefetch(typing_context, array, index):
    """Ask the processor to bring one array item into its cache while other work goes on."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, word(1), word(1), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


_WORDS, _PRINTS, _NUMBERS = types.uint64[:, ::1], types.uint64[::1], types.int64[::1]


@kernel()
def slot_of(table: np.ndarray, wanted: int) -> int:
    """Where a fingerprint stands in a hash table of them, or would.

    table: uint64, a power of two of slots, 0 = empty.
    """
    mask = np.int64(table.shape[0] - 1)
    slot = np.int64(wanted) & mask
    while table[slot] != np.uint64(0) and table[slot] != wanted:
        slot = (slot + 1) & mask
    return slot


@kernel(
    types.UniTuple(types.int64, 2)(
        _PRINTS, _WORDS, _PRINTS, types.int64, types.uint8[::1], types.int64, _WORDS, types.int64,
        _NUMBERS, _NUMBERS, types.uint8[::1],
    ),
)  # fmt: skip
def insert(table, rows, prints, count, inside, limit, store, stored, parents, parent_of, verdicts):
    """Enter generated rows into the table of fingerprints and keep the new ones.

    table: see `slot_of`. rows[:count]: the generated states; prints: what each is known by;
    inside[k]: does row k satisfy the constraint. New rows are copied to store[stored:], their
    parents (parent_of[k]) to parents[stored:]. verdicts[k] becomes KNOWN, NEW or OUTSIDE. Stops
    before `limit` stored rows are exceeded. Returns (rows handled, rows stored).
    """
    mask = np.int64(table.shape[0] - 1)
    for k in range(count):
        prefetch(table, np.int64(prints[k]) & mask)
    for k in range(count):
        if not inside[k]:
            verdicts[k] = OUTSIDE
            continue
        slot = slot_of(table, prints[k])
        if table[slot] == prints[k]:
            verdicts[k] = KNOWN
            continue
        if stored >= limit:
            return k, stored
        table[slot] = prints[k]
        verdicts[k] = NEW
        for word in range(rows.shape[1]):
            store[stored, word] = rows[k, word]
        parents[stored] = parent_of[k]
        stored += 1
    return count, stored


@kernel(types.void(_PRINTS, _PRINTS))
def refill(larger, table):
    """Enter the fingerprints of a table into an empty, larger one."""
    for k in range(table.shape[0]):
        if table[k] != np.uint64(0):
            larger[slot_of(larger, table[k])] = table[k]
