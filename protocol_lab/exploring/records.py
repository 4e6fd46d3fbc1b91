"""The compiled side of `views`: how a row of words becomes a record that Numba can read and write.

Numba knows records (from a numpy dtype), but three things that a protocol needs are added here:
a store that checks whether a number fits its width, copies and comparisons of whole records, and
new records as values. `compiling` rewrites actions to use these functions; nobody else calls them.
"""

import hashlib
import operator
from functools import cache
from typing import Any

from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.core.datamodel import register_default
from numba.core.datamodel.models import RecordModel
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, overload
from numba.np.arrayobj import record_getattr

from protocol_lab.declaring import containers
from protocol_lab.declaring.layout import ArrayLayout, StructLayout
from protocol_lab.errors import CapacityExceeded


class StateRecord(types.Record):
    """A record whose numbers are read as int64, whatever their width.

    So a function that is called with an id here and an epoch there is compiled once, and
    compiled arithmetic is as exact as the uncompiled one.
    """

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """What stands for the type in the names of machine code: a hash of all its fields.

        Numba's own is a running number of the process. Kernels that different processes have
        compiled, for different layouts, would then have functions of one name in them; loaded
        together, one would call the other's.
        """
        return "StateRecord", (_short_hash(self.name),)


@cache
def _short_hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:24]


register_default(StateRecord)(RecordModel)


@infer_getattr
class _StateRecordFields(AttributeTemplate):
    key = StateRecord

    def generic_resolve(self, record: StateRecord, name: str) -> types.Type | None:
        if name not in record.fields:
            raise TypingError(f"there is no field {name!r}; there are {', '.join(record.fields)}")
        found = record.typeof(name)
        return types.int64 if isinstance(found, types.Integer) else found


@lower_getattr_generic(StateRecord)
def _get_field(context, builder, record, value, name):
    kept = record.typeof(name)
    if not isinstance(kept, types.Integer):
        return record_getattr(context, builder, record, value, name)
    pointer = _moved(builder, value, ir.Constant(ir.IntType(64), record.offset(name)))
    narrow = ir.IntType(kept.bitwidth)
    number = builder.load(builder.bitcast(pointer, narrow.as_pointer()), align=1)
    widen = builder.sext if kept.signed else builder.zext
    return widen(number, ir.IntType(64))


def numba_type(layout: Any) -> types.Type:
    """Numba's type of what a layout describes: an integer, a StateRecord or an array of them."""
    if isinstance(layout, StructLayout):
        fields = [
            (name, {"type": numba_type(part), "offset": layout.offsets[name], "title": None})
            for name, part in layout.fields.items()
        ]
        return StateRecord(fields, layout.size, False)
    if isinstance(layout, ArrayLayout):
        return types.NestedArray(numba_type(layout.item), (layout.count,))
    return from_dtype(layout.dtype)


def make_state_at(record: types.Record):
    """A compiled function (address, row) -> the record that is this row of those that start at an
    address."""

    @intrinsic
    def state_at(typing_context, start, row):
        def codegen(context, builder, signature, args):
            past = builder.mul(args[1], ir.IntType(64)(record.size))
            address = builder.add(args[0], past)
            return builder.inttoptr(address, context.get_value_type(record))

        return record(types.int64, types.int64), codegen

    return state_at


def _bytes_in(kept: types.Record | types.NestedArray) -> ir.Constant:
    count = kept.nitems if isinstance(kept, types.NestedArray) else 1
    return ir.Constant(ir.IntType(64), count * kept.size)


def _moved(builder: ir.IRBuilder, pointer: Any, offset: Any) -> Any:
    """The address `offset` bytes further on."""
    start = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    return builder.gep(start, [offset])


def _store(context, builder, target: types.Type, pointer, source: types.Type, value) -> None:
    """Store a value of numba type `source` where a value of type `target` is kept.

    Numbers are checked and raise CapacityExceeded; a whole record is copied; 0 erases one, or an
    array.
    """
    if isinstance(target, types.Record | types.NestedArray):
        if isinstance(source, types.Record):
            cgutils.raw_memmove(builder, pointer, value, _bytes_in(target), 1)
        else:
            cgutils.memset(builder, pointer, _bytes_in(target), 0)
        return
    number = context.cast(builder, value, source, types.int64)
    too_low = builder.icmp_signed("<", number, number.type(target.minval))
    too_high = builder.icmp_signed(">", number, number.type(target.maxval))
    with builder.if_then(builder.or_(too_low, too_high), likely=False):
        context.call_conv.return_user_exc(builder, CapacityExceeded, ())
    kept = ir.IntType(target.bitwidth)
    pointer = builder.bitcast(pointer, kept.as_pointer())
    builder.store(builder.trunc(number, kept) if kept.width < 64 else number, pointer, align=1)


