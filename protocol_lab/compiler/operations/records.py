"""Compiled access to a row of words as a record: reads and writes its fields.

Numba supports records (of a numpy dtype), but three things that a protocol needs are added here:
stores that check whether a number fits its width, copies and comparisons of whole records, and new
records as values. `rewriting` makes actions call these functions; nothing else does.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import TypingError, from_dtype, types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_cast,
    lower_getattr_generic,
    models,
    overload,
    register_model,
)

from protocol_lab.compiler.operations.integers import fault_if, load_number, store_number
from protocol_lab.compiler.operations.slots import Slots, is_outside, load, moved, slot_at
from protocol_lab.compiler.operations.stores import as_kept, bytes_in, can_store, store
from protocol_lab.errors import CapacityExceeded
from protocol_lab.model import containers
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, StructLayout
from protocol_lab.model.spec import TRUE_OR_FALSE
from protocol_lab.model.state_view import (
    ITEMS_IN_ORDER,
    NEITHER,
    NO_INDEX,
    kind_wanted,
    why_not_assigned,
)
from protocol_lab.reader.dependencies import short_hash


class KeptNumber(types.Integer):
    """The type of a number with fewer values than its bytes could hold: a Bool, a Named, a Node."""

    def __init__(self, layout: IntegerLayout):
        kept = from_dtype(layout.dtype)
        name = f"{kept} up to {layout.high} {layout.choices}"
        super().__init__(name, kept.bitwidth, kept.signed)
        self.lowest, self.highest, self.kept = layout.low, layout.high, str(kept)
        self.names, self.shape = layout.names, layout.shape

    def __str__(self) -> str:
        """The name by which numpy knows it."""
        return self.kept

    @property
    def minval(self) -> int:
        """The smallest that may be stored."""
        return self.lowest

    @property
    def maxval(self) -> int:
        """The largest that may be stored."""
        return self.highest


register_model(KeptNumber)(models.IntegerModel)


class StateRecord(types.Record):
    """A record whose numbers are read as int64, whatever their width.

    So a function that is called with fields of different widths is compiled once, and compiled
    arithmetic is as exact as uncompiled. A frozen record, an item of a bag, can't be changed;
    `layout` is the layout that it was made from.

    Numba keeps one object for types of one name: this may be the one that another spec of the
    process has made, or the same spec before its cells were run again. So the name says everything
    that compiled code depends on, here and in the types of the parts.
    """

    def __init__(self, layout: StructLayout, frozen: bool):
        fields = [
            (name, {"type": numba_type(part, frozen), "offset": layout.offsets[name]})
            for name, part in layout.fields.items()
        ]
        super().__init__(fields, layout.size, False)
        self.layout, self.frozen = layout, frozen
        kinds = ", ".join(each["type"].name for _, each in fields)
        of = f"{layout.kind} {layout.class_name} {self.name} of {kinds}"
        self.name = f"{'frozen ' if frozen else ''}{of}"

    @property
    def shape(self) -> tuple:
        """See `IntegerLayout.shape`."""
        return self.layout.shape

    def can_convert_to(self, typing_context: Any, other: types.Type) -> Conversion | None:
        """To the frozen type, for a variable that can be either."""
        if not isinstance(other, StateRecord) or self.shape != other.shape:
            return None
        return Conversion.safe if other.frozen and not self.frozen else None

    def refuse_store(self, name: str) -> None:
        """Raise TypingError, with a sentence, if the field can't be assigned to."""
        if self.frozen:
            raise TypingError(ITEMS_IN_ORDER)
        if self.layout.kind != "struct":
            raise TypingError(f"the field {name!r} {why_not_assigned(self.layout.kind)}")

    def __repr__(self) -> str:
        """The name; Numba asks for this before every pass, and its own looks at every field."""
        return self.name

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """The type's part in names of machine code: a hash of all its fields.

        Numba's own is a number counted in each process. Kernels that different processes have
        compiled for different layouts would then contain functions of the same name; loaded
        together, one would call the other's.
        """
        return "StateRecord", (short_hash(self.name),)


class Container(StateRecord, types.IterableType):
    """A sequence or bag of the state: a record with a number of items, and the items."""

    @property
    def items(self) -> Slots:
        """The array of its items."""
        return self.typeof("items")

    @property
    def iterator_type(self) -> types.Type:
        return self.items.iterator_type

    def expect_order(self) -> None:
        """Raise TypingError, with a sentence, if its items are reached by no index."""
        if self.layout.kind == "bag":
            raise TypingError(NO_INDEX)


