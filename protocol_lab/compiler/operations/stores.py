"""Compiled stores: what may be stored where, and how it becomes what is kept there.

A number must fit the width of what keeps it. A whole record is stored where one of its class is
kept, and a whole array where one with the same indices is; a list gives an array its first items,
and the others are 0. What is in them must fit, item by item; only where the source has the same
bytes for the same values (its `shape`), they are copied. Uncompiled, `state_view.encode` does the
same.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.cpython.listobj import ListInstance
from numba.np.arrayobj import make_array

from protocol_lab.compiler.operations.integers import fault_if
from protocol_lab.compiler.operations.slots import Slots, end_of, load, moved, slot_at
from protocol_lab.errors import CapacityExceeded

_INT64 = ir.IntType(64)

_NUMBERS = types.Integer | types.Boolean


def bytes_in(kept: types.Record | Slots) -> ir.Constant:
    """The size of a record or an array."""
    return _INT64(size_of(kept))


def size_of(kept: types.Type) -> int:
    """The size in bytes of a slot for a record, an array or a number."""
    if isinstance(kept, Slots):
        return kept.count * kept.item_bytes
    return kept.size if isinstance(kept, types.Record) else kept.bitwidth // 8


def store(context, builder, target: types.Type, pointer, source: types.Type, value) -> None:
    """Store a value of numba type `source` where a value of type `target` is kept.

    A number that does not fit raises CapacityExceeded, also one that is somewhere in a record or an
    array. 0 erases a record or an array, and any other number is a Fault.
    """
    if not isinstance(target, types.Record | Slots):
        _store_number(context, builder, target, pointer, source, value)
    elif isinstance(source, _NUMBERS):
        number = context.cast(builder, value, source, types.int64)
        fault_if(context, builder, builder.icmp_signed("!=", number, number.type(0)))
        cgutils.memset(builder, pointer, bytes_in(target), 0)
    else:
        made = as_kept(context, builder, target, source, value)
        cgutils.raw_memmove(builder, pointer, made, bytes_in(target), 1)


def _store_number(context, builder, target: types.Type, pointer, source: types.Type, value) -> None:
    number = context.cast(builder, value, source, types.int64)
    too_low = builder.icmp_signed("<", number, number.type(target.minval))
    too_high = builder.icmp_signed(">", number, number.type(target.maxval))
    with builder.if_then(builder.or_(too_low, too_high), likely=False):
        context.call_conv.return_user_exc(builder, CapacityExceeded, ())
    kept = ir.IntType(target.bitwidth)
    pointer = builder.bitcast(pointer, kept.as_pointer())
    builder.store(builder.trunc(number, kept) if kept.width < 64 else number, pointer, align=1)


def as_kept(context, builder, target: types.Type, source: types.Type, value) -> Any:
    """The address of a record or an array of type `target` with a value: the value's own if that is
    what it is, else that of a converted copy on the stack."""
    if has_same_bytes(target, source):
        return value
    made = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), size_of(target)))
    cgutils.memset(builder, made, bytes_in(target), 0)
    if isinstance(target, types.Record):
        for name, field in target.fields.items():
            own = source.fields[name]
            part = load(context, builder, own.type, moved(builder, value, _INT64(own.offset)))
            at = moved(builder, made, _INT64(field.offset))
            store(context, builder, field.type, at, _as_read(own.type), part)
    else:
        _fill(context, builder, target, made, source, value)
    return builder.bitcast(made, context.get_value_type(target))


def has_same_bytes(target: types.Type, source: types.Type) -> bool:
    """Are the bytes of both the same for the same values?"""
    if not isinstance(source, types.Record | Slots):
        return False
    return _shape(target) == _shape(source)


def _shape(kind: types.Type) -> Any:
    """See `layout.IntegerLayout.shape`."""
    if isinstance(kind, Slots):
        return _shape(kind.item), kind.count, kind.first, kind.items_of
    return getattr(kind, "shape", None) or (kind.name, kind.minval, kind.maxval, ())


def _as_read(kept: types.Type) -> types.Type:
    return types.int64 if isinstance(kept, types.Integer) else kept


def _fill(context, builder, slots: Slots, made, source: types.Type, value) -> None:
    """Store the items of an array or a list into slots that are zero."""

    def put(index: Any, kind: types.Type, item: Any) -> None:
        position = builder.add(index, _INT64(slots.first))
        store(context, builder, slots.item, slot_at(builder, slots, made, position), kind, item)

    if isinstance(source, types.BaseTuple):
        fault_if(context, builder, ir.IntType(1)(len(source.types) > slots.count))
        for k, kind in enumerate(source.types[: slots.count]):
            put(_INT64(k), kind, builder.extract_value(value, k))
        return
    count, kind, item_at = _items_of(context, builder, source, value)
    fault_if(context, builder, builder.icmp_signed(">", count, _INT64(slots.count)))
    with cgutils.for_range(builder, count) as loop:
        put(loop.index, kind, item_at(loop.index))


def _items_of(
    context: Any, builder: ir.IRBuilder, source: types.Type, value: Any
) -> tuple[Any, types.Type, Callable]:
    """(how many items an array or list has, their type, a function (index) -> the item)."""
    if isinstance(source, types.List):
        items = ListInstance(context, builder, source, value)
        return items.size, source.dtype, items.getitem
    if type(source) is types.Array:
        array = make_array(source)(context, builder, value)
        return (
            array.nitems,
            types.int64,
            lambda index: builder.load(builder.gep(array.data, [index])),
        )
    slots = _slots_of(source)
    data = value
    if slots is not source:
        data = moved(builder, value, _INT64(source.offset("items")))
    count = builder.sub(end_of(builder, slots, data), _INT64(slots.first))

    def item_at(index: Any) -> Any:
        position = builder.add(index, _INT64(slots.first))
        return load(context, builder, slots.item, slot_at(builder, slots, data, position))

    return count, slots.value_type, item_at


def _slots_of(source: types.Type) -> Slots | None:
    """The items of a sequence, an array of the state as it is; None for anything else."""
    if isinstance(source, types.Record) and source.layout.kind == "seq":
        return source.typeof("items")
    return source if isinstance(source, Slots) else None


def can_store(target: types.Type, source: types.Type) -> bool:
    """Can a value of numba type `source` be stored where a `target` is kept?"""
    if isinstance(target, types.Integer):
        mixed = {tuple(getattr(each, "names", ())) for each in (target, source)} - {()}
        return isinstance(source, _NUMBERS) and len(mixed) < 2
    if isinstance(source, _NUMBERS) or has_same_bytes(target, source):
        return True
    if isinstance(target, Slots):
        return _can_fill(target, source)
    layout = getattr(source, "layout", None)
    return (
        layout is not None
        and target.layout.kind == "struct"
        and layout.class_name == target.layout.class_name
        and all(
            name in source.fields and can_store(field.type, source.typeof(name))
            for name, field in target.fields.items()
        )
    )


def _can_fill(target: Slots, source: types.Type) -> bool:
    """Is it an array with the same indices, a sequence or a list, with items that can be stored?"""
    if isinstance(source, types.BaseTuple):
        return all(can_store(target.item, each) for each in source.types)
    if isinstance(source, types.List) or type(source) is types.Array:
        return can_store(target.item, source.dtype)
    slots = _slots_of(source)
    if slots is None or slots.items_of == "bag":
        return False
    is_alike = slots.items_of or (slots.count, slots.first) == (target.count, target.first)
    return bool(is_alike) and can_store(target.item, slots.item)
