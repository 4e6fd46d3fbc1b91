"""Compiled access to the state's arrays: which slots are in use, and what may be stored.

An index is checked against the slots in use, as `state_view.ArrayView` does uncompiled: an array by
node has no slot for NONE, and in a sequence or bag only the present items are in use. Their number
is stored right before them (see `layout.ArrayLayout`), so it can be found from the items' address
alone.
"""

from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.extending import lower_builtin, models, register_model

from protocol_lab.model.state_view import ITEMS_IN_ORDER
from protocol_lab.reader.dependencies import short_hash

_INT64 = ir.IntType(64)


class Slots(types.NestedArray):
    """The type of an array in a record; `item` is the type of a slot, which may be such an array
    itself.

    first: the lowest index. items_of, counter: as in `ArrayLayout`, the counter as a type. frozen:
    is it part of an item of a bag, which can't be changed?
    """

    def __init__(
        self,
        item: types.Type,
        count: int,
        first: int = 0,
        items_of: str = "",
        counter: types.Integer | None = None,
        frozen: bool = False,
    ):
        super().__init__(item, (count,))
        self.item, self.count, self.first = item, count, first
        self.items_of, self.counter, self.frozen = items_of, counter, frozen
        self.name = f"slots({item.name}, {count}, {first}, {items_of}, {counter}, {frozen})"

    @property
    def key(self) -> str:
        return self.name

    def unify(self, typing_context: Any, other: types.Type) -> None:
        """None: a variable is not this array here and another kind of array there. Numba's own
        answer is a plain array, which would be read without the checks."""

    def can_convert_to(self, typing_context: Any, other: types.Type) -> None:
        """None, for the same reason."""

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """The type's part in names of machine code (see `records.StateRecord`)."""
        return "Slots", (short_hash(self.name),)

    @property
    def value_type(self) -> types.Type:
        """The type of a slot's value: numbers are int64, whatever their width."""
        return types.int64 if isinstance(self.item, types.Integer) else self.item

    @property
    def item_bytes(self) -> int:
        """The size of a slot."""
        if isinstance(self.item, Slots):
            return self.item.count * self.item.item_bytes
        return self.item.size if isinstance(self.item, types.Record) else self.item.bitwidth // 8

    @property
    def iterator_type(self) -> types.Type:
        return SlotsIterator(self)

    def refuse_store(self) -> None:
        """Raise TypingError, with a sentence, if no slot can be assigned to."""
        if self.items_of == "bag" or self.frozen:
            raise TypingError(ITEMS_IN_ORDER)


register_model(Slots)(models.OpaqueModel)  # the address of its first slot: all else is in the type


class SlotsIterator(types.SimpleIteratorType):
    """Iterates over the slots in use, including those that come into use meanwhile, as for a
    list."""

    def __init__(self, slots: Slots):
        self.slots = slots
        super().__init__(f"iter({slots.name})", slots.value_type)


@register_model(SlotsIterator)
class _SlotsIteratorModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: SlotsIterator):
        members = [("index", types.EphemeralPointer(types.intp)), ("array", fe_type.slots)]
        super().__init__(dmm, fe_type, members)


def moved(builder: ir.IRBuilder, pointer: Any, offset: Any) -> Any:
    """The address `offset` bytes further on."""
    start = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    return builder.gep(start, [offset])


def widened(builder: ir.IRBuilder, pointer: Any, kept: types.Integer) -> Any:
    """The number of type `kept` at an address, as int64."""
    narrow = ir.IntType(kept.bitwidth)
    number = builder.load(builder.bitcast(pointer, narrow.as_pointer()), align=1)
    return (builder.sext if kept.signed else builder.zext)(number, _INT64)


def end_of(builder: ir.IRBuilder, slots: Slots, data: Any) -> Any:
    """The index after the last slot in use."""
    if not slots.items_of:
        return _INT64(slots.first + slots.count)
    back = _INT64(-(slots.counter.bitwidth // 8))
    return widened(builder, moved(builder, data, back), slots.counter)


def is_outside(builder: ir.IRBuilder, slots: Slots, data: Any, position: Any) -> Any:
    """Is there no slot in use at this position?"""
    wanted, count = (
        _past_first(builder, slots, each) for each in (position, end_of(builder, slots, data))
    )
    return builder.icmp_unsigned(">=", wanted, count)


def _past_first(builder: ir.IRBuilder, slots: Slots, position: Any) -> Any:
    """How many slots stand before this index."""
    return builder.sub(position, _INT64(slots.first)) if slots.first else position


def slot_at(builder: ir.IRBuilder, slots: Slots, data: Any, position: Any) -> Any:
    """The address of a slot."""
    before = _past_first(builder, slots, position)
    return moved(builder, data, builder.mul(before, _INT64(slots.item_bytes)))


def load(context: Any, builder: ir.IRBuilder, kind: types.Type, pointer: Any) -> Any:
    """The value at an address, of the type `value_type`; a record or an array is a reference."""
    if isinstance(kind, types.Integer):
        return widened(builder, pointer, kind)
    return builder.bitcast(pointer, context.get_value_type(kind))


@lower_builtin(len, Slots)
def _len(context, builder, signature, args):
    [slots] = signature.args
    return _past_first(builder, slots, end_of(builder, slots, args[0]))


@lower_builtin("getiter", Slots)
def _getiter(context, builder, signature, args):
    [slots] = signature.args
    iterator = context.make_helper(builder, signature.return_type)
    iterator.index = cgutils.alloca_once_value(builder, _INT64(slots.first))
    iterator.array = args[0]
    return iterator._getvalue()


@lower_builtin("iternext", SlotsIterator)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, signature, args, result):
    slots = signature.args[0].slots
    iterator = context.make_helper(builder, signature.args[0], value=args[0])
    index = builder.load(iterator.index)
    is_there = builder.icmp_signed("<", index, end_of(builder, slots, iterator.array))
    result.set_valid(is_there)
    with builder.if_then(is_there):
        slot = slot_at(builder, slots, iterator.array, index)
        result.yield_(load(context, builder, slots.item, slot))
        builder.store(builder.add(index, _INT64(1)), iterator.index)
