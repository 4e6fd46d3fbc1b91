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

from protocol_lab.errors import CapacityExceeded
from protocol_lab.spec import containers
from protocol_lab.spec.layout import ArrayLayout, StructLayout


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
    pointer = moved(builder, value, ir.Constant(ir.IntType(64), record.offset(name)))
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


def moved(builder: ir.IRBuilder, pointer: Any, offset: Any) -> Any:
    """The address `offset` bytes further on."""
    start = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    return builder.gep(start, [offset])


def store(context, builder, target: types.Type, pointer, source: types.Type, value) -> None:
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


def size_of(kept: types.Type) -> int:
    """How many bytes a slot takes that keeps a record or a number."""
    return kept.size if isinstance(kept, types.Record) else kept.bitwidth // 8


def can_store(target: types.Type, source: types.Type) -> bool:
    """Is there a way to store a value of numba type `source` where a `target` is kept?"""
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
    if not can_store(record.typeof(name), source):
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
                pointer = moved(builder, slot, ir.Constant(ir.IntType(64), record.offset(name)))
                value = builder.extract_value(args[0], k)
                store(context, builder, record.typeof(name), pointer, kind, value)
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
        pointer = moved(builder, args[0], ir.Constant(ir.IntType(64), field.offset))
        store(context, builder, field.type, pointer, stored, args[2])
        return context.get_dummy_value()

    return types.void(record, name, stored), codegen


@intrinsic
def set_item(typing_context, items, index, value):
    """What `items[index] = value` becomes."""
    if not isinstance(items, types.Array) or items.ndim > 1:
        raise TypingError("only slots of the state's arrays can be assigned by index")
    if not can_store(items.dtype, value):
        raise TypingError(f"{value} can't be stored in an array of {items.dtype}")
    size = size_of(items.dtype)

    def codegen(context, builder, signature, args):
        position = context.cast(builder, args[1], signature.args[1], types.int64)
        array = context.make_array(items)(context, builder, args[0])
        [slots] = cgutils.unpack_tuple(builder, array.shape, 1)
        outside = builder.icmp_unsigned(">=", position, slots)
        with builder.if_then(outside, likely=False):
            context.call_conv.return_user_exc(builder, IndexError, ())
        data = array.data
        pointer = moved(builder, data, builder.mul(position, position.type(size)))
        store(context, builder, items.dtype, pointer, signature.args[2], args[2])
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
        return builder.load(moved(builder, args[0], args[1]))

    return types.uint8(record, types.intp), codegen


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
