"""Assignments, and the containers' functions that change one: the cells as they are afterwards."""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from protocol_lab.language import containers
from protocol_lab.spec.layout import Array, Bag, Per, Seq
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.paths import Ends
from protocol_lab.tla.values import (
    INT,
    NODES,
    NOTHING,
    OwnList,
    Scope,
    Translation,
    Value,
    is_whole,
    type_of,
)


def assigned(
    t: Translation, target: ast.expr, value: ast.expr, scope: Scope, ends: Ends
) -> Expression:
    """An assignment, also of several values at once."""
    if isinstance(target, ast.Tuple):
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
            raise t.fail(value, "this has no translation to TLA+: write a line for each variable")
        return _assigned_all(t, target.elts, value.elts, [], scope, ends)
    return t.valued(
        value, scope, lambda v, last: store(t, target, v, value, last, ends), wanted=target
    )


def _assigned_all(
    t: Translation, targets: list, values: list, found: list, scope: Scope, ends: Ends
) -> Expression:
    if len(found) < len(values):
        return t.valued(
            values[len(found)],
            scope,
            lambda v, last: _assigned_all(t, targets, values, [*found, v], last, ends),
            wanted=targets[len(found)],
        )

    def each_stored(k: int, last: Scope) -> Expression:
        if k == len(targets):
            return ends.next(last)
        after = replace(ends, next=lambda then: each_stored(k + 1, then))
        return store(t, targets[k], found[k], values[k], last, after)

    return each_stored(0, scope)


def store(
    t: Translation, target: ast.expr, value: Value, node: ast.expr, scope: Scope, ends: Ends
) -> Expression:
    """Assign a value."""
    if isinstance(target, ast.Name):
        old = scope.names.get(target.id)
        if value.known is not None or value.place:
            return ends.next(scope.named(target.id, value))
        if is_whole(value.type):
            t.made += 1
            cell = f"{target.id}.{t.made}"
            made = Value(None, value.type, (cell, ()))
            scope = scope.with_cell(cell, value.expression, value.type)
            return ends.next(scope.named(target.id, made))
        if old is not None and old.type == NODES and value.type == INT:
            value = Value(t.convert(value, NODES, node), NODES)
        if tla.is_short(value.expression) or value.expression in (TRUE, FALSE):
            return ends.next(scope.named(target.id, value))
        name = t.fresh(target.id, scope)
        last = scope.binding(name).named(target.id, replace(value, expression=tla.name(name)))
        return ("let", ((name, (), value.expression, False),), ends.next(last))
    t.placing = True
    try:
        place = t.expression(target, scope)
    finally:
        t.placing = False
    if place.place is None:
        raise t.fail(target, "this can't be assigned to in TLA+: it is a copy")
    value = t.read(value, scope)
    made = as_stored(t, value, place.type, node)
    return ends.next(t.with_place(scope, place.place, made))


def as_stored(t: Translation, value: Value, kind: Any, node: ast.AST) -> Expression:
    """A value as one of the type of a place, also a list as the first items of an array."""
    if isinstance(value.known, list) and isinstance(kind, Array | Per | Seq):
        first = [t.convert(each, type_of(kind.item), node) for each in value.known]
        if isinstance(kind, Seq):
            return ("tuple", tuple(first))
        zero, start = t.types.zero(kind), 0 if isinstance(kind, Array) else 1
        body = zero[3]
        for k in reversed(range(len(first))):
            test = tla.op("=", tla.name(zero[1]), tla.number(k + start))
            body = tla.if_(test, first[k], body)
        return ("fn", zero[1], zero[2], body)
    if value.known is not None:
        raise t.fail(node, "this has no translation to TLA+")
    if isinstance(value.type, Array | OwnList) and isinstance(kind, Array) and value.type != kind:
        bound, domain = "k", t.types.domain(kind)
        body = tla.index(value.expression, tla.name(bound))
        if t.types.domain(value.type) != domain:
            inside = tla.op("\\in", tla.name(bound), t.types.domain(value.type))
            body = tla.if_(inside, body, t.types.zero(type_of(kind.item)))
        return ("fn", bound, domain, body)
    return t.convert(value, kind, node)


def container_changed(
    t: Translation, called: Callable, node: ast.Call, scope: Scope
) -> tuple[Value, Scope]:
    """What a container's function returns, and the scope after it."""
    container = t.expression(node.args[0], scope)
    kind = container.type
    if container.place is None or not isinstance(kind, Seq | Bag):
        raise t.fail(node, "this container can't be changed in TLA+: it is a copy")
    now = t.read(container, scope).expression
    item, result, length = None, NOTHING, tla.call("Len", now)
    if called in (containers.append, containers.add, containers.add_once, containers.take):
        value = t.read(t.expression(node.args[1], scope), scope)
        item = as_stored(t, value, type_of(kind.item), node)
    elif called is not containers.pop_first:
        at = t.number(node.args[1], scope)
    single = ("set", (item,))
    if called is containers.append:
        made = tla.call("Append", now, item)
        if now[0] == "tuple":
            made = ("tuple", (*now[1], item))
    elif called is containers.pop_first:
        result = Value(tla.call("Head", now), type_of(kind.item))
        made = tla.call("Tail", now)
    elif called is containers.truncate:
        shorter = tla.call(t.use("Min"), ("set", (at, length)))
        made = tla.call("SubSeq", now, tla.number(1), shorter)
        if at == tla.number(0):
            made = ("tuple", ())
    elif called is containers.remove_at:
        before = tla.call("SubSeq", now, tla.number(1), at)
        after = tla.call("SubSeq", now, tla.op("+", at, tla.number(2)), length)
        made = tla.call("Tail", now) if at == tla.number(0) else tla.op("\\o", before, after)
    elif kind in t.types.multisets:
        sign = "(-)" if called is containers.take else "(+)"
        made = tla.op(sign, now, tla.call("SetToBag", single))
        if called is containers.add_once:
            made = tla.if_(tla.call("BagIn", item, now), now, made)
    else:
        if called is containers.add:
            t.added_twice.add(kind)
        made = tla.op("\\" if called is containers.take else "\\cup", now, single)
    return result, t.with_place(scope, container.place, made)
