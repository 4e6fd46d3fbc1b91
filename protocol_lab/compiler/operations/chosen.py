"""Compiled sequences of numbers that a parameter declared as `Sequences` gives.

Such a sequence notes how many of its first items were looked at: where an action refuses, all
sequences that begin with the same items are refused as well (see `code_generation`). It can't be
changed. An index means what it means for a list of Python's, where -1 is the last.

In memory it is an array of int64: how many items were looked at, how many there are, the items.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import register_default
from numba.core.datamodel.models import OpaqueModel, StructModel
from numba.core.imputils import RefType, iternext_impl, lower_builtin
from numba.core.typing.templates import AbstractTemplate, Signature, infer_global, signature
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from protocol_lab.compiler.operations.integers import fault_if

_INT64 = ir.IntType(64)
_ITEMS = 2


class Chosen(types.IterableType):
    """The type of such a sequence: its address."""

    def __init__(self):
        super().__init__("chosen sequence")

    @property
    def iterator_type(self) -> types.Type:
        return ChosenIterator()


class ChosenIterator(types.SimpleIteratorType):
    """Goes through the items."""

    def __init__(self):
        super().__init__("iter(chosen sequence)", types.int64)


register_default(Chosen)(OpaqueModel)


@register_default(ChosenIterator)
class _ChosenIteratorModel(StructModel):
    def __init__(self, dmm: Any, fe_type: ChosenIterator):
        members = [("index", types.EphemeralPointer(types.intp)), ("items", Chosen())]
        super().__init__(dmm, fe_type, members)


def first_sequence(low: int, length: int) -> np.ndarray:
    """The memory of the first sequence of this length: all items are `low`."""
    memory = np.empty(length + 2, np.int64)
    memory[0], memory[1] = 0, length
    for k in range(length):
        memory[k + 2] = low
    return memory


def next_sequence(memory: np.ndarray, low: int, high: int, kept: int) -> int:
    """Go on to the next sequence in which one of the first `kept` items differs; 1, or 0 if that
    was the last."""
    at = min(kept, memory[1]) + 1
    for k in range(at + 1, memory.size):
        memory[k] = low
    memory[0] = 0
    while at > 1:
        if memory[at] < high:
            memory[at] += 1
            return 1
        memory[at] = low
        at -= 1
    return 0


@intrinsic
def chosen(typing_context: Any, memory: Any) -> tuple[Any, Any]:
    """The sequence that is in this memory."""

    def codegen(context, builder, signature, args):
        array = make_array(memory)(context, builder, args[0])
        return builder.bitcast(array.data, context.get_value_type(Chosen()))

    return Chosen()(memory), codegen


def _numbers(builder: ir.IRBuilder, sequence: Any) -> Any:
    return builder.bitcast(sequence, _INT64.as_pointer())


def count_of(builder: ir.IRBuilder, sequence: Any) -> Any:
    """How many items there are."""
    return builder.load(builder.gep(_numbers(builder, sequence), [_INT64(1)]))


def look_at(builder: ir.IRBuilder, sequence: Any, index: Any) -> Any:
    """The item at an index from 0 up to the last; it is noted that it was looked at."""
    numbers = _numbers(builder, sequence)
    before, seen = builder.load(numbers), builder.add(index, _INT64(1))
    more = builder.icmp_signed(">", seen, before)
    builder.store(builder.select(more, seen, before), numbers)
    return builder.load(builder.gep(numbers, [builder.add(index, _INT64(_ITEMS))]))


def load_item(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    """Code for `sequence[index]`; raises Fault if there is no such item."""
    index = context.cast(builder, args[1], signature.args[1], types.int64)
    count = count_of(builder, args[0])
    from_end = builder.icmp_signed("<", index, _INT64(0))
    index = builder.select(from_end, builder.add(index, count), index)
    fault_if(context, builder, builder.icmp_unsigned(">=", index, count))
    return look_at(builder, args[0], index)


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Signature | None:
        return signature(types.intp, args[0]) if isinstance(args[0], Chosen) else None


@lower_builtin(len, Chosen)
def _len(context, builder, signature, args):
    return count_of(builder, args[0])


@lower_builtin("getiter", Chosen)
def _getiter(context, builder, signature, args):
    iterator = context.make_helper(builder, signature.return_type)
    iterator.index = cgutils.alloca_once_value(builder, _INT64(0))
    iterator.items = args[0]
    return iterator._getvalue()


@lower_builtin("iternext", ChosenIterator)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, signature, args, result):
    iterator = context.make_helper(builder, signature.args[0], value=args[0])
    index = builder.load(iterator.index)
    is_there = builder.icmp_signed("<", index, count_of(builder, iterator.items))
    result.set_valid(is_there)
    with builder.if_then(is_there):
        result.yield_(look_at(builder, iterator.items, index))
        builder.store(builder.add(index, _INT64(1)), iterator.index)
