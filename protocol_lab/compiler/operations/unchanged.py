"""Compiled loops over a sequence or bag whose body may change it: a Fault once it has.

Uncompiled, `state_view.ArrayView` does the same: a bag must keep its items, a sequence its length.
Only loops whose body calls what may change something are compiled so (see `rewriting`).
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import register_default
from numba.core.datamodel.models import OpaqueModel, StructModel
from numba.core.imputils import RefType, impl_ret_borrowed, iternext_impl, lower_builtin
from numba.extending import intrinsic

from protocol_lab.compiler.operations.integers import fault_if
from protocol_lab.compiler.operations.records import Container, compare_bytes, start_of
from protocol_lab.compiler.operations.slots import Slots, end_of, give_next, load, slot_at
from protocol_lab.reader.dependencies import short_hash

_INT64 = ir.IntType(64)


class Watched(types.IterableType):
    """The type of a container's items that must not change while a loop goes through them."""

    def __init__(self, slots: Slots):
        self.slots = slots
        super().__init__(f"watched {slots.name}")

    @property
    def iterator_type(self) -> types.Type:
        return WatchedIterator(self.slots)

    @property
    def mangling_args(self) -> tuple[str, tuple]:
        """The type's part in names of machine code (see `records.StateRecord`)."""
        return "Watched", (short_hash(self.name),)


register_default(Watched)(OpaqueModel)  # the address of the first slot


class WatchedIterator(types.SimpleIteratorType):
    """Iterates over the slots in use, and remembers what they were."""

    def __init__(self, slots: Slots):
        self.slots = slots
        super().__init__(f"iter(watched {slots.name})", slots.value_type)


@register_default(WatchedIterator)
class _WatchedIteratorModel(StructModel):
    def __init__(self, dmm: Any, fe_type: WatchedIterator):
        members = [
            ("index", types.EphemeralPointer(types.intp)),
            ("array", fe_type.slots),
            ("count", types.EphemeralPointer(types.intp)),
            ("copied", types.EphemeralPointer(types.uint8)),
        ]
        super().__init__(dmm, fe_type, members)


@intrinsic
def watched(typing_context: Any, items: Any) -> tuple[Any, Any]:
    """The items of a loop: a sequence or bag as `Watched`, anything else unchanged."""
    slots = items.items if isinstance(items, Container) else items
    is_container = isinstance(slots, Slots) and bool(slots.items_of)
    result = Watched(slots) if is_container else items

    def codegen(context, builder, signature, args):
        if is_container:
            return load(context, builder, slots, start_of(builder, items, args[0]))
        return impl_ret_borrowed(context, builder, items, args[0])

    return result(items), codegen


@lower_builtin("getiter", Watched)
def _getiter(context, builder, signature, args):
    slots = signature.args[0].slots
    iterator = context.make_helper(builder, signature.return_type)
    count = end_of(builder, slots, args[0])
    iterator.index = cgutils.alloca_once_value(builder, _INT64(0))
    iterator.array = args[0]
    iterator.count = cgutils.alloca_once_value(builder, count)
    size = slots.count * slots.item_bytes if slots.items_of == "bag" else 1
    copied = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), size))
    iterator.copied = builder.bitcast(copied, ir.IntType(8).as_pointer())
    if slots.items_of == "bag":
        in_use = builder.mul(count, _INT64(slots.item_bytes))
        start = slot_at(builder, slots, args[0], _INT64(0))
        cgutils.raw_memcpy(builder, iterator.copied, start, in_use, 1)
    return iterator._getvalue()


@lower_builtin("iternext", WatchedIterator)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, signature, args, result):
    [kind] = signature.args
    slots = kind.slots
    iterator = context.make_helper(builder, kind, value=args[0])
    data, count = iterator.array, builder.load(iterator.count)
    changed = builder.icmp_signed("!=", count, end_of(builder, slots, data))
    if slots.items_of == "bag":
        start, size = slot_at(builder, slots, data, _INT64(0)), _INT64(slots.item_bytes)
        order = compare_bytes(builder, start, iterator.copied, builder.mul(count, size))
        changed = builder.or_(changed, builder.icmp_signed("!=", order, order.type(0)))
    fault_if(context, builder, changed)
    give_next(context, builder, iterator, slots, count, result)
