"""Compiled `len`, `in` and `for` on sequences, bags and arrays of the state.

Numba is taught them for these types, so that code is compiled as it is written. A number has none
of them, as its type does not tell whether it is a set of nodes; `reader.named_values` does.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.core.typing.templates import AbstractTemplate, Signature, infer_global, signature
from numba.extending import infer, intrinsic, lower_builtin, models, overload, register_model

from protocol_lab.compiler.operations.bags import BAG_OPERATIONS
from protocol_lab.compiler.operations.integers import fault_if
from protocol_lab.compiler.operations.records import (
    Container,
    as_number,
    copy_on_stack,
    equal,
    start_of,
)
from protocol_lab.compiler.operations.slots import Slots, end_of, load
from protocol_lab.model import containers, node_sets
from protocol_lab.model.node_sets import IS_A_NUMBER
from protocol_lab.model.transitions import writable

_INT64 = ir.IntType(64)

_is_in = BAG_OPERATIONS[containers.is_in]


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Signature | None:
        if isinstance(args[0], types.Integer):
            raise TypingError(IS_A_NUMBER)
        return signature(types.intp, args[0]) if isinstance(args[0], Container) else None


@infer
class _Loop(AbstractTemplate):
    key = "getiter"

    def generic(self, args: tuple, kws: dict) -> None:
        if isinstance(args[0], types.Integer):
            raise TypingError(IS_A_NUMBER)


@lower_builtin(len, Container)
def _len(context, builder, signature, args):
    [kind] = signature.args
    return end_of(builder, kind.items, start_of(builder, kind, args[0]))


@lower_builtin("getiter", Container)
def _getiter(context, builder, signature, args):
    [kind] = signature.args
    items = load(context, builder, kind.items, start_of(builder, kind, args[0]))
    over_items = kind.iterator_type(kind.items)
    return context.get_function("getiter", over_items)(builder, [items])


@overload(operator.contains)
def _contains(items, value):
    if isinstance(items, types.Integer):
        raise TypingError(IS_A_NUMBER)
    if isinstance(items, Container) and items.layout.kind == "bag":
        return lambda items, value: _is_in(items, value)
    if not isinstance(items, Container | Slots):
        return None

    def contains(items, value):
        for each in items:
            if equal(each, value):
                return True
        return False

    return contains


# --- The nodes of a set --------------------------------------------------------------------------


class SetOfNodes(types.SimpleIterableType):
    """What `members` gives: a bitmask that a loop goes through."""

    def __init__(self) -> None:
        super().__init__("set of nodes", NodesIterator())


class NodesIterator(types.SimpleIteratorType):
    """Gives the nodes of a set, smallest first; `left` points to the bitmask of those to come."""

    def __init__(self) -> None:
        super().__init__("iterator over a set of nodes", types.int64)


@register_model(SetOfNodes)
class _SetOfNodesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: SetOfNodes):
        super().__init__(dmm, fe_type, _INT64)


@register_model(NodesIterator)
class _NodesIteratorModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: NodesIterator):
        super().__init__(dmm, fe_type, [("left", types.EphemeralPointer(types.int64))])


@intrinsic
def _members(typing_context, nodes):
    """What `members(nodes)` becomes; raises Fault for a negative number."""
    if not isinstance(nodes, types.Integer):
        raise TypingError("members: this is not a set of nodes")

    def codegen(context, builder, signature, args):
        mask = context.cast(builder, args[0], signature.args[0], types.int64)
        fault_if(context, builder, builder.icmp_signed("<", mask, _INT64(0)))
        return mask

    return SetOfNodes()(nodes), codegen


@lower_builtin("getiter", SetOfNodes)
def _getiter_nodes(context, builder, signature, args):
    iterator = context.make_helper(builder, signature.return_type)
    iterator.left = cgutils.alloca_once_value(builder, args[0])
    return iterator._getvalue()


@lower_builtin("iternext", NodesIterator)
@iternext_impl(RefType.UNTRACKED)
def _iternext_nodes(context, builder, signature, args, result):
    iterator = context.make_helper(builder, signature.args[0], value=args[0])
    left = builder.load(iterator.left)
    is_there = builder.icmp_signed("!=", left, _INT64(0))
    result.set_valid(is_there)
    with builder.if_then(is_there):
        result.yield_(builder.cttz(left, ir.IntType(1)(1)))
        without = builder.and_(left, builder.sub(left, _INT64(1)))
        builder.store(without, iterator.left)


COMPILED_APART = {
    **BAG_OPERATIONS,
    node_sets.as_nodes: as_number,
    node_sets.members: _members,
    writable: copy_on_stack,
}
"""The plain functions of which compiled code has a version of its own, with that version."""