def _size_of(kept: types.Type) -> int:
    """How many bytes a slot takes that keeps a record or a number."""
    return kept.size if isinstance(kept, types.Record) else kept.bitwidth // 8


def _can_store(target: types.Type, source: types.Type) -> bool:
    if isinstance(target, types.Record):
        same = isinstance(source, types.Record) and source.size == target.size
        return same or isinstance(source, types.Integer)
    if isinstance(target, types.NestedArray):
        return isinstance(source, types.Integer)
    return isinstance(target, types.Integer) and isinstance(source, types.Integer | types.Boolean)


def check_can_store(record: types.Record, name: str, source: types.Type) -> None:
    """Raises TypingError, with a sentence, unless such a value can be stored in the field."""
    if name not in record.fields:
        known = ", ".join(record.fields)
        raise TypingError(f"there is no field {name!r}; there are {known}")
    if not _can_store(record.typeof(name), source):
        raise TypingError(f"{source} can't be stored in the field {name!r}")


def make_constructor(record: types.Record, names: tuple[str, ...]):
    """A compiled function (tuple of values) -> a new record with these fields set, others zero.

    The record lives on the stack of the function that it is written in: a value to be stored or
    compared there, not to be returned.
    """

    @intrinsic
    def new_record(typing_context, values):
        kinds = [types.unliteral(each) for each in values.types]
        for name, kind in zip(names, kinds, strict=True):
            check_can_store(record, name, kind)

        def codegen(context, builder, signature, args):
            slot = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), record.size))
            cgutils.memset(builder, slot, _bytes_in(record), 0)
            for k, (name, kind) in enumerate(zip(names, kinds, strict=True)):
                pointer = _moved(builder, slot, ir.Constant(ir.IntType(64), record.offset(name)))
                value = builder.extract_value(args[0], k)
                _store(context, builder, record.typeof(name), pointer, kind, value)
            return builder.bitcast(slot, context.get_value_type(record))

        return record(types.BaseTuple.from_types(kinds)), codegen

    return new_record


@intrinsic(prefer_literal=True)
def set_field(typing_context, record, name, value):
    """What `record.name = value` becomes."""
    if not isinstance(name, types.StringLiteral):
        return None  # Numba tries without the literal as well, and reports the first attempt
    if not isinstance(record, types.Record):
        raise TypingError("only fields of the state and of its records can be assigned")
    check_can_store(record, name.literal_value, value)
    field = record.fields[name.literal_value]
    stored = types.unliteral(value)

    def codegen(context, builder, signature, args):
        pointer = _moved(builder, args[0], ir.Constant(ir.IntType(64), field.offset))
        _store(context, builder, field.type, pointer, stored, args[2])
        return context.get_dummy_value()

    return types.void(record, name, stored), codegen


@intrinsic
def set_item(typing_context, items, index, value):
    """What `items[index] = value` becomes."""
    if not isinstance(items, types.Array) or items.ndim > 1:
        raise TypingError("only slots of the state's arrays can be assigned by index")
    if not _can_store(items.dtype, value):
        raise TypingError(f"{value} can't be stored in an array of {items.dtype}")
    size = _size_of(items.dtype)

    def codegen(context, builder, signature, args):
        position = context.cast(builder, args[1], signature.args[1], types.int64)
        array = context.make_array(items)(context, builder, args[0])
        [slots] = cgutils.unpack_tuple(builder, array.shape, 1)
        outside = builder.icmp_unsigned(">=", position, slots)
        with builder.if_then(outside, likely=False):
            context.call_conv.return_user_exc(builder, IndexError, ())
        data = array.data
        pointer = _moved(builder, data, builder.mul(position, position.type(size)))
        _store(context, builder, items.dtype, pointer, signature.args[2], args[2])
        return context.get_dummy_value()

    return types.void(items, index, value), codegen


@intrinsic
def get_item(typing_context, items, index):
    """What `items[index]` becomes where it is read: numbers of the state's arrays as int64."""
    plain = typing_context.resolve_function_type(operator.getitem, (items, index), {})
    if plain is None:
        return None
    is_number = isinstance(items, types.Array) and isinstance(plain.return_type, types.Integer)
    result = types.int64 if is_number else plain.return_type

    def codegen(context, builder, signature, args):
        pairs = zip(args, signature.args, plain.args)
        values = [context.cast(builder, value, have, want) for value, have, want in pairs]
        found = context.get_function(operator.getitem, plain)(builder, values)
        return context.cast(builder, found, plain.return_type, result)

    return result(items, index), codegen


@intrinsic
def copy_state(typing_context, target, source):
    """Copy all bytes of a state to where another one stands."""

    def codegen(context, builder, signature, args):
        cgutils.raw_memcpy(builder, *args, _bytes_in(target), 1)
        return context.get_dummy_value()

    return types.void(target, source), codegen


