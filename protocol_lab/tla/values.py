"""What stands for what in TLA+: the types of a spec, their first values, and conversions.

A node is a number, NONE is 0, a set of nodes is a set, a name is a string, a record is a record, an
array is a function from 0, an array by node a function of the nodes, a sequence a sequence (so that
s.log[0] is log[1]), and a bag a set, or a bag of the module Bags if equal items can be in it.
"""

import ast
from dataclasses import dataclass, field, replace
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.spec.layout import (
    Array,
    Bag,
    Boolean,
    Integer,
    Named,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
)
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import Expression

INT, BOOL, TEXT, NODES, ALL_BUT = "number", "truth value", "text", "set of nodes", "complement"
"""Types of values besides those that a state declares. ALL_BUT: what ~nodes is."""


Translation = Any
"""The translation under way, `functions.Functions`: the modules that it imports get it as `t`."""


@dataclass(frozen=True)
class Value:
    """An expression with its type. place: the cell and the path from which it was read, if it is a
    part of the state or of a record, which can be assigned to. known: a Python value instead."""

    expression: Expression | None
    type: Any
    place: tuple[str, tuple] | None = None
    known: Any = None


@dataclass(frozen=True)
class StateNamed:
    """A state as a value: its fields are cells that begin with this prefix."""

    prefix: str


@dataclass(frozen=True)
class OwnList:
    """The type of a list that a function makes to count with."""

    length: Expression
    item: Any


NOTHING = Value(("str", ""), TEXT)
"""What a function returns that returns nothing."""

CONSTANTS = "the constants"


@dataclass(frozen=True)
class Scope:
    """What holds at one point of a function: its variables, the cells, and the bound names."""

    names: dict[str, Value] = field(default_factory=dict)
    cells: dict[str, tuple[Expression, Any]] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()

    def named(self, name: str, value: Value) -> "Scope":
        """The scope with a variable."""
        return replace(self, names={**self.names, name: value})

    def with_cell(self, cell: str, expression: Expression, kind: Any = None) -> "Scope":
        """The scope with another expression for a cell."""
        kind = self.cells[cell][1] if kind is None else kind
        return replace(self, cells={**self.cells, cell: (expression, kind)})

    def binding(self, *names: str) -> "Scope":
        """The scope in which these names are bound."""
        return replace(self, bound=self.bound.union(names))


class NoTranslation(LabError):
    """A piece of a spec that TLA+ does not have, or that this translation does not know."""


def type_of(declared: Any) -> Any:
    """The type of a field or annotation."""
    match declared:
        case Integer() | Node():
            return INT
        case Boolean():
            return BOOL
        case NodeSet():
            return NODES
        case type() if issubclass(declared, Struct):
            return declared.union or declared
    if declared is bool:
        return BOOL
    if declared is int:
        return INT
    if declared is str:
        return TEXT
    return declared


def is_whole(kind: Any) -> bool:
    """Is it more than a number, a name or a set: a part of the state that is a place?"""
    return isinstance(kind, Array | Per | Seq | Bag | OwnList) or (
        isinstance(kind, type) and issubclass(kind, Struct)
    )