register_model(StateRecord)(models.RecordModel)
register_model(Container)(models.RecordModel)


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
    pointer = moved(builder, value, ir.Constant(ir.IntType(64), record.offset(name)))
    return load(context, builder, record.typeof(name), pointer)


@lower_cast(StateRecord, StateRecord)
def _cast_record(context, builder, source, target, value):
    return builder.bitcast(value, context.get_value_type(target))


def numba_type(layout: Any, frozen: bool = False) -> types.Type:
    """The Numba type for a layout: an integer, a StateRecord or Slots of them."""
    if isinstance(layout, StructLayout):
        return (StateRecord if layout.kind == "struct" else Container)(layout, frozen)
    if isinstance(layout, ArrayLayout):
        item = numba_type(layout.item, frozen or layout.items_of == "bag")
        counter = from_dtype(np.dtype(layout.counter)) if layout.counter else None
        return Slots(item, layout.count, layout.first, layout.items_of, counter, frozen)
    return KeptNumber(layout) if layout.is_narrow else from_dtype(layout.dtype)


def make_state_at(record: types.Record):
    """Make a compiled function (address, row) -> the record in this row of those that start at the
    address."""

    @intrinsic
    def state_at(typing_context, start, row):
        def codegen(context, builder, signature, args):
            past = builder.mul(args[1], ir.IntType(64)(record.size))
            address = builder.add(args[0], past)
            return builder.inttoptr(address, context.get_value_type(record))

        return record(types.int64, types.int64), codegen

    return state_at


def check_can_store(record: types.Record, name: str, source: types.Type) -> None:
    """Raise TypingError, with a sentence, unless such a value can be stored in the field."""
    if name not in record.fields:
        known = ", ".join(record.fields)
        raise TypingError(f"there is no field {name!r}; there are {known}")
    expect_no_text(source)
    kept = record.typeof(name)
    if not can_store(kept, source):
        if isinstance(kept, types.Integer):
            raise TypingError(f"{source} can't be stored in the field {name!r}")
        wanted = kind_wanted(record.layout.fields[name])
        raise TypingError(f"the field {name!r} {wanted}, and this can't be stored there")


def make_constructor(record: types.Record, names: tuple[str, ...]):
    """Make a compiled function (tuple of values) -> a new record with these fields set, others
    zero.

    The record is on the stack of the function that creates it: it can be stored or compared there,
    not returned.
    """

    @intrinsic
    def new_record(typing_context, values):
        kinds = [types.unliteral(each) for each in values.types]
        for name, kind in zip(names, kinds, strict=True):
            check_can_store(record, name, kind)

        def codegen(context, builder, signature, args):
            room = ir.ArrayType(ir.IntType(8), record.size)
            slot = filled = cgutils.alloca_once(builder, room)
            if not all(isinstance(kind, types.Integer | types.Boolean) for kind in kinds):
                # In a loop a value may be a part of the record that was made in the turn before.
                filled = cgutils.alloca_once(builder, room)
            cgutils.memset(builder, filled, bytes_in(record), 0)
            for k, (name, kind) in enumerate(zip(names, kinds, strict=True)):
                pointer = moved(builder, filled, ir.Constant(ir.IntType(64), record.offset(name)))
                value = builder.extract_value(args[0], k)
                store(context, builder, record.typeof(name), pointer, kind, value)
            if filled is not slot:
                cgutils.raw_memcpy(builder, slot, filled, bytes_in(record), 1)
            return builder.bitcast(slot, context.get_value_type(record))

        return record(types.BaseTuple.from_types(kinds)), codegen

    return new_record


