"""Calls in a spec's functions: Python's own, the language's, records, and helpers."""

import ast
from typing import Any

from protocol_lab.language import containers, node_sets
from protocol_lab.spec.layout import Struct
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.assignments import as_stored
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.helper_effects import is_helper
from protocol_lab.tla.helpers import arguments_of, helper_value
from protocol_lab.tla.iteration import through
from protocol_lab.tla.lookup import length
from protocol_lab.tla.operations import membership
from protocol_lab.tla.values import BOOL, INT, NODES, Scope, Translation, Value, type_of


def called(t: Translation, node: ast.Call, scope: Scope) -> Value:
    """The value of a call that changes nothing."""
    if not isinstance(node.func, ast.Name):
        found = t.expression(node.func, scope)
        function, name = found.known, ""
    else:
        name = node.func.id
        function = t.outside.get(name)
        if function is None and name in scope.names:
            function = scope.names[name].known
    if function is None:
        return _of_python(t, name, node, scope)
    if isinstance(function, type) and issubclass(function, Struct):
        return _record(t, function, node, scope)
    if function in _SETS:
        return _of_sets(t, function, node, scope)
    if function is containers.last:
        of = t.expression(node.args[0], scope)
        now = t.read(of, scope).expression
        end, item = tla.call("Len", now), type_of(of.type.item)
        if of.place:
            return t.placed(of.place[0], (*of.place[1], ("i", end)), item, scope)
        return Value(tla.index(now, end), item)
    if function is containers.is_in:
        item, of = (t.expression(each, scope) for each in reversed(node.args))
        return Value(membership(t, node, item, of, scope), BOOL)
    if not is_helper(function):
        raise t.fail(node, "this call has no translation to TLA+")
    return helper_value(t, function, arguments_of(t, function, node, scope), node, scope)


_SETS = (
    *(node_sets.with_node, node_sets.without_node, node_sets.only, node_sets.nodes_up_to),
    *(node_sets.size, node_sets.is_subset, node_sets.smallest, node_sets.contains),
)


def _of_sets(t: Translation, function: Any, node: ast.Call, scope: Scope) -> Value:
    values = [t.evaluated(each, scope) for each in node.args]
    if function in (node_sets.only, node_sets.nodes_up_to):
        given = t.convert(values[0], INT, node)
        if function is node_sets.only:
            return Value(("set", (given,)), NODES)
        return Value(tla.EMPTY if given == tla.number(0) else t.types.up_to(given), NODES)
    nodes = t.convert(values[0], NODES, node)
    if function in (node_sets.with_node, node_sets.without_node):
        single = ("set", (t.convert(values[1], INT, node),))
        sign = "\\cup" if function is node_sets.with_node else "\\"
        return Value(tla.op(sign, nodes, single), NODES)
    if function is node_sets.size:
        return Value(tla.call("Cardinality", nodes), INT)
    if function is node_sets.contains:
        return Value(tla.op("\\in", t.convert(values[1], INT, node), nodes), BOOL)
    if function is node_sets.is_subset:
        return Value(tla.op("\\subseteq", nodes, t.convert(values[1], NODES, node)), BOOL)
    return Value(tla.call(t.use("Smallest"), nodes), INT)


def _record(t: Translation, declared: type[Struct], node: ast.Call, scope: Scope) -> Value:
    kind = type_of(declared)
    parts = dict(t.types.zero(kind)[1])
    if declared.union is not None:
        parts["kind"] = tla.string(declared.__name__)
    for each in node.keywords:
        if each.arg not in parts:
            raise t.fail(node, f"{declared.__name__} has no field {each.arg}")
        value = t.evaluated(each.value, scope)
        parts[each.arg] = as_stored(t, value, type_of(kind.field_types[each.arg]), node)
    return Value(("record", tuple(parts.items())), kind)


def _of_python(t: Translation, name: str, node: ast.Call, scope: Scope) -> Value:
    given = node.args
    one = given[0] if given else None
    if name in ("any", "all") and isinstance(one, ast.GeneratorExp | ast.ListComp):
        return Value(_quantified(t, name == "all", one, scope), BOOL)
    if name in ("any", "all"):
        item = ast.copy_location(ast.Name(" each", ast.Load()), node)
        target = ast.copy_location(ast.Name(" each", ast.Store()), node)
        made = ast.GeneratorExp(item, [ast.comprehension(target, one, [], 0)])
        return Value(_quantified(t, name == "all", ast.copy_location(made, node), scope), BOOL)
    if name in ("sum", "min", "max") and isinstance(one, ast.GeneratorExp | ast.ListComp):
        return _gathered(t, name, one, node, scope)
    if name == "len":
        return length(t, t.evaluated(one, scope), node)
    if name == "abs":
        value = t.number(one, scope)
        negative = tla.op("<", value, tla.number(0))
        return Value(tla.if_(negative, ("prefix", "-", value), value), INT)
    if name == "int":
        return Value(t.number(one, scope), INT)
    if name == "bool":
        return Value(t.test(one, scope), BOOL)
    if name in ("min", "max") and len(given) > 1:
        parts = tuple(dict.fromkeys(t.number(each, scope) for each in given))
        return Value(tla.call(t.use(name.capitalize()), ("set", parts)), INT)
    if name in ("sum", "min", "max") and one is not None:
        item = ast.copy_location(ast.Name(" each", ast.Load()), node)
        target = ast.copy_location(ast.Name(" each", ast.Store()), node)
        made = ast.GeneratorExp(item, [ast.comprehension(target, one, [], 0)])
        return _gathered(t, name, ast.copy_location(made, node), node, scope)
    if name in ("list", "tuple") and one is not None:
        return t.expression(one, scope)
    raise t.fail(node, "this call has no translation to TLA+")