@intrinsic
def as_number(typing_context, value):
    """A number that is written in the code, as any other: int64.

    Numba would compile a function anew for each such number that it is called with.
    """

    def codegen(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], types.int64)

    return types.int64(types.unliteral(value)), codegen


@intrinsic
def same_bytes(typing_context, left, right):
    """Do two records of one size hold the same bytes?"""

    def codegen(context, builder, signature, args):
        whole = ir.IntType(8 * left.size)
        one, other = (
            builder.load(builder.bitcast(each, whole.as_pointer()), align=1) for each in args
        )
        return builder.icmp_unsigned("==", one, other)

    return types.boolean(left, right), codegen


@intrinsic
def byte_at(typing_context, record, index):
    """One byte of a record, unsigned."""

    def codegen(context, builder, signature, args):
        return builder.load(_moved(builder, args[0], args[1]))

    return types.uint8(record, types.intp), codegen


# --- Bags: built in place, without a compiled function for each kind of item ------------------


class _Bag:
    """A bag in the code that is being built: where its size and its items are."""

    def __init__(self, builder: ir.IRBuilder, declared: types.Record, pointer: Any):
        self.builder = builder
        self.counter = declared.typeof("size")
        self.items = declared.typeof("items")
        self.kind = self.items.dtype
        self.item_size = _size_of(self.kind)
        self.counter_at = self._at(pointer, declared.offset("size"))
        self.items_at = self._at(pointer, declared.offset("items"))

    def _at(self, pointer: Any, offset: int) -> Any:
        return _moved(self.builder, pointer, ir.Constant(ir.IntType(64), offset))

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
        return _moved(self.builder, self.items_at, self.bytes(position))

    def bytes(self, count: Any) -> Any:
        """How many bytes so many items take."""
        return self.builder.mul(count, count.type(self.item_size))

    def compare(self, position: Any, item: Any) -> Any:
        """Below, at or above 0 as the item at the position is smaller than, equal to or above.

        Numbers are compared as such, records by their bytes.
        """
        if isinstance(self.kind, types.Integer):
            kept = ir.IntType(self.kind.bitwidth).as_pointer()
            other = self.builder.load(self.builder.bitcast(self.item(position), kept), align=1)
            widen = self.builder.sext if self.kind.signed else self.builder.zext
            return self.builder.sub(widen(other, ir.IntType(64)), item)
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(number, [pointer, pointer, ir.IntType(64)])
        memcmp = cgutils.get_or_insert_function(self.builder.module, kind, "memcmp")
        other = self.builder.bitcast(item, pointer)
        size = ir.Constant(ir.IntType(64), self.item_size)
        return self.builder.call(memcmp, [self.item(position), other, size])

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
        """Move so many items from one position to another."""
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
        _store(context, self.builder, self.kind, self.item(position), number, item)
        self.set_size(self.builder.add(size, one))

    def remove(self, position: Any) -> None:
        """Take the item away that stands there; the slot that becomes free is zero."""
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
            raise TypingError(f"{name}: this is no Bag of the state")
        kind = bag.typeof("items").dtype
        if not _can_store(kind, item) or isinstance(kind, types.Record) != isinstance(
            item, types.Record
        ):
            raise TypingError(f"{name}: {item} is no item of this bag")

        def codegen(context, builder, signature, args):
            value = args[1]
            if not isinstance(kind, types.Record):
                value = context.cast(builder, value, item, types.int64)
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
    with bag.builder.if_then(is_here):
        bag.remove(position)


BAG_OPERATIONS = {
    containers.find: _bag_operation("find", types.int64, lambda c, bag, item: bag.find(item)[0]),
    containers.is_in: _bag_operation(
        "is_in", types.boolean, lambda c, bag, item: bag.find(item)[1]
    ),
    containers.add: _bag_operation("add", types.void, _build_add),
    containers.add_once: _bag_operation("add_once", types.void, _build_add_once),
    containers.take: _bag_operation("take", types.void, _build_take),
}
"""Plain functions of `containers`, and what they are in compiled code."""


@overload(containers.overflow)
def _overflow(container):
    def raise_bare(container):
        raise CapacityExceeded

    return raise_bare


def _both_records(left, right) -> bool:
    return (
        isinstance(left, types.Record)
        and isinstance(right, types.Record)
        and left.size == right.size
    )


@overload(operator.eq)
def _equal(left, right):
    if _both_records(left, right):
        return lambda left, right: same_bytes(left, right)
    return None


@overload(operator.ne)
def _unequal(left, right):
    if _both_records(left, right):
        return lambda left, right: not same_bytes(left, right)
    return None


@overload(operator.lt)
def _less(left, right):
    if not _both_records(left, right):
        return None
    size = left.size

    def less(left, right):
        for k in range(size):
            a, b = byte_at(left, k), byte_at(right, k)
            if a != b:
                return a < b
        return False

    return less