@intrinsic(prefer_literal=True)
def set_field(typing_context, record, name, value):
    """The compiled form of `record.name = value`."""
    if not isinstance(name, types.StringLiteral):
        return None  # Numba also tries without the literal, and reports the first attempt
    if not isinstance(record, types.Record):
        raise TypingError("only fields of the state and of its records can be assigned")
    record.refuse_store(name.literal_value)
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
    """The compiled form of `items[index] = value`."""
    slots = _slots_in(items)
    if type(items) is types.Array and items.mutable:
        _expect_number(index)
        if not isinstance(value, types.Integer | types.Boolean):
            raise TypingError(f"{value} can't be stored in a list of numbers")
        return types.void(items, index, value), store_number
    if isinstance(items, types.List):
        raise TypingError(
            "a list that is written out can't be changed: one made as [0] * 3 can be assigned by"
            " index"
        )
    if slots is None:
        raise TypingError("only slots of the state's arrays can be assigned by index")
    slots.refuse_store()
    _expect_number(index)
    expect_no_text(value)
    if not can_store(slots.item, value):
        raise TypingError(f"{value} can't be stored in an array of {slots.item}")

    def codegen(context, builder, signature, args):
        pointer = _checked_slot(context, builder, signature, args)
        store(context, builder, slots.item, pointer, signature.args[2], args[2])
        return context.get_dummy_value()

    return types.void(items, index, value), codegen


@intrinsic
def get_item(typing_context, items, index):
    """The compiled form of reading `items[index]`."""
    slots = _slots_in(items)
    if slots is not None:
        _expect_number(index)

        def read_slot(context, builder, signature, args):
            return load(
                context, builder, slots.item, _checked_slot(context, builder, signature, args)
            )

        return slots.value_type(items, index), read_slot
    if type(items) is types.Array:
        _expect_number(index)
        return types.int64(items, index), load_number
    plain = typing_context.resolve_function_type(operator.getitem, (items, index), {})
    if plain is None:
        return None

    def codegen(context, builder, signature, args):
        pairs = zip(args, signature.args, plain.args)
        values = [context.cast(builder, value, have, want) for value, have, want in pairs]
        return context.get_function(operator.getitem, plain)(builder, values)

    return plain.return_type(items, index), codegen


def _expect_number(index: types.Type) -> None:
    if not isinstance(index, types.Integer | types.Boolean):
        raise TypingError("a slot of an array or list is read by one whole number")


def _slots_in(kind: types.Type) -> Slots | None:
    """The array that an index goes into: one of the state, or the items of a sequence."""
    if isinstance(kind, Container):
        kind.expect_order()
        return kind.items
    return kind if isinstance(kind, Slots) else None


def start_of(builder: ir.IRBuilder, kind: types.Type, value: Any) -> Any:
    """The address of the first slot of an array, or of a sequence's or bag's items."""
    if isinstance(kind, Container):
        return moved(builder, value, ir.IntType(64)(kind.offset("items")))
    return value


def _checked_slot(context, builder, signature, args) -> Any:
    """The address of a slot of the state's arrays; raises Fault if it is not in use."""
    slots = _slots_in(signature.args[0])
    position = context.cast(builder, args[1], signature.args[1], types.int64)
    data = start_of(builder, signature.args[0], args[0])
    fault_if(context, builder, is_outside(builder, slots, data, position))
    return slot_at(builder, slots, data, position)


def frozen(kind: types.Type) -> types.Type:
    """The type of a record or an array that can't be changed; any other type as it is."""
    if isinstance(kind, StateRecord):
        return numba_type(kind.layout, True)
    if isinstance(kind, Slots):
        item = frozen(kind.item)
        return Slots(item, kind.count, kind.first, kind.items_of, kind.counter, True)
    return kind.copy(readonly=True) if type(kind) is types.Array else kind


@intrinsic
def read_only(typing_context, value):
    """A record or an array as a frozen one, which can't be changed; other values unchanged."""
    kind = types.unliteral(value)
    seen_as = frozen(kind)

    def codegen(context, builder, signature, args):
        if isinstance(kind, Slots):
            return args[0]
        seen = context.cast(builder, args[0], signature.args[0], seen_as)
        return impl_ret_borrowed(context, builder, seen_as, seen)

    return seen_as(value), codegen


@intrinsic
def copy_state(typing_context, target, source):
    """Copy all bytes of a state over another one."""

    def codegen(context, builder, signature, args):
        cgutils.raw_memcpy(builder, *args, bytes_in(target), 1)
        return context.get_dummy_value()

    return types.void(target, source), codegen


@intrinsic
def copy_on_stack(typing_context, source):
    """A copy of a state, on the stack of the function that makes it."""

    def codegen(context, builder, signature, args):
        slot = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), source.size))
        cgutils.raw_memcpy(builder, slot, args[0], bytes_in(source), 1)
        return builder.bitcast(slot, context.get_value_type(source))

    return source(source), codegen


