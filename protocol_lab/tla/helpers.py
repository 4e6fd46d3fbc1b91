"""Calls of helpers that only look: each helper is an operator of the module."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.spec.layout import Named
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.lookup import global_value
from protocol_lab.tla.values import (
    BOOL,
    CONSTANTS,
    INT,
    NODES,
    Scope,
    StateNamed,
    Translation,
    Value,
    type_of,
)


@dataclass(frozen=True)
class Operator:
    """A helper as a definition of the module. reads: the variables that it depends on."""

    name: str
    type: Any
    parameters: tuple[tuple[str, str, Any], ...]
    reads: frozenset[str]


def arguments_of(
    t: Translation, called: Callable, node: ast.Call, scope: Scope
) -> dict[str, Value]:
    """The values of a helper's parameters, as it is called here."""
    signature = inspect.signature(called)
    values = [t.expression(each, scope) for each in node.args]
    named = {each.arg: t.expression(each.value, scope) for each in node.keywords}
    bound = signature.bind(*values, **named)
    found = {}
    for each, parameter in signature.parameters.items():
        if each in bound.arguments:
            value = bound.arguments[each]
            declared = type_of(parameter.annotation)
            if value.place is None and value.known is None and declared in (NODES, BOOL):
                value = Value(t.convert(value, declared, node), declared)
            if isinstance(declared, Named) and value.type == INT:
                value = Value(t.convert(value, declared, node), declared)
            found[each] = value
        else:
            found[each] = global_value(t, node, "", parameter.default)
    return found


def helper_value(
    t: Translation, called: Callable, given: dict[str, Value], node: ast.AST, scope: Scope
) -> Value:
    """What a helper that changes nothing returns: a call of its operator, or its code."""
    plain = {each: t.read(value, scope) for each, value in given.items()}
    if any(
        value.known is not None
        and value.known != CONSTANTS
        and not isinstance(value.known, StateNamed)
        for value in plain.values()
    ):
        return t.result(called, given, scope)
    operator = operator_of(t, called, plain)
    states = {v.known.prefix for v in plain.values() if isinstance(v.known, StateNamed)}
    arguments = [plain[each].expression for _, each, _ in operator.parameters]
    found = tla.call(operator.name, *arguments)
    for prefix in states:
        now = {each: scope.cells[prefix + each][0] for each in operator.reads}
        if all(e == tla.name(t.variables[each]) for each, e in now.items()):
            continue
        if all(e == ("prime", tla.name(t.variables[each])) for each, e in now.items()):
            used = frozenset().union(*map(tla.names_in, arguments))
            if not used & set(t.variables.values()):
                found = ("prime", found)
                continue
        return t.result(called, given, scope)
    return Value(found, operator.type)


def operator_of(t: Translation, called: Callable, given: dict[str, Value]) -> Operator:
    """The operator that a helper becomes for parameters of these types."""
    kinds = tuple(
        (each, value.type if value.known is None else str(type(value.known)))
        for each, value in given.items()
    )
    key = (called, kinds)
    if key in t.operators:
        return t.operators[key]
    cells = {f"s.{each}": (tla.name(v), t.fields[each]) for each, v in t.variables.items()}
    scope, parameters, values = Scope({}, cells), [], {}
    for each, value in given.items():
        if isinstance(value.known, StateNamed):
            values[each] = Value(None, "state", known=StateNamed("s."))
        elif value.known is not None:
            values[each] = value
        else:
            bound = t.fresh(each, scope)
            scope = scope.binding(bound)
            parameters.append((bound, each, value.type))
            values[each] = Value(tla.name(bound), value.type)
    made = t.result(called, values, scope)
    body = tla.tidy(made.expression)
    names = tuple(bound for bound, _, _ in parameters)
    reads = {each for each, v in t.variables.items() if v in tla.names_in(body)}
    for other in t.operators.values():
        if other.name in tla.names_in(body):
            reads |= other.reads
    for other in t.definitions:
        if other[1:3] == (names, body) and other[0].split("_")[0:1]:
            name = other[0]
            break
    else:
        name = tla.unused(called.__name__, t.taken)
        t.taken.add(name)
        t.definitions.append((name, names, body, (called.__doc__ or "").strip()))
    operator = Operator(name, made.type, tuple(parameters), frozenset(reads))
    t.operators[key] = operator
    return operator
