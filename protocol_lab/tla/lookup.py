"""What a name, an attribute or an item in a function's code stands for."""

import ast
import inspect
from dataclasses import replace
from typing import Any

from protocol_lab.spec.layout import Array, Bag, Named, Per, Seq, Struct
from protocol_lab.spec.parameters import Sequences
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import Expression
from protocol_lab.tla.values import (
    BOOL,
    CONSTANTS,
    INT,
    TEXT,
    OwnList,
    Scope,
    StateNamed,
    Translation,
    Value,
    common_type,
    type_of,
)


def name_value(t: Translation, node: ast.Name, name: str, scope: Scope) -> Value:
    """The value of a variable, or of a name from outside."""
    if name in scope.names:
        return scope.names[name]
    outside = t.outside
    if name not in outside:
        raise t.fail(node, "this name has no value that TLA+ could have")
    return global_value(t, node, name, outside[name])


def global_value(t: Translation, node: ast.AST, name: str, value: Any) -> Value:
    """The value of a name that a module has."""
    if isinstance(value, bool):
        return Value(tla.boolean(value), BOOL)
    if isinstance(value, int):
        if name not in {"NO_LIMIT"} and name.isupper():
            return Value(tla.name(global_name(t, name, int(value))), INT)
        return Value(tla.number(int(value)), INT)
    if isinstance(value, str):
        return Value(tla.string(value), TEXT)
    return Value(None, "object", known=value)


def global_name(t: Translation, name: str, value: int) -> str:
    """The definition of a number that a module names."""
    if (name, value) not in t.globals:
        made = tla.unused(name, t.taken)
        t.taken.add(made)
        t.globals[name, value] = made
    return t.globals[name, value]


def attribute_value(
    t: Translation, node: ast.Attribute, of: Value, name: str, scope: Scope
) -> Value:
    """The value of `of.name`: a constant, a field of the state or of a record, or a length."""
    if of.known == CONSTANTS:
        return constant(t, name)
    if isinstance(of.known, StateNamed):
        cell = of.known.prefix + name
        if cell not in scope.cells:
            raise t.fail(node, "the state has no such field")
        return t.placed(cell, (), scope.cells[cell][1], scope)
    if inspect.ismodule(of.known):
        return global_value(t, node, name, getattr(of.known, name))
    kind = of.type
    if isinstance(kind, Seq | Bag):
        if name in ("length", "size"):
            return length(t, t.read(of, scope), node)
        if name == "items":
            return replace(of, known=("items", of.known))
    if isinstance(kind, type) and issubclass(kind, Struct) and name in kind.field_types:
        part = type_of(kind.field_types[name])
        if of.place:
            return t.placed(of.place[0], (*of.place[1], ("f", name)), part, scope)
        return Value(tla.field(of.expression, name), part)
    raise t.fail(node, "what this is can't be told, so it has no translation to TLA+")


def constant(t: Translation, name: str) -> Value:
    """A constant of the spec."""
    limits = t.limits[name]
    kind: Any = INT
    if limits.choices == ("false", "true"):
        kind = BOOL
    elif limits.choices:
        kind = Named(*limits.choices)
    return Value(tla.name(t.types.constants[name]), kind)


def item_value(t: Translation, node: ast.Subscript, of: Value, at: ast.expr, scope: Scope) -> Value:
    """The value of `of[at]`."""
    if isinstance(at, ast.Slice):
        raise t.fail(node, "a slice has no translation to TLA+: write a loop")
    if isinstance(of.known, list) and of.type != "object":
        found = t.number(at, scope)
        if found[0] == "num":
            return of.known[found[1]]
        kind = common_type([each.type for each in of.known])
        items = tuple(t.convert(each, kind, node) for each in of.known)
        return Value(tla.index(("tuple", items), tla.op("+", found, tla.number(1))), kind)
    if isinstance(of.known, tuple) and of.known and of.known[0] == "items":
        of = replace(of, known=None)
        if isinstance(of.type, Bag):
            now = t.read(of, scope).expression
            items = tla.call(t.use("Listed"), t.as_set(of.type, now))
            if of.type in t.types.multisets:
                items = tla.call(t.use("ListedBag"), now)
            at_ = tla.op("+", t.number(at, scope), tla.number(1))
            return Value(tla.index(items, at_), type_of(of.type.item))
    kind = of.type
    index = t.evaluated(at, scope)
    step = index_of(t, kind, t.convert(index, INT, at), node)
    item = type_of(kind.item) if not isinstance(kind, Sequences) else INT
    if of.place:
        return t.placed(of.place[0], (*of.place[1], ("i", step)), item, scope)
    return Value(tla.index(of.expression, step), item)


def index_of(t: Translation, kind: Any, at: Expression, node: ast.AST) -> Expression:
    """An index of Python's as TLA+ counts: sequences begin at 1 there."""
    if isinstance(kind, Seq):
        return tla.op("+", at, tla.number(1))
    if isinstance(kind, Array | Per | OwnList | Sequences):
        return at
    raise t.fail(node, "what this is an item of can't be told")


def length(t: Translation, value: Value, node: ast.AST) -> Value:
    """len(...)."""
    now = value.expression
    match value.type:
        case "set of nodes":
            return Value(tla.call("Cardinality", now), INT)
        case Seq():
            return Value(tla.call("Len", now), INT)
        case Bag() if value.type in t.types.multisets:
            return Value(tla.call("BagCardinality", now), INT)
        case Bag():
            return Value(tla.call("Cardinality", now), INT)
        case Array() | Per() | OwnList():
            return Value(tla.call("Cardinality", t.types.domain(value.type)), INT)
        case Sequences():
            return Value(tla.call("Cardinality", ("prefix", "DOMAIN", now)), INT)
    if isinstance(value.known, list | tuple):
        return Value(tla.number(len(value.known)), INT)
    raise t.fail(node, "the length of this has no translation to TLA+")