def _quantified(t: Translation, every: bool, node: ast.GeneratorExp, scope: Scope) -> Expression:
    return _quantifiers(t, every, node, list(node.generators), scope)


def _quantifiers(
    t: Translation, every: bool, node: ast.GeneratorExp, generators: list, scope: Scope
) -> Expression:
    if not generators:
        return t.test(node.elt, scope)
    first, *rest = generators
    items = through(t, first.target, first.iter, scope)
    bound, inner, domain = bind(t, items, scope)
    tests = [t.test(each, inner) for each in first.ifs]
    body = _quantifiers(t, every, node, rest, inner)
    if every:
        body = (
            tla.disj([*map(tla.neg, tests), body])
            if not tests or body[0] == "or"
            else (tla.if_(tla.conj(tests), body, TRUE))
        )
        return tla.quantified("\\A", bound, domain, body)
    return tla.quantified("\\E", bound, domain, tla.conj([*tests, body]))


def bind(t: Translation, items: Any, scope: Scope) -> tuple[str, Scope, Expression]:
    """A bound name for the items, the scope in which the loop's variables have their values, and
    the set that the name is drawn from: the items themselves where their indices do not matter."""
    if items.whole is not None:
        domain, kind = items.whole
        t.use("Items")
        (variable,) = items.values("k", scope)
        bound = t.fresh(variable.strip() or "k", scope)
        value = Value(tla.name(bound), kind)
        return bound, scope.binding(bound).named(variable, value), domain
    bound = t.fresh(items.wanted.strip(), scope)
    inner = scope.binding(bound)
    for each, value in items.values(bound, inner).items():
        inner = inner.named(each, value)
    return bound, inner, items.domain


def bind_index(t: Translation, items: Any, scope: Scope) -> tuple[str, Scope]:
    """The same with a name for the index of each item, where there may be equal ones."""
    bound = t.fresh(items.wanted.strip(), scope)
    inner = scope.binding(bound)
    for each, value in items.values(bound, inner).items():
        inner = inner.named(each, value)
    return bound, inner


def _gathered(
    t: Translation, name: str, node: ast.GeneratorExp, whole: ast.Call, scope: Scope
) -> Value:
    """sum, min or max of a generator."""
    if name != "sum":
        values, _ = _set_of(t, node, list(node.generators), scope)
        found = tla.call(t.use(name.capitalize()), values)
        for each in whole.keywords:
            if each.arg == "default":
                found = tla.if_(tla.op("=", values, tla.EMPTY), t.number(each.value, scope), found)
        return Value(found, INT)
    return Value(_sum(t, node, list(node.generators), scope), INT)


def _set_of(t: Translation, node: ast.GeneratorExp, generators: list, scope: Scope) -> tuple:
    first, *rest = generators
    items = through(t, first.target, first.iter, scope)
    bound, inner, domain = bind(t, items, scope)
    test = tla.conj([t.test(each, inner) for each in first.ifs])
    domain = tla.filtered(bound, domain, test)
    if rest:
        values, kind = _set_of(t, node, rest, inner)
        return ("prefix", "UNION", ("map", values, bound, domain)), kind
    value = t.evaluated(node.elt, inner)
    return tla.mapped(t.convert(value, INT, node.elt), bound, domain), INT


def _sum(t: Translation, node: ast.GeneratorExp, generators: list, scope: Scope) -> Expression:
    first, *rest = generators
    items = through(t, first.target, first.iter, scope)
    bound, inner = bind_index(t, items, scope)
    test = tla.conj([t.test(each, inner) for each in first.ifs])
    value = _sum(t, node, rest, inner) if rest else None
    if value is None:
        found = t.evaluated(node.elt, inner)
        if found.type == BOOL and found.expression not in (TRUE, FALSE):
            test, value = tla.conj([test, found.expression]), tla.number(1)
        else:
            value = t.convert(found, INT, node.elt)
    return total(t, bound, items, test, value)


def total(
    t: Translation, bound: str, items: Any, test: Expression, value: Expression
) -> Expression:
    """The sum of a value over all items for which the test holds."""
    if items.copies is not None:
        value = (
            tla.op("*", items.copies(bound), value)
            if value != tla.number(1)
            else (items.copies(bound))
        )
    domain = tla.filtered(bound, items.domain, test)
    if value == tla.number(1):
        return tla.call("Cardinality", domain)
    return tla.call(t.use("Sum"), ("fn", bound, domain, value))