@intrinsic
def nothing(typing_context, target, source):
    """Do nothing: replaces `check_unchanged` where it is proven that nothing changed."""

    def codegen(context, builder, signature, args):
        return context.get_dummy_value()

    return types.void(target, source), codegen


@intrinsic
def check_unchanged(typing_context, target, source):
    """Raise Fault unless two states have the same bytes, since an action has changed one and
    refused."""

    def codegen(context, builder, signature, args):
        order = compare_bytes(builder, *args, bytes_in(target))
        fault_if(context, builder, builder.icmp_signed("!=", order, order.type(0)))
        return context.get_dummy_value()

    return types.void(target, source), codegen


@intrinsic
def as_number(typing_context, value):
    """A literal number as an ordinary int64.

    Otherwise Numba would compile a function anew for each literal that it is called with.
    """

    def codegen(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], types.int64)

    return types.int64(types.unliteral(value)), codegen


@intrinsic
def truth(typing_context, value):
    """What a condition returned, if it is true or false; see `model.transitions.truth`."""
    if not isinstance(value, types.Boolean | types.Integer):
        raise TypingError(TRUE_OR_FALSE)

    def codegen(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], types.boolean)

    return types.boolean(types.unliteral(value)), codegen


@intrinsic
def asked(typing_context, value):
    """A value of which a condition asks whether it is true, as it is."""
    if isinstance(value, types.Record | types.Array):
        raise TypingError(f"an array or record is {NEITHER}: ask for one slot or field")

    def codegen(context, builder, signature, args):
        plain = context.cast(builder, args[0], signature.args[0], signature.return_type)
        return impl_ret_borrowed(context, builder, signature.return_type, plain)

    return types.unliteral(value)(value), codegen


def _comparison(name: str, operation: Any) -> Any:
    """The compiled form of `left == right`, `left != right` or `left in right`.

    For Numba a number and a text are just not equal. Such a comparison is always a mistake.
    """

    def comparison(typing_context, left, right):
        is_in = operation is operator.contains
        if not is_in and _is_kept_whole(left, right):
            return _compare_whole(left, right, operation is operator.ne)
        if isinstance(left, types.Array) and not is_in:
            raise TypingError("arrays can't be compared; write `any(each == x for each in ...)`")
        among = is_in and isinstance(right, types.BaseTuple)
        if any(_is_text(each) != _is_text(left) for each in (right if among else [right])):
            raise TypingError(
                "a number is compared with a text, which is not known to be one of its names"
            )
        kind = typing_context.resolve_value_type(operation)
        in_order = slice(None, None, -1 if is_in else 1)  # operator.contains takes the items first
        plain = kind.get_call_type(typing_context, (left, right)[in_order], {})
        if plain is None:
            return None

        def codegen(context, builder, signature, args):
            pairs = zip(args[in_order], signature.args[in_order], plain.args)
            values = [context.cast(builder, value, have, want) for value, have, want in pairs]
            found = context.get_function(kind, plain)
            context.add_linking_libs(getattr(found, "libs", ()))
            return found(builder, values)

        return plain.return_type(left, right), codegen

    comparison.__name__ = name
    return intrinsic(comparison)


def expect_no_text(kind: types.Type) -> None:
    """Raise TypingError for a text, which is stored nowhere: a name has become a number before."""
    if _is_text(kind):
        raise TypingError(
            "a field or item is filled with a text, which is not known to be one of its names"
        )


def _is_text(kind: types.Type) -> bool:
    return isinstance(kind, types.UnicodeType | types.StringLiteral)


def _is_kept_whole(left: types.Type, right: types.Type) -> bool:
    """Is one of them a record or an array of the state, and the other no number?"""
    kinds = (left, right)
    return any(isinstance(each, types.Record | Slots) for each in kinds) and not any(
        isinstance(each, types.Integer | types.Boolean) for each in kinds
    )


def _compare_whole(left: types.Type, right: types.Type, is_unequal: bool) -> tuple[Any, Any]:
    """The signature and code of the comparison: the other value as it would be kept there."""
    at = 0 if isinstance(left, types.Record | Slots) else 1
    kept, other = (left, right)[at], (left, right)[1 - at]
    if not can_store(kept, other):
        raise TypingError("what can't be stored there can't be compared with it")

    def codegen(context, builder, signature, args):
        made = as_kept(context, builder, kept, other, args[1 - at])
        order = compare_bytes(builder, args[at], made, bytes_in(kept))
        return builder.icmp_signed("!=" if is_unequal else "==", order, order.type(0))

    return types.boolean(left, right), codegen