class Types:
    """The types of one spec, and the names of its constants and kinds of nodes."""

    def __init__(self, kinds: dict[Node, str], multisets: set[Bag], constants: dict[str, str]):
        self.kinds, self.multisets, self.constants = kinds, multisets, constants
        self.kinds_used: set[Node] = set()

    def size(self, size: str | int) -> Expression:
        """A declared size as an expression over constants."""
        return self._sized(ast.parse(str(size), mode="eval").body)

    def _sized(self, node: ast.expr) -> Expression:
        match node:
            case ast.Constant(int(value)):
                return tla.number(value)
            case ast.Name(each):
                return tla.name(self.constants.get(each, each))
            case ast.BinOp(left, sign, right):
                signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "\\div"}
                signs |= {ast.Pow: "^", ast.Mod: "%"}
                return tla.op(signs[type(sign)], self._sized(left), self._sized(right))
            case ast.Call(ast.Name("min" | "max" as which), given):
                return tla.call(which.capitalize(), ("set", tuple(map(self._sized, given))))
        raise NoTranslation(f"The size {ast.unparse(node)!r} has no translation to TLA+.")

    def nodes(self, node: Node) -> Expression:
        """The set of all nodes of a kind."""
        if node in self.kinds:
            self.kinds_used.add(node)
            return tla.name(self.kinds[node])
        return tla.between(tla.number(1), self.size(node.count))

    def up_to(self, count: Expression) -> Expression:
        """1..count, by its name if it is a kind of node."""
        for node in self.kinds:
            if self.size(node.count) == count:
                return self.nodes(node)
        return tla.between(tla.number(1), count)

    def domain(self, kind: Any) -> Expression:
        """The indices of an array."""
        if isinstance(kind, Per):
            return self.nodes(kind.node)
        if isinstance(kind, OwnList):
            return tla.between(tla.number(0), tla.op("-", kind.length, tla.number(1)))
        return tla.between(tla.number(0), tla.op("-", self.size(kind.size), tla.number(1)))

    def zero(self, kind: Any, depth: int = 0) -> Expression:
        """The first value of a type: what a field begins as."""
        match kind:
            case Named(names):
                return tla.string(names[0])
            case Array() | Per():
                bound = "k" if isinstance(kind, Array) else "n"
                bound += str(depth) if depth else ""
                return ("fn", bound, self.domain(kind), self.zero(type_of(kind.item), depth + 1))
            case Seq():
                return ("tuple", ())
            case Bag():
                return tla.name("EmptyBag") if kind in self.multisets else tla.EMPTY
            case type() if issubclass(kind, Struct):
                parts = kind.field_types.items()
                return ("record", tuple((each, self.zero(type_of(t), depth)) for each, t in parts))
        return {BOOL: tla.FALSE, NODES: tla.EMPTY, TEXT: tla.string("")}.get(kind, tla.number(0))


def converted(value: Value, kind: Any) -> Expression:
    """The expression of a value as one of another type. Raises NoTranslation if there is none."""
    found, given = value.expression, value.type
    if given == kind:
        return found
    if kind == BOOL:
        return truth(value)
    match given, kind:
        case "truth value", "number":
            return tla.if_(found, tla.number(1), tla.number(0))
        case "number", "set of nodes":
            if found == tla.number(0):
                return tla.EMPTY
        case "number", Named(names):
            if found[0] == "num" and found[1] < len(names):
                return tla.string(names[found[1]])
            return tla.index(_names(names), tla.op("+", found, tla.number(1)))
        case Named(names), "number":
            if found[0] == "str":
                return tla.number(names.index(found[1]))
            rest = tla.number(len(names) - 1)
            for k in reversed(range(len(names) - 1)):
                rest = tla.if_(tla.op("=", found, tla.string(names[k])), tla.number(k), rest)
            return rest
        case ("text", Named()) | (Named(), "text") | (Named(), Named()):
            return found
        case (Array(), Array()) | (Per(), Per()) | (Seq(), Seq()) | (Bag(), Bag()):
            return found
        case type(), type():
            return found
    raise NoTranslation(f"a {_shown(given)} stands where a {_shown(kind)} is needed")


def _names(names: tuple[str, ...]) -> Expression:
    return ("tuple", tuple(map(tla.string, names)))


def _shown(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", type(kind).__name__)


def truth(value: Value) -> Expression:
    """A value as a condition."""
    found = value.expression
    if found[0] == "if" and value.type != BOOL:
        parts = (truth(Value(each, value.type)) for each in found[2:])
        return tla.if_(found[1], *parts)
    match value.type:
        case "truth value":
            return found
        case "number":
            return tla.op("#", found, tla.number(0))
        case "text":
            return tla.op("#", found, tla.string(""))
        case "set of nodes":
            return tla.op("#", found, tla.EMPTY)
        case Named(names):
            return tla.op("#", found, tla.string(names[0]))
        case Seq():
            return tla.op("#", found, ("tuple", ()))
    raise NoTranslation(f"a {_shown(value.type)} stands where a truth value is needed")


def common_type(kinds: list[Any]) -> Any:
    """The type that values of these types can be converted to."""
    found = list(dict.fromkeys(kinds))
    if len(found) == 1:
        return found[0]
    for each in found:
        if isinstance(each, Named):
            return each
    for each in (NODES, INT, BOOL, TEXT):
        if each in found:
            return each
    return found[0]
