"""What a loop or a comprehension goes through: a set of numbers, of sets or of messages, or the
indices of a sequence or an array."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.language import node_sets
from protocol_lab.spec.layout import Array, Bag, Per, Seq
from protocol_lab.spec.parameters import Sequences
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import Expression
from protocol_lab.tla.lookup import global_value
from protocol_lab.tla.values import INT, NODES, OwnList, Scope, Translation, Value, type_of


@dataclass(frozen=True)
class Through:
    """domain: the set that the bound name is drawn from. order: "numbers", "sets" or "any".

    values: for each variable of the loop its value for a bound name. copies: in a bag with equal
    items, how many there are. whole: the set of the items, where the items alone matter.
    """

    domain: Expression
    order: str
    values: Callable[[str, Scope], dict[str, Value]]
    wanted: str
    copies: Callable[[str], Expression] | None = None
    whole: tuple[Expression, Any] | None = None


def through(t: Translation, target: ast.expr, items: ast.expr, scope: Scope) -> Through:
    """What `for target in items` goes through."""
    outside = t.outside
    match items:
        case ast.Call(ast.Name(called), given):
            function = outside.get(called)
            if called == "range" and function is None:
                return _range(t, target, given, scope)
            if called == "enumerate" and function is None:
                return _enumerated(t, target, given[0], scope)
            if called == "zip" and function is None:
                return _zipped(t, target, given, scope)
            if called in ("list", "tuple", "reversed", "sorted") and function is None:
                return through(t, target, given[0], scope)
            if function is node_sets.subsets:
                of = t.convert(t.evaluated(given[0], scope), NODES, items)
                return _plain(t, target, ("prefix", "SUBSET", of), "sets", NODES)
            if function is node_sets.members:
                return through(t, target, given[0], scope)
    found = t.expression(items, scope)
    if isinstance(found.known, range):
        low, high = found.known.start, found.known.stop - 1
        return _plain(t, target, tla.between(tla.number(low), tla.number(high)), "numbers", INT)
    if isinstance(found.known, list | tuple) and found.type in ("list", "object"):
        parts = [p if isinstance(p, Value) else global_value(t, items, "", p) for p in found.known]
        kind = parts[0].type
        listed = tuple(t.convert(each, kind, items) for each in parts)
        if kind == INT and list(listed) == sorted(set(listed)):
            return _plain(t, target, ("set", listed), "numbers", INT)
        found = Value(("tuple", listed), Seq(kind, 1))
    if isinstance(found.known, tuple) and found.known and found.known[0] == "items":
        found = Value(found.expression, found.type, found.place)
    now = t.read(found, scope).expression
    if found.type == NODES:
        return _plain(t, target, now, "numbers", INT)
    if isinstance(found.type, Bag):
        kind = type_of(found.type.item)
        if found.type in t.types.multisets:
            made = _plain(t, target, tla.call("BagToSet", now), "any", kind)
            return Through(
                made.domain,
                made.order,
                made.values,
                made.wanted,
                lambda bound: tla.index(now, tla.name(bound)),
            )
        return _plain(t, target, now, "any", kind)
    if isinstance(found.type, Seq | Array | Per | Sequences | OwnList):
        return _indexed(t, target, found, now, items)
    raise t.fail(items, "what this goes through has no translation to TLA+")


def listed_bag(t: Translation, target: ast.expr, items: ast.expr, scope: Scope) -> Through:
    """A bag with equal items as a sequence in some order."""
    found = t.evaluated(items, scope)
    listed = Value(tla.call(t.use("ListedBag"), found.expression), Seq(found.type.item, 1))
    return _indexed(t, target, listed, listed.expression, items)


def _plain(t: Translation, target: ast.expr, domain: Expression, order: str, kind: Any) -> Through:
    each = _name(t, target)

    def values(bound: str, scope: Scope) -> dict[str, Value]:
        return {each: Value(tla.name(bound), kind)}

    return Through(domain, order, values, each)


def _range(t: Translation, target: ast.expr, given: list[ast.expr], scope: Scope) -> Through:
    if len(given) == 3:
        raise t.fail(given[2], "a range with a step has no translation to TLA+: write a while loop")
    low = t.number(given[0], scope) if len(given) == 2 else tla.number(0)
    high = tla.op("-", t.number(given[-1], scope), tla.number(1))
    domain = t.types.up_to(high) if low == tla.number(1) else tla.between(low, high)
    return _plain(t, target, domain, "numbers", INT)


def _indexed(
    t: Translation, target: ast.expr, of: Value, now: Expression, node: ast.expr
) -> Through:
    kind, each = of.type, _name(t, target)
    item = INT if isinstance(kind, Sequences) else type_of(kind.item)
    if isinstance(kind, Seq):
        domain = tla.between(tla.number(1), tla.call("Len", now))
    elif isinstance(kind, Sequences):
        domain = ("prefix", "DOMAIN", now)
    else:
        domain = t.types.domain(kind)

    def values(bound: str, scope: Scope) -> dict[str, Value]:
        if of.place:
            path = (*of.place[1], ("i", tla.name(bound)))
            return {each: t.placed(of.place[0], path, item, scope)}
        return {each: Value(tla.index(now, tla.name(bound)), item)}

    return Through(domain, "numbers", values, "k", whole=(tla.call("Items", now), item))


def _enumerated(t: Translation, target: ast.expr, of: ast.expr, scope: Scope) -> Through:
    position, each = target.elts
    inner = through(t, each, of, scope)
    shift = 1 if isinstance(t.expression(of, scope).type, Seq) else 0

    def values(bound: str, scope: Scope) -> dict[str, Value]:
        found = inner.values(bound, scope)
        return {**found, position.id: Value(tla.op("-", tla.name(bound), tla.number(shift)), INT)}

    return Through(inner.domain, inner.order, values, "k")


def _zipped(t: Translation, target: ast.expr, of: list[ast.expr], scope: Scope) -> Through:
    parts = [through(t, each, items, scope) for each, items in zip(target.elts, of, strict=True)]
    first = parts[0]
    if any(part.domain != first.domain for part in parts):
        raise t.fail(target, "lists of different lengths have no translation to TLA+ in zip")

    def values(bound: str, scope: Scope) -> dict[str, Value]:
        return {k: v for part in parts for k, v in part.values(bound, scope).items()}

    return Through(first.domain, first.order, values, "k")


def _name(t: Translation, target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise t.fail(target, "this variable of a loop has no translation to TLA+")
    return target.id
