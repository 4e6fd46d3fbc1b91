"""Compiled operations on int64 that raise Fault where the result would be wrong.

LLVM removes checks that it can prove. A number read from a field is known to have the field's 8 to
32 bits, so adding a few of them costs no check, and neither does a constant. What remains is a
branch that is never taken; all of a function's branches lead to one block, which keeps its code
small.
"""

import operator
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from protocol_lab.compiler import arithmetic
from protocol_lab.compiler.arithmetic import MOST_TURNS
from protocol_lab.errors import Fault
from protocol_lab.model import node_sets
from protocol_lab.reader.unsupported_syntax import LOW

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


def _operation(plain: Callable, build: Callable) -> Callable:
    """The compiled version of an operator: checked for whole numbers, else Numba's own."""

    def operation(typing_context, left, right):
        if _is_whole(left) and _is_whole(right):

            def codegen(context, builder, signature, args):
                pairs = zip(args, signature.args, strict=True)
                numbers = [context.cast(builder, *each, types.int64) for each in pairs]
                return build(context, builder, *numbers)

            return types.int64(left, right), codegen
        if isinstance(left, types.Array) or isinstance(right, types.Array):
            raise TypingError("a list can't be added or multiplied: write a loop")
        found = typing_context.resolve_function_type(plain, (left, right), {})
        if found is None:
            return None

        def codegen_plain(context, builder, signature, args):
            values = [
                context.cast(builder, *each)
                for each in zip(args, signature.args, found.args, strict=True)
            ]
            return context.get_function(plain, found)(builder, values)

        return found.return_type(left, right), codegen_plain

    operation.__name__ = f"checked_{plain.__name__}"
    return intrinsic(operation)


def _with_overflow(name: str) -> Callable:
    """Code for one of LLVM's operations that also return whether the result overflowed."""

    def build(context, builder, left, right):
        result = getattr(builder, f"{name}_with_overflow")(left, right)
        fault_if(context, builder, builder.extract_value(result, 1))
        return builder.extract_value(result, 0)

    return build


def _build_shift_left(context, builder, number, count):
    too_far = builder.icmp_unsigned(">=", count, _INT64(64))
    safe = builder.select(too_far, _INT64(0), count)
    moved = builder.shl(number, safe)
    lost = builder.icmp_signed("!=", builder.ashr(moved, safe), number)
    something = builder.icmp_signed("!=", number, _INT64(0))
    does_not_fit = builder.and_(something, builder.or_(too_far, lost))
    is_negative = builder.icmp_signed("<", count, _INT64(0))
    fault_if(context, builder, builder.or_(is_negative, does_not_fit))
    return moved


def _build_shift_right(context, builder, number, count):
    fault_if(context, builder, builder.icmp_signed("<", count, _INT64(0)))
    most = builder.icmp_signed(">", count, _INT64(63))
    return builder.ashr(number, builder.select(most, _INT64(63), count))


def _build_floor(context, builder, number, divisor) -> tuple[Any, Any]:
    """Quotient and remainder as in Python, for a divisor that is neither 0 nor -1."""
    quotient, rest = builder.sdiv(number, divisor), builder.srem(number, divisor)
    uneven = builder.icmp_signed("!=", rest, _INT64(0))
    apart = builder.icmp_signed("<", builder.xor(rest, divisor), _INT64(0))
    lower = builder.and_(uneven, apart)
    return (
        builder.select(lower, builder.sub(quotient, _INT64(1)), quotient),
        builder.select(lower, builder.add(rest, divisor), rest),
    )


def _build_divide(context, builder, number, divisor):
    turned = builder.icmp_signed("==", divisor, _INT64(-1))
    least = builder.icmp_signed("==", number, _INT64(LOW))
    is_zero = builder.icmp_signed("==", divisor, _INT64(0))
    fault_if(context, builder, builder.or_(is_zero, builder.and_(turned, least)))
    return _build_floor(context, builder, number, divisor)[0]


def _build_remainder(context, builder, number, divisor):
    fault_if(context, builder, builder.icmp_signed("==", divisor, _INT64(0)))
    turned = builder.icmp_signed("==", divisor, _INT64(-1))
    divisor = builder.select(turned, _INT64(1), divisor)  # also 0, and nothing overflows
    return _build_floor(context, builder, number, divisor)[1]


_add = _operation(operator.add, _with_overflow("sadd"))
_sub = _operation(operator.sub, _with_overflow("ssub"))
_mul = _operation(operator.mul, _with_overflow("smul"))


@intrinsic
def _neg(typing_context, number):
    """0 - number, checked."""
    if not _is_whole(number):
        return None

    def codegen(context, builder, signature, args):
        value = context.cast(builder, args[0], signature.args[0], types.int64)
        return _with_overflow("ssub")(context, builder, _INT64(0), value)

    return types.int64(number), codegen


@intrinsic
def _turn(typing_context, turns):
    """turns + 1, checked: see `arithmetic`."""

    def codegen(context, builder, signature, args):
        turns = context.cast(builder, args[0], signature.args[0], types.int64)
        fault_if(context, builder, builder.icmp_signed(">=", turns, _INT64(MOST_TURNS)))
        return builder.add(turns, _INT64(1), flags=("nsw", "nuw"))

    return types.int64(turns), codegen


@overload(arithmetic.checked_pow)
def _pow(base, exponent):
    def power(base, exponent):
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

    return power if _is_whole(base) and _is_whole(exponent) else None


@overload(node_sets.refuse_negative)
def _refuse_negative(nodes):
    def refuse(nodes):
        if nodes < 0:
            raise Fault

    return refuse if _is_whole(nodes) else None


@overload(arithmetic.checked_abs)
def _abs(number):
    return (lambda number: _neg(number) if number < 0 else number) if _is_whole(number) else None


COMPILED_OPERATIONS = {
    **arithmetic.OPERATIONS,
    "checked_add": _add,
    "checked_sub": _sub,
    "checked_mul": _mul,
    "checked_neg": _neg,
    "checked_floordiv": _operation(operator.floordiv, _build_divide),
    "checked_mod": _operation(operator.mod, _build_remainder),
    "checked_lshift": _operation(operator.lshift, _build_shift_left),
    "checked_rshift": _operation(operator.rshift, _build_shift_right),
    "checked_turn": _turn,
}
"""The compiled versions that rewritten code calls by name (see `arithmetic`)."""
