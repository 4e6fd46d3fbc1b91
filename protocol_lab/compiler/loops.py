"""The compiled loops over states, the same for every spec; the pieces they call are generated.

A piece is one action with the loops over its parameters, or one property. All have the signature
(work, first, second, number) -> number, all int64, and are called by their address: so only an
edited action is compiled anew, not the loops that call it. `work` is the address of a table of
addresses and sizes, in the order of the names below.

What keeps the memory at an address alive. Numba frees an array after its last use as an array, and
takes no notice of addresses, which are numbers. So in compiled code:

- `address_of` is called on parameters of a kernel that Python calls, never on an array that the
  kernel makes (`tests/compiler/test_freed_memory.py` reads them all). The calling frame holds the
  arguments until the kernel returns, however Numba counts references inside it. So Python makes
  the table of `expand` and `check`, too (`kernels`), and the rows in which `identify` erases
  (`symmetry.state_identity`).
- The tables of the visited set are noted by their addresses (`checker.visited_set`). The set owns
  notes and tables; it replaces a partition's table and its note together, between two calls for
  that partition.
- Machine code is called by its address (`building.Builder.addresses`). What was compiled or loaded
  stays in `building.loaded` until the process ends, and with it the environments of the functions
  in it, whose addresses Numba has written into the code.
- Records and parts of states are addresses of rows, which are arguments, or of the stack of the
  function that makes them; the compiler refuses to return the latter.
- A local list, or a sequence that a parameter gives, is an array as Numba knows it. Nothing keeps
  its address.
- In WebAssembly (`wasm.driver`) nothing is freed: `js/search.js` lays everything out in one memory
  of a fixed size. The simulation, distances and liveness call these same kernels with arrays.

The loops and what they call are in one file because the kernel cache sees edits in their own file
only. They release the GIL.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from protocol_lab.compiler.kernel_cache import kernel

(
    ROWS,
    BEFORE,
    CONSTANTS,
    VALUES,
    OUT,
    PARENT_OF,
    ACTION_OF,
    MULTIPLICITY_OF,
    KEY_OF,
    KEYS,
    ROOM,
) = range(11)
"""Positions in the table: the states, those they came from, the spec's constants, the values of a
property's parameters; then, for the successors that a piece writes, their arrays, how many keys
each has, and the number of successors there is room for."""

PIECE = types.int64(*[types.int64] * 4)

_WORDS, _NUMBERS = types.uint64[:, ::1], types.int64[::1]
EXPAND = types.UniTuple(types.int64, 2)(
    *(_WORDS, types.int64, types.int64, _NUMBERS, _WORDS),
    *[_NUMBERS] * 5,
    *(types.int64[:, ::1], _NUMBERS, _NUMBERS),
)
CHECK = types.void(
    *(_WORDS, types.int64, types.uint8[::1], _NUMBERS, _NUMBERS, types.int64, _NUMBERS),
    *(_WORDS, _NUMBERS, _NUMBERS, _NUMBERS),
)
"""The types of `expand` and `check`."""


class NotRefused(Exception):
    """Raised by a piece that has only the first guards of an action: they do not refuse it."""


@intrinsic
def number_at(typing_context, address, position):
    """The number at a position of the int64 array that starts at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(_slot(builder, *args))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def put_number(typing_context, address, position, number):
    """Write the number at a position of the int64 array that starts at an address."""

    def codegen(context, builder, signature, args):
        builder.store(args[2], _slot(builder, *args[:2]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _slot(builder: ir.IRBuilder, address, position):
    start = builder.inttoptr(address, ir.IntType(64).as_pointer())
    return builder.gep(start, [position])


@intrinsic
def call_piece(typing_context, address, work, first, second, number):
    """Call the piece at an address; its exceptions are raised here."""

    def codegen(context, builder, signature, args):
        convention = context.call_conv
        kind = convention.get_function_type(PIECE.return_type, PIECE.args)
        piece = builder.inttoptr(args[0], kind.as_pointer())
        status, result = convention.call_function(
            builder, piece, PIECE.return_type, PIECE.args, args[1:]
        )
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return result

    return types.int64(*[types.int64] * 5), codegen


def keep(work, source, written, action, multiplicity):
    """Note where a successor comes from; the place of the next one, or -1 if there is no room.

    Called by the pieces, and compiled with each.
    """
    put_number(number_at(work, PARENT_OF), written, source)
    put_number(number_at(work, ACTION_OF), written, action)
    put_number(number_at(work, MULTIPLICITY_OF), written, multiplicity)
    return written + 1 if written + 1 < number_at(work, ROOM) else -1


@kernel(EXPAND)
def expand(
    rows, begin, end, constants, out, parent_of, action_of, multiplicity_of, degree_of, progress,
    key_of, pieces, table,
) -> tuple[int, int]:  # fmt: skip
    """Try every action with every choice of parameters on rows[begin:end].

    The successors are written into `out`, with the row's parent, the action's number, TLC's
    multiplicity and the keys that distinguish an action's steps. It stops early, before a state
    whose successors do not all fit. degree_of counts successors by state; progress[0] is the state
    being expanded, so that it is known where a CapacityExceeded came from. table: see `new_table`.
    Returns (end of the states done, rows written).
    """
    table[ROWS], table[CONSTANTS], table[OUT] = (
        address_of(rows),
        address_of(constants),
        address_of(out),
    )
    table[PARENT_OF], table[ACTION_OF] = address_of(parent_of), address_of(action_of)
    table[MULTIPLICITY_OF], table[KEY_OF] = address_of(multiplicity_of), address_of(key_of)
    table[KEYS], table[ROOM] = key_of.shape[1], out.shape[0] - 1
    work, written = address_of(table), 0
    for source in range(begin, end):
        progress[0] = source
        first = written
        for word in range(rows.shape[1]):
            out[written, word] = rows[source, word]
        for k in range(pieces.shape[0]):
            written = call_piece(pieces[k], work, source, written, k)
            if written < 0:
                return source, first
        degree_of[source - begin] = written - first
    return end, written


@kernel(CHECK)
def check(
    rows, count, wanted, constants, values, enabled, found, before, parent_of, pieces, table
) -> None:
    """For rows[k] with wanted[k], found[k] gets bit i if it is in `enabled` and piece i says so.

    A step's piece also looks at before[parent_of[k]]; values: of the pieces' parameters;
    table: see `new_table`.
    """
    table[ROWS], table[BEFORE] = address_of(rows), address_of(before)
    table[CONSTANTS], table[VALUES] = address_of(constants), address_of(values)
    work = address_of(table)
    for k in range(count):
        found[k] = 0
        if not wanted[k]:
            continue
        for bit in range(pieces.shape[0]):
            if enabled >> bit & 1:
                found[k] |= call_piece(pieces[bit], work, k, parent_of[k], bit) << bit


@njit
def address_of(array):
    """The address of an array's data; the array is a parameter of the kernel that asks."""
    return np.int64(array.ctypes.data)


def new_table() -> np.ndarray:
    """The memory of the table that a loop fills, and whose address its pieces get. Whoever calls
    the loop makes it, a new one for each call, and so keeps it until the loop returns."""
    return np.zeros(ROOM + 1, np.int64)
