"""Compiled operations on bags, and pop_first: they work where the container stands in the state.

These functions of `containers` are not compiled from their Python source: their code is built into
the functions that call them. Otherwise every type of item would have compiled functions of its own.
"""

from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.core import cgutils
from numba.extending import intrinsic

from protocol_lab.compiler.operations.integers import fault_if
from protocol_lab.compiler.operations.records import (
    CONTAINER_OPERATIONS,
    Container,
    compare_bytes,
    expect_no_text,
    frozen,
    start_of,
)
from protocol_lab.compiler.operations.slots import Slots, end_of, load, moved, slot_at
from protocol_lab.compiler.operations.stores import as_kept, bytes_in, can_store, size_of, store
from protocol_lab.errors import CapacityExceeded
from protocol_lab.model import containers
from protocol_lab.model.state_view import ITEMS_IN_ORDER

_INT64 = ir.IntType(64)


class _Items:
    """The items of a bag or sequence in the code that is being built."""

    def __init__(self, context: Any, builder: ir.IRBuilder, container: Container, pointer: Any):
        self.context, self.builder = context, builder
        self.slots, self.kind = container.items, container.items.item
        self.start = start_of(builder, container, pointer)

    def size(self) -> Any:
        return end_of(self.builder, self.slots, self.start)

    def set_size(self, size: Any) -> None:
        counter = self.slots.counter
        at = moved(self.builder, self.start, _INT64(-(counter.bitwidth // 8)))
        store(self.context, self.builder, counter, at, types.int64, size)

    def at(self, position: Any) -> Any:
        return slot_at(self.builder, self.slots, self.start, position)

    def compare(self, position: Any, item: Any) -> Any:
        """A number below, at or above 0 if the item at the position is smaller than, equal to or
        greater than the given one.

        Numbers are compared as such, records by their bytes.
        """
        if isinstance(self.kind, types.Integer):
            other = load(self.context, self.builder, self.kind, self.at(position))
            return self.builder.sub(other, item)
        return compare_bytes(self.builder, self.at(position), item, bytes_in(self.kind))

    def find(self, item: Any) -> tuple[Any, Any]:
        """The position of the first item that is not smaller, and whether it is the item."""
        builder, size = self.builder, self.size()
        position = cgutils.alloca_once_value(builder, size)
        is_here = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
        with cgutils.for_range(builder, size) as loop:
            order = self.compare(loop.index, item)
            with builder.if_then(builder.icmp_signed(">=", order, order.type(0))):
                builder.store(loop.index, position)
                builder.store(builder.icmp_signed("==", order, order.type(0)), is_here)
                loop.do_break()
        return builder.load(position), builder.load(is_here)

    def move(self, source: Any, dest: Any, count: Any) -> None:
        """Move this many items from one position to another."""
        size = self.builder.mul(count, _INT64(self.slots.item_bytes))
        cgutils.raw_memmove(self.builder, self.at(dest), self.at(source), size, 1)

    def insert(self, position: Any, item: Any) -> None:
        """Put a copy of an item there; raises CapacityExceeded if there is no room."""
        size, one = self.size(), _INT64(1)
        full = self.builder.icmp_signed(">=", size, _INT64(self.slots.count))
        with self.builder.if_then(full, likely=False):
            self.context.call_conv.return_user_exc(self.builder, CapacityExceeded, ())
        rest = self.builder.sub(size, position)
        self.move(position, self.builder.add(position, one), rest)
        number = types.int64 if isinstance(self.kind, types.Integer) else self.kind
        store(self.context, self.builder, self.kind, self.at(position), number, item)
        self.set_size(self.builder.add(size, one))

    def remove(self, position: Any) -> None:
        """Remove the item at the position; the slot that becomes free is zeroed."""
        one = _INT64(1)
        last = self.builder.sub(self.size(), one)
        self.move(self.builder.add(position, one), position, self.builder.sub(last, position))
        cgutils.memset(self.builder, self.at(last), _INT64(self.slots.item_bytes), 0)
        self.set_size(last)


def _bag_operation(name: str, result: types.Type, build: Any) -> Any:
    """The compiled version of a function (bag, item) of `containers`."""

    def operation(typing_context, bag, item):
        if not isinstance(bag, Container) or bag.layout.kind != "bag":
            raise TypingError(f"{name}: this is not a Bag of the state")
        if bag.frozen and result == types.void:
            raise TypingError(ITEMS_IN_ORDER)
        kind = bag.typeof("items").item
        expect_no_text(item)
        is_number = isinstance(kind, types.Integer)
        if not can_store(kind, item) or is_number != isinstance(
            item, types.Integer | types.Boolean
        ):
            raise TypingError(f"{name}: {item} is not an item of this bag")

        def codegen(context, builder, signature, args):
            if is_number:
                value = context.cast(builder, args[1], item, types.int64)
            else:
                value = as_kept(context, builder, kind, item, args[1])
            found = build(_Items(context, builder, bag, args[0]), value)
            return context.get_dummy_value() if found is None else found

        return result(bag, item), codegen

    operation.__name__ = name
    return intrinsic(operation)


def _build_add(bag, item):
    bag.insert(bag.find(item)[0], item)


def _build_add_once(bag, item):
    position, is_here = bag.find(item)
    with bag.builder.if_then(bag.builder.not_(is_here)):
        bag.insert(position, item)


def _build_take(bag, item):
    position, is_here = bag.find(item)
    fault_if(bag.context, bag.builder, bag.builder.not_(is_here))
    bag.remove(position)


@intrinsic
def _pop_first(typing_context, sequence):
    """Takes the first item away; the copy of a record lives on the stack of the function that this
    is written in."""
    if not isinstance(sequence, Container) or sequence.layout.kind != "seq":
        raise TypingError("pop_first: this is no sequence of the state")
    slots = sequence.items
    slots.refuse_store()
    item, seen_as = slots.value_type, frozen(slots.value_type)

    def codegen(context, builder, signature, args):
        items = _Items(context, builder, sequence, args[0])
        fault_if(context, builder, builder.icmp_signed("==", items.size(), _INT64(0)))
        if isinstance(item, types.Integer):
            taken = load(context, builder, slots.item, items.start)
        else:
            taken = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), size_of(item)))
            cgutils.raw_memcpy(builder, taken, items.start, bytes_in(item), 1)
            taken = builder.bitcast(taken, context.get_value_type(seen_as))
        items.remove(_INT64(0))
        return taken

    return seen_as(sequence), codegen


