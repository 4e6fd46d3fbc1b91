"""Compiled operations on bags, and pop_first: they work where the container stands in the state.

These functions of `containers` are not compiled from their Python source: their code is built into
the functions that call them. Otherwise every type of item would have compiled functions of its own.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from protocol_lab.compiler.operations.integers import fault_if
from protocol_lab.compiler.operations.records import (
    CONTAINER_OPERATIONS,
    Container,
    compare_bytes,
    expect_no_text,
    frozen,
)
from protocol_lab.compiler.operations.slots import end_of, load, moved, slot_at
from protocol_lab.compiler.operations.stores import as_kept, bytes_in, can_store, size_of, store
from protocol_lab.errors import CapacityExceeded
from protocol_lab.model import containers
from protocol_lab.model.state_view import ITEMS_IN_ORDER


class _Bag:
    """A bag in the code that is being built: the addresses of its size and its items."""

    def __init__(self, builder: ir.IRBuilder, declared: types.Record, pointer: Any):
        self.builder = builder
        self.counter = declared.typeof("size")
        self.items = declared.typeof("items")
        self.kind = self.items.item
        self.item_size = size_of(self.kind)
        self.counter_at = self._at(pointer, declared.offset("size"))
        self.items_at = self._at(pointer, declared.offset("items"))

    def _at(self, pointer: Any, offset: int) -> Any:
        return moved(self.builder, pointer, ir.Constant(ir.IntType(64), offset))

    def _size_pointer(self) -> Any:
        kept = ir.IntType(self.counter.bitwidth)
        return self.builder.bitcast(self.counter_at, kept.as_pointer())

    def size(self) -> Any:
        number = self.builder.load(self._size_pointer(), align=1)
        return self.builder.sext(number, ir.IntType(64))

    def set_size(self, size: Any) -> None:
        kept = ir.IntType(self.counter.bitwidth)
        self.builder.store(self.builder.trunc(size, kept), self._size_pointer(), align=1)

    def item(self, position: Any) -> Any:
        return moved(self.builder, self.items_at, self.bytes(position))

    def bytes(self, count: Any) -> Any:
        """The size of this many items in bytes."""
        return self.builder.mul(count, count.type(self.item_size))

    def compare(self, position: Any, item: Any) -> Any:
        """A number below, at or above 0 if the item at the position is smaller than, equal to or
        greater than the given one.

        Numbers are compared as such, records by their bytes.
        """
        if isinstance(self.kind, types.Integer):
            kept = ir.IntType(self.kind.bitwidth).as_pointer()
            other = self.builder.load(self.builder.bitcast(self.item(position), kept), align=1)
            widen = self.builder.sext if self.kind.signed else self.builder.zext
            return self.builder.sub(widen(other, ir.IntType(64)), item)
        size = ir.Constant(ir.IntType(64), self.item_size)
        return compare_bytes(self.builder, self.item(position), item, size)

    def find(self, item: Any) -> tuple[Any, Any]:
        """The position of the first item that is not smaller, and whether it is the item."""
        builder, number = self.builder, ir.IntType(64)
        position = cgutils.alloca_once_value(builder, number(0))
        is_here = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
        look = builder.append_basic_block("look")
        step = builder.append_basic_block("step")
        compare = builder.append_basic_block("compare")
        end = builder.append_basic_block("end")
        builder.branch(look)
        builder.position_at_end(look)
        at = builder.load(position)
        builder.cbranch(builder.icmp_signed("<", at, self.size()), compare, end)
        builder.position_at_end(compare)
        order = self.compare(at, item)
        builder.store(builder.icmp_signed("==", order, order.type(0)), is_here)
        builder.cbranch(builder.icmp_signed("<", order, order.type(0)), step, end)
        builder.position_at_end(step)
        builder.store(builder.add(at, number(1)), position)
        builder.branch(look)
        builder.position_at_end(end)
        return builder.load(position), builder.load(is_here)

    def move(self, source: Any, dest: Any, count: Any) -> None:
        """Move this many items from one position to another."""
        cgutils.raw_memmove(self.builder, self.item(dest), self.item(source), self.bytes(count), 1)

    def insert(self, context: Any, position: Any, item: Any) -> None:
        """Put a copy of an item there; raises CapacityExceeded if the bag is full."""
        size = self.size()
        full = self.builder.icmp_signed(">=", size, size.type(self.items.shape[0]))
        with self.builder.if_then(full, likely=False):
            context.call_conv.return_user_exc(self.builder, CapacityExceeded, ())
        one = size.type(1)
        rest = self.builder.sub(size, position)
        self.move(position, self.builder.add(position, one), rest)
        number = types.int64 if isinstance(self.kind, types.Integer) else self.kind
        store(context, self.builder, self.kind, self.item(position), number, item)
        self.set_size(self.builder.add(size, one))

    def remove(self, position: Any) -> None:
        """Remove the item at the position; the slot that becomes free is zeroed."""
        size = self.size()
        one = size.type(1)
        last = self.builder.sub(size, one)
        self.move(self.builder.add(position, one), position, self.builder.sub(last, position))
        cgutils.memset(self.builder, self.item(last), self.bytes(one), 0)
        self.set_size(last)


def _bag_operation(name: str, result: types.Type, build: Any) -> Any:
    """The compiled version of a function (bag, item) of `containers`."""

    def operation(typing_context, bag, item):
        if not (isinstance(bag, types.Record) and "items" in bag.fields and "size" in bag.fields):
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
            found = build(context, _Bag(builder, bag, args[0]), value)
            return context.get_dummy_value() if found is None else found

        return result(bag, item), codegen

    operation.__name__ = name
    return intrinsic(operation)


def _build_add(context, bag, item):
    bag.insert(context, bag.find(item)[0], item)


def _build_add_once(context, bag, item):
    position, is_here = bag.find(item)
    with bag.builder.if_then(bag.builder.not_(is_here)):
        bag.insert(context, position, item)


def _build_take(context, bag, item):
    position, is_here = bag.find(item)
    fault_if(context, bag.builder, bag.builder.not_(is_here))
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
        number, one = ir.IntType(64), ir.IntType(64)(1)
        items = moved(builder, args[0], number(sequence.offset("items")))
        count = end_of(builder, slots, items)
        fault_if(context, builder, builder.icmp_signed("==", count, number(0)))
        if not isinstance(item, types.Integer):
            taken = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), size_of(item)))
            cgutils.raw_memcpy(builder, taken, items, bytes_in(item), 1)
            taken = builder.bitcast(taken, context.get_value_type(seen_as))
        else:
            taken = load(context, builder, slots.item, items)
        left = builder.sub(count, one)
        size = number(slots.item_bytes)
        following = slot_at(builder, slots, items, one)
        cgutils.raw_memmove(builder, items, following, builder.mul(left, size), 1)
        cgutils.memset(builder, slot_at(builder, slots, items, left), size, 0)
        counter = moved(builder, args[0], number(sequence.offset("length")))
        store(context, builder, slots.counter, counter, types.int64, left)
        return taken

    return seen_as(sequence), codegen


BAG_OPERATIONS = {
    containers.find: _bag_operation("find", types.int64, lambda c, bag, item: bag.find(item)[0]),
    containers.is_in: _bag_operation(
        "is_in", types.boolean, lambda c, bag, item: bag.find(item)[1]
    ),
    containers.add: _bag_operation("add", types.void, _build_add),
    containers.add_once: _bag_operation("add_once", types.void, _build_add_once),
    containers.take: _bag_operation("take", types.void, _build_take),
    containers.pop_first: _pop_first,
    **CONTAINER_OPERATIONS,
}
"""Plain functions of `containers`, with their compiled versions."""