def compare_bytes(builder: ir.IRBuilder, one: Any, other: Any, count: Any) -> Any:
    """A number below, at or above 0 as the bytes at one address are smaller than at another."""
    number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(number, [pointer, pointer, ir.IntType(64)])
    memcmp = cgutils.get_or_insert_function(builder.module, kind, "memcmp")
    return builder.call(memcmp, [*(builder.bitcast(each, pointer) for each in (one, other)), count])


equal, unequal = _comparison("equal", operator.eq), _comparison("unequal", operator.ne)
contained = _comparison("contained", operator.contains)


def _container(kind: Any) -> StateRecord:
    if not isinstance(kind, StateRecord) or kind.layout.kind == "struct":
        raise TypingError("this is not a sequence or bag of the state")
    return kind


def _changed(kind: Any) -> StateRecord:
    container = _container(kind)
    if container.frozen:
        raise TypingError(ITEMS_IN_ORDER)
    return container


@intrinsic
def _capacity(typing_context, container):
    room = _container(container).typeof("items").count

    def codegen(context, builder, signature, args):
        return ir.IntType(64)(room)

    return types.int64(container), codegen


@intrinsic
def _put_item(typing_context, container, position, item):
    offset, slots = _changed(container).offset("items"), container.typeof("items")
    expect_no_text(item)
    if not can_store(slots.item, item):
        raise TypingError(f"{item} can't be stored in an array of {slots.item}")

    def codegen(context, builder, signature, args):
        data = moved(builder, args[0], ir.IntType(64)(offset))
        position = context.cast(builder, args[1], signature.args[1], types.int64)
        pointer = slot_at(builder, slots, data, position)
        store(context, builder, slots.item, pointer, signature.args[2], args[2])
        return context.get_dummy_value()

    return types.void(container, position, item), codegen


@intrinsic
def _set_count(typing_context, container, count):
    [name, _] = _changed(container).fields
    offset, kept = container.offset(name), container.typeof(name)

    def codegen(context, builder, signature, args):
        pointer = moved(builder, args[0], ir.IntType(64)(offset))
        store(context, builder, kept, pointer, signature.args[1], args[1])
        return context.get_dummy_value()

    return types.void(container, count), codegen


CONTAINER_OPERATIONS = {
    containers.capacity: _capacity,
    containers.put_item: _put_item,
    containers.set_count: _set_count,
}
"""Plain functions of `containers`, with their compiled versions."""


@overload(containers.overflow)
def _overflow(container):
    def raise_bare(container):
        raise CapacityExceeded

    return raise_bare


# --- Constants record -----------------------------------------------------------------------------
#
# Compiled access to a spec's constants: each is read where it stands when it is asked for.
#
# So functions pass an address on instead of all the numbers, of which most functions read only a
# few.


_INT64 = ir.IntType(64)


class ConstantsRecord(types.Type):
    """The type of `c`: int64 numbers that stand one after the other, called by these names."""

    def __init__(self, fields: tuple[str, ...]):
        self.fields = fields
        super().__init__(f"constants({', '.join(fields)})")

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """The type's part in names of machine code (see `records.StateRecord`)."""
        return "Constants", (short_hash(self.name),)


register_model(ConstantsRecord)(models.OpaqueModel)  # the address of the first


@infer_getattr
class _Constants(AttributeTemplate):
    key = ConstantsRecord

    def generic_resolve(self, constants: ConstantsRecord, name: str) -> types.Type:
        if name not in constants.fields:
            known = ", ".join(constants.fields)
            raise TypingError(f"there is no constant {name!r}; there are {known}")
        return types.int64


@lower_getattr_generic(ConstantsRecord)
def _get_constant(context, builder, constants, value, name):
    numbers = builder.bitcast(value, _INT64.as_pointer())
    found = builder.load(builder.gep(numbers, [_INT64(constants.fields.index(name))]))
    # Whatever is written meanwhile, it need not be loaded again.
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def make_constants_at(fields: tuple[str, ...]) -> Any:
    """Make a compiled function (address) -> the constants that stand there."""
    kind = ConstantsRecord(fields)

    @intrinsic
    def constants_at(typing_context, start):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(types.int64), codegen

    return constants_at
