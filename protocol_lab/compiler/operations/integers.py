"""Compiled operations on int64 that raise Fault where there is no result, or a wrong one.

All of a function's faults lead to one block, which keeps its code small.
"""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llvmlite import ir
from numba import TypingError, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from protocol_lab.compiler.inner_functions import inner
from protocol_lab.compiler.rewriting import MOST_TURNS
from protocol_lab.errors import Fault
from protocol_lab.model import node_sets

_INT64 = ir.IntType(64)

_fault_blocks: WeakKeyDictionary[ir.Function, ir.Block] = WeakKeyDictionary()


def fault_if(context: Any, builder: ir.IRBuilder, condition: Any) -> None:
    """Code that raises Fault where the condition is true; the message is found uncompiled."""
    function = builder.function
    if function not in _fault_blocks:
        block = _fault_blocks[function] = function.append_basic_block("fault")
        with builder.goto_block(block):
            context.call_conv.return_user_exc(builder, Fault, ())
    going_on = builder.append_basic_block("checked")
    branch = builder.cbranch(condition, _fault_blocks[function], going_on)
    branch.set_weights([1, 999])
    builder.position_at_end(going_on)


def _is_whole(kind: types.Type) -> bool:
    return isinstance(kind, types.Integer | types.Boolean)


def _checked(operation: str) -> Any:
    """A function of two whole numbers, by the name of LLVM's operation; it raises Fault if the
    result needs more than 64 bits."""

    @intrinsic
    def operate(typing_context, left, right):
        if not (_is_whole(left) and _is_whole(right)):
            raise TypingError("a list can't be added or multiplied: write a loop")

        def codegen(context, builder, signature, args):
            pairs = zip(args, signature.args, strict=True)
            numbers = [context.cast(builder, *each, types.int64) for each in pairs]
            result = getattr(builder, f"{operation}_with_overflow")(*numbers)
            fault_if(context, builder, builder.extract_value(result, 1))
            return builder.extract_value(result, 0)

        return types.int64(left, right), codegen

    return operate


_add, _sub, _mul = map(_checked, ("sadd", "ssub", "smul"))


@inner
def _div(left, right):
    return _sub(0, left) if right == -1 else left // right


@inner
def _abs(number):
    return number if number >= 0 else _sub(0, number)


@intrinsic
def _turn(typing_context, turns):
    """turns + 1, checked: see `rewriting.MOST_TURNS`."""

    def codegen(context, builder, signature, args):
        turns = context.cast(builder, args[0], signature.args[0], types.int64)
        fault_if(context, builder, builder.icmp_signed(">=", turns, _INT64(MOST_TURNS)))
        return builder.add(turns, _INT64(1), flags=("nsw", "nuw"))

    return types.int64(turns), codegen


@inner
def _pow(base, exponent):
    if exponent < 0:
        raise Fault
    result, left = 1, exponent
    while left > 0:
        if left & 1:
            result = _mul(result, base)
        left >>= 1
        if left > 0:
            base = _mul(base, base)
    return result


@inner
def _lshift(number, count):
    if count < 0 or (count > 62 and number != 0):
        raise Fault
    return _mul(number, 1 << count) if number != 0 else 0


@inner
def _rshift(number, count):
    if count < 0:
        raise Fault
    return number >> min(count, 63)


@overload(node_sets.refuse_negative)
def _refuse_negative(nodes):
    def refuse(nodes):
        if nodes < 0:
            raise Fault

    return refuse if _is_whole(nodes) else None


COMPILED_OPERATIONS = {
    "checked_add": _add,
    "checked_sub": _sub,
    "checked_div": _div,
    "checked_abs": _abs,
    "checked_mul": _mul,
    "checked_pow": _pow,
    "checked_lshift": _lshift,
    "checked_rshift": _rshift,
    "checked_turn": _turn,
}
"""What rewritten code calls by name (see `rewriting`)."""


# --- Lists ----------------------------------------------------------------------------------------
#
# Compiled lists of numbers: in local variables, `votes = [0] * n`, and from `Sequences`.
#
# They are arrays of int64, of as many numbers as they began with. An index means what it means for
# a list of Python's, where -1 is the last; one that is out of range raises Fault.


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
