"""The compiled side of `views`: how a row of words becomes a record that Numba can read and write.

Numba knows records (from a numpy dtype), but three things that a protocol needs are added here:
a store that checks whether a number fits its width, copies and comparisons of whole records, and
new records as values. `compiling` rewrites actions to use these functions; nobody else calls them.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from protocol_lab import containers
from protocol_lab.errors import CapacityExceeded


def record_type(dtype: np.dtype) -> types.Record:
    """Numba's type of a struct's dtype."""
    import numba

    return numba.from_dtype(dtype)


def make_state_at(record: types.Record):
    """A compiled function (words, row) -> the record that starts at this row of a uint64 array."""

    @intrinsic
    def state_at(typing_context, words, row):
        def codegen(context, builder, signature, args):
            array = context.make_array(signature.args[0])(context, builder, args[0])
            index = context.cast(builder, args[1], signature.args[1], types.intp)
            row_bytes = cgutils.unpack_tuple(builder, array.strides, 2)[0]
            start = builder.ptrtoint(array.data, ir.IntType(64))
            address = builder.add(start, builder.mul(index, row_bytes))
            return builder.inttoptr(address, context.get_value_type(record))

        return record(words, row), codegen

    return state_at


def make_new_record(record: types.Record):
    """A compiled function () -> a zeroed record on the caller's stack: a value to be stored."""

    @intrinsic
    def new_record(typing_context):
        def codegen(context, builder, signature, args):
            bytes_type = ir.ArrayType(ir.IntType(8), record.size)
            slot = cgutils.alloca_once(builder, bytes_type)
            cgutils.memset(builder, slot, ir.Constant(ir.IntType(64), record.size), 0)
            return builder.bitcast(slot, context.get_value_type(record))

        return record(), codegen

    return new_record


def _size(record: types.Record) -> ir.Constant:
    return ir.Constant(ir.IntType(64), record.size)


@intrinsic
def copy_record(typing_context, target, source):
    """Copy a whole record over another of the same size."""
    if not (isinstance(source, types.Record) and target.size == source.size):
        return None

    def codegen(context, builder, signature, args):
        cgutils.raw_memmove(builder, args[0], args[1], _size(target), 1)
        return context.get_dummy_value()

    return types.void(target, source), codegen


@intrinsic
def erase_record(typing_context, target):
    """Set all bytes of a record to zero."""

    def codegen(context, builder, signature, args):
        cgutils.memset(builder, args[0], _size(target), 0)
        return context.get_dummy_value()

    return types.void(target), codegen


@intrinsic
def byte_at(typing_context, record, index):
    """One byte of a record, unsigned."""

    def codegen(context, builder, signature, args):
        pointer = builder.bitcast(args[0], ir.IntType(8).as_pointer())
        return builder.load(builder.gep(pointer, [args[1]]))

    return types.uint8(record, types.intp), codegen


@intrinsic(prefer_literal=True)
def raw_set_field(typing_context, record, name, value):
    """Store a number in a field without looking whether it fits."""
    field = record.fields[name.literal_value]

    def codegen(context, builder, signature, args):
        pointer = cgutils.get_record_member(
            builder, args[0], field.offset, context.get_data_type(field.type)
        )
        number = context.cast(builder, args[2], signature.args[2], field.type)
        context.pack_value(builder, field.type, number, pointer, align=1)
        return context.get_dummy_value()

    return types.void(record, name, value), codegen


@intrinsic(prefer_literal=True)
def sub_record(typing_context, record, name):
    """The record inside a record at a field."""
    field = record.fields[name.literal_value]

    def codegen(context, builder, signature, args):
        pointer = builder.bitcast(args[0], ir.IntType(8).as_pointer())
        at = builder.gep(pointer, [ir.Constant(ir.IntType(64), field.offset)])
        return builder.bitcast(at, context.get_value_type(field.type))

    return field.type(record, name), codegen


def set_field(record: Any, name: str, value: Any) -> None:
    """What `record.name = value` becomes."""


def set_item(items: Any, index: int, value: Any) -> None:
    """What `items[index] = value` becomes."""


def _range_of(integer: types.Integer) -> tuple[int, int]:
    return integer.minval, integer.maxval


@overload(set_field, prefer_literal=True, inline="never")
def _set_field(record, name, value):
    field_type = record.fields[name.literal_value].type
    if isinstance(field_type, types.Record):
        if isinstance(value, types.Record):

            def store(record, name, value):
                copy_record(sub_record(record, name), value)

        else:

            def store(record, name, value):
                erase_record(sub_record(record, name))

        return store
    low, high = _range_of(field_type)

    def store(record, name, value):
        if value < low or value > high:
            raise CapacityExceeded
        raw_set_field(record, name, value)

    return store


@overload(set_item, prefer_literal=False)
def _set_item(items, index, value):
    if not isinstance(items, types.Array | types.NestedArray):

        def store(items, index, value):
            items[index] = value

        return store
    if isinstance(items.dtype, types.Record):
        if isinstance(value, types.Record):

            def store(items, index, value):
                if index < 0 or index >= len(items):
                    raise IndexError
                copy_record(items[index], value)

        else:

            def store(items, index, value):
                if index < 0 or index >= len(items):
                    raise IndexError
                erase_record(items[index])

        return store
    low, high = _range_of(items.dtype)

    def store(items, index, value):
        if index < 0 or index >= len(items):
            raise IndexError
        if value < low or value > high:
            raise CapacityExceeded
        items[index] = value

    return store


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
    if not _both_records(left, right):
        return None
    size = left.size

    def equal(left, right):
        for k in range(size):
            if byte_at(left, k) != byte_at(right, k):
                return False
        return True

    return equal


@overload(operator.ne)
def _unequal(left, right):
    if _both_records(left, right):
        return lambda left, right: not left == right
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
