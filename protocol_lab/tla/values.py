"""What stands for what in TLA+: the types of a spec, their first values, and conversions.

A node is a number, NONE is 0, a set of nodes is a set, a name is a string, a record is a record, an
array is a function from 0, an array by node a function of the nodes, a sequence a sequence (so that
s.log[0] is log[1]), and a bag a set, or a bag of the module Bags if equal items can be in it.
"""

import ast
from dataclasses import dataclass, replace
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model import layout
from protocol_lab.model.layout import Array, Bag, Named, Node, Per, Seq, Struct
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import E, Path

INT, BOOL, TEXT, NODES, ALL_BUT = "number", "truth value", "text", "set of nodes", "complement"
"""Types of values besides those that a state declares. ALL_BUT: what ~nodes is."""

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "\\div", ast.Mod: "%"}
ARITHMETIC |= {ast.Pow: "^"}


class NoTranslation(LabError):
    """A piece of a spec that TLA+ does not have, or that this translation does not know."""


@dataclass(frozen=True)
class Value:
    """An expression with its type. place: the cell and the path from which it is read, if it is a
    part of the state or of a record, which can be assigned to. known: a Python value instead."""

    expression: E | None
    type: Any = None
    place: tuple[str, Path] | None = None
    known: Any = None


NOTHING = Value(tla.string(""), TEXT)
"""What a function returns that returns nothing."""

CONSTANTS = Value(None, known="the constants")


@dataclass(frozen=True)
class StateNamed:
    """A state as a value: its fields are cells that begin with this prefix."""

    prefix: str


@dataclass(frozen=True)
class Own:
    """The type of an array that is no part of the state: a parameter, or what counts something."""

    domain: E
    item: Any = INT


@dataclass(frozen=True)
class Scope:
    """What holds at one point of a function: its variables, and the cells: each field of the state,
    and each container or record of the function's own, with the expression that it is by now."""

    names: dict[str, Value]
    cells: dict[str, E]

    def named(self, **values: Value) -> "Scope":
        """The scope with variables."""
        return replace(self, names=self.names | values)

    def with_cell(self, cell: str, expression: E) -> "Scope":
        """The scope with another expression for a cell."""
        return replace(self, cells=self.cells | {cell: expression})


def type_of(declared: Any) -> Any:
    """The type of a field or annotation."""
    match declared:
        case layout.Integer() | Node():
            return INT
        case layout.Boolean():
            return BOOL
        case layout.NodeSet():
            return NODES
        case type() if issubclass(declared, Struct):
            return declared.union or declared
    return {bool: BOOL, int: INT, str: TEXT}.get(declared, declared)


def is_record(kind: Any) -> bool:
    """Is it the type of a record?"""
    return isinstance(kind, type) and issubclass(kind, Struct)


def is_whole(kind: Any) -> bool:
    """Is it more than a number, a name or a set: something that has parts?"""
    return isinstance(kind, Array | Per | Seq | Bag | Own) or is_record(kind)


def item_of(kind: Any) -> Any:
    """The type of a container's items."""
    return type_of(kind.item)


