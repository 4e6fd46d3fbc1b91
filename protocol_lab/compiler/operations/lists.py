"""Compiled lists of numbers: in local variables, `votes = [0] * n`, and from `Sequences`.

They are arrays of int64, of as many numbers as they began with. An index means what it means for a
list of Python's, where -1 is the last; one that is out of range raises Fault.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload
from numba.np.arrayobj import make_array

from protocol_lab.compiler.arithmetic import MOST_TURNS
from protocol_lab.compiler.operations.integers import fault_if
from protocol_lab.errors import Fault

_INT64 = ir.IntType(64)


def new_list(item: int, count: int) -> list[int]:
    """[item] * count."""
    return [item] * count


def sequence_at(position: int, low: int, of_each: int, length: int) -> np.ndarray:
    """The sequence at a position among all of `length` numbers, each one of `of_each` from `low`
    on."""
    made = np.empty(length, np.int64)
    for k in range(length - 1, -1, -1):
        made[k] = low + position % of_each
        position //= of_each
    return made


@overload(new_list)
def _new_list(item, count):
    if not isinstance(item, types.Integer | types.Boolean):
        raise TypingError("a list in a function has numbers")

    def filled(item, count):
        if count > MOST_TURNS:
            raise Fault
        made = np.empty(max(count, 0), np.int64)
        for k in range(made.size):
            made[k] = item
        return made

    return filled


def _place(context, builder, kind: types.Array, value, index_type: types.Type, index):
    """The address of a number of a list; raises Fault if there is none."""
    array = make_array(kind)(context, builder, value)
    position = context.cast(builder, index, index_type, types.int64)
    from_end = builder.icmp_signed("<", position, _INT64(0))
    position = builder.select(from_end, builder.add(position, array.nitems), position)
    fault_if(context, builder, builder.icmp_unsigned(">=", position, array.nitems))
    return builder.gep(array.data, [position])


def load_number(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    """Code for `numbers[index]` where it is read."""
    [kind, index_type] = signature.args
    return builder.load(_place(context, builder, kind, args[0], index_type, args[1]))


def store_number(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    """Code for `numbers[index] = value`."""
    [kind, index_type, value_type] = signature.args
    number = context.cast(builder, args[2], value_type, types.int64)
    builder.store(number, _place(context, builder, kind, args[0], index_type, args[1]))
    return context.get_dummy_value()