BAG_OPERATIONS = {
    containers.find: _bag_operation("find", types.int64, lambda bag, item: bag.find(item)[0]),
    containers.is_in: _bag_operation("is_in", types.boolean, lambda bag, item: bag.find(item)[1]),
    containers.add: _bag_operation("add", types.void, _build_add),
    containers.add_once: _bag_operation("add_once", types.void, _build_add_once),
    containers.take: _bag_operation("take", types.void, _build_take),
    containers.pop_first: _pop_first,
    **CONTAINER_OPERATIONS,
}
"""Plain functions of `containers`, with their compiled versions."""


# --- What stays the same while a loop goes through a sequence or bag ------------------------------
#
# Uncompiled, `state_view.ArrayView` does the same. Only loops whose body calls what may change
# something ask for it (see `rewriting`).


def _what_stays(builder: ir.IRBuilder, kind: types.Type, value: Any) -> tuple[Any, Any]:
    """The address and the size of what a loop's body must not change: of a bag its size and its
    items, of a sequence its length."""
    slots = _slots(kind)
    before = slots.counter.bitwidth // 8
    start = moved(builder, start_of(builder, kind, value), _INT64(-before))
    return start, _INT64(before + (size_of(slots) if slots.items_of == "bag" else 0))


def _slots(kind: types.Type) -> Slots | None:
    """The items that a loop goes through, if they are those of a sequence or bag."""
    slots = kind.items if isinstance(kind, Container) else kind
    return slots if isinstance(slots, Slots) and slots.items_of else None


@intrinsic
def noted(typing_context: Any, items: Any) -> tuple[Any, Any]:
    """A copy of what must stay the same, for `expect_noted`; 0 if a loop goes through others."""
    slots = _slots(items)

    def codegen(context, builder, signature, args):
        if slots is None:
            return _INT64(0)
        start, size = _what_stays(builder, items, args[0])
        copied = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), size.constant))
        cgutils.raw_memcpy(builder, copied, start, size, 1)
        return builder.bitcast(copied, context.get_value_type(slots))

    return (slots or types.int64)(items), codegen


@intrinsic
def expect_noted(typing_context: Any, items: Any, note: Any) -> tuple[Any, Any]:
    """Raise Fault if a loop's body has changed what it goes through."""

    def codegen(context, builder, signature, args):
        if isinstance(note, Slots):
            start, size = _what_stays(builder, items, args[0])
            order = compare_bytes(builder, start, args[1], size)
            fault_if(context, builder, builder.icmp_signed("!=", order, order.type(0)))
        return context.get_dummy_value()

    return types.void(items, note), codegen