class Types:
    """The types of one spec. kinds: the names of its kinds of nodes; used: those that are shown.
    multisets: the bags that may have equal items; added_twice: those that the code shows to be."""

    def __init__(self, kinds: dict[Node, str], multisets: set[Bag], constants: dict[str, str]):
        self.kinds, self.multisets, self.constants = kinds, multisets, constants
        self.added_twice: set[Bag] = set()
        self.used: set[Node] = set()

    def size(self, size: str | int) -> E:
        """A declared size as an expression over constants."""
        return self._sized(ast.parse(str(size), mode="eval").body)

    def _sized(self, node: ast.expr) -> E:
        match node:
            case ast.Constant(int(value)):
                return tla.number(value)
            case ast.Name(each):
                return tla.name(self.constants.get(each, each))
            case ast.BinOp(left, sign, right):
                return tla.op(ARITHMETIC[type(sign)], self._sized(left), self._sized(right))
        raise NoTranslation(f"The size {ast.unparse(node)!r} has no translation to TLA+.")

    def nodes(self, node: Node) -> E:
        """The set of all nodes of a kind."""
        if node not in self.kinds:
            return tla.between(tla.number(1), self.size(node.count))
        self.used.add(node)
        return tla.name(self.kinds[node])

    def up_to(self, count: E) -> E:
        """1..count, by its name if it is a kind of node."""
        if count == tla.number(0):
            return tla.EMPTY
        named = (self.nodes(node) for node in self.kinds if self.size(node.count) == count)
        return next(named, tla.between(tla.number(1), count))

    def domain(self, kind: Any, now: E) -> E:
        """The indices of an array or sequence, which is now this expression."""
        if isinstance(kind, Seq):
            return tla.between(tla.number(1), tla.call("Len", now))
        if isinstance(kind, Own):
            return kind.domain
        if isinstance(kind, Per):
            return self.nodes(kind.node)
        return tla.between(tla.number(0), tla.op("-", self.size(kind.size), tla.number(1)))

    def zero(self, kind: Any, depth: int = 0) -> E:
        """The first value of a type: what a field begins as."""
        match kind:
            case Named(names):
                return tla.string(names[0])
            case Array() | Per():
                bound = f"{'k' if isinstance(kind, Array) else 'n'}{depth or ''}"
                item = self.zero(item_of(kind), depth + 1)
                return E("fn", bound, (self.domain(kind, tla.EMPTY), item))
            case Seq():
                return E("tuple")
            case Bag() if kind in self.multisets:
                return tla.name("EmptyBag")
            case type() if is_record(kind):
                parts = kind.field_types.items()
                return tla.record(**{each: self.zero(type_of(t), depth) for each, t in parts})
        return {BOOL: tla.FALSE, INT: tla.number(0), TEXT: tla.string("")}.get(kind, tla.EMPTY)

    def items(self, kind: Any, now: E) -> E | None:
        """The set of the items of a container; None if it is no container."""
        if kind in self.multisets:
            return tla.call("BagToSet", now)
        if kind == NODES or isinstance(kind, Bag):
            return now
        return tla.call("Items", now) if isinstance(kind, Seq | Array | Per | Own) else None


def converted(value: Value, kind: Any) -> E:
    """The expression of a value as one of another type. Raises NoTranslation if there is none."""
    found, given = value.expression, value.type
    if given == kind and found is not None:
        return found
    if found is not None and found.kind == "if" and (BOOL in (given, kind) or kind == NODES):
        test, *parts = found.parts
        return tla.if_(test, *(converted(Value(each, given), kind) for each in parts))
    match given, kind:
        case "truth value", "number":
            return tla.if_(found, tla.number(1), tla.number(0))
        case "number", "set of nodes" if found == tla.number(0):
            return tla.EMPTY
        case "number", Named(names) if found.kind == "num":
            return tla.string(names[found.head])
        case Named(names), "number" if found.kind == "str":
            return tla.number(names.index(found.head))
        case ("text", Named()) | (Named(), "text") | (Named(), Named()):
            return found
        case _, "truth value":
            empty = {INT: tla.number(0), TEXT: tla.string(""), NODES: tla.EMPTY}.get(given)
            empty = E("tuple") if isinstance(given, Seq) else empty
            empty = tla.string(given.names[0]) if isinstance(given, Named) else empty
            if empty is not None:
                return tla.op("#", found, empty)
        case _ if type(given) is type(kind) and is_whole(kind):
            return found
    raise NoTranslation(f"a {_shown(given)} stands where a {_shown(kind)} is needed")


def _shown(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", type(kind).__name__)


def common_type(kinds: list[Any]) -> Any:
    """The type that values of these types can be converted to."""
    named = [each for each in kinds if isinstance(each, Named)]
    order = [each for each in (NODES, INT, BOOL, TEXT) if each in kinds]
    return kinds[0] if len(set(kinds)) == 1 else [*named, *order, kinds[0]][0]


def plus(expression: E, by: int) -> E:
    """The expression and a number more."""
    return tla.op("+", expression, tla.number(by))
