"""What stands for what in TLA+: the types of a spec, their first values, and conversions.

A node is a number, NONE is 0, a set of nodes is a set, a name is a string, a record is a record, an
array is a function from 0, an array by node a function of the nodes, a sequence a sequence (so that
s.log[0] is log[1]), and a bag a set, or a bag of the module Bags if equal items can be in it.
"""

import ast
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, count
from typing import Any, NamedTuple

from protocol_lab.errors import LabError
from protocol_lab.model import layout
from protocol_lab.model.layout import Array, Bag, Named, Node, Per, Seq, is_struct

INT, BOOL, TEXT, NODES, ALL_BUT = "number", "truth value", "text", "set of nodes", "complement"
STATE = "state"
"""Types of values besides those that a state declares. ALL_BUT: what ~nodes is."""

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "\\div", ast.Mod: "%"}
ARITHMETIC |= {ast.Pow: "^"}

_LEVELS = {"\\cup": 8, "\\": 8, "\\cap": 8, "..": 9, "(+)": 10, "(-)": 11, "+": 10, "-": 11}
_LEVELS |= {"*": 13, "\\div": 13, "%": 12, "\\o": 13, "^": 14, "=>": 1, "/\\": 3, "\\/": 3}
_LEVELS |= dict.fromkeys(("=", "#", "<", ">", "<=", ">=", "\\in", "\\notin", "\\subseteq"), 5)
_OPPOSITES = {"=": "#", "<": ">=", ">": "<=", "\\in": "\\notin"}
_OPPOSITES |= {other: sign for sign, other in _OPPOSITES.items()}
ATOM, APPLIED, NOT, PREFIX, OPEN = 20, 17, 4, 9, 0
"""How tightly texts bind: names, f[x], ~x, SUBSET x, and what extends to the right, as IF."""


class NoTranslation(LabError):
    """A piece of a spec that TLA+ does not have, or that this translation does not know."""


class Tla(NamedTuple):
    """A TLA+ expression: its text, how tightly its outermost operator binds, and that operator
    with its operands, where they are known."""

    text: str
    level: int = ATOM
    parts: tuple = ()

    def within(self, least: int) -> str:
        """The text as an operand, in parentheses if need be."""
        return self.text if self.level >= least else f"({self.text})"


TRUE, FALSE, EMPTY, ZERO = Tla("TRUE"), Tla("FALSE"), Tla("{}"), Tla("0")


def number(value: int) -> Tla:
    """A whole number."""
    return Tla(str(int(value)), ATOM if value >= 0 else 12)


def string(value: str) -> Tla:
    """A string."""
    return Tla('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"')


def op(sign: str, left: Tla, right: Tla) -> Tla:
    """A binary operator; sums of numbers are computed."""
    if sign in ("+", "-") and right.text.isdigit():
        by = int(right.text) if sign == "+" else -int(right.text)
        if left.text.lstrip("-").isdigit():
            return number(int(left.text) + by)
        if left.parts and left.parts[0] in ("+", "-") and left.parts[2].text.isdigit():
            by += int(left.parts[2].text) * (1 if left.parts[0] == "+" else -1)
            left = left.parts[1]
        if by == 0:
            return left
        sign, right = ("+", number(by)) if by > 0 else ("-", number(-by))
    level = _LEVELS[sign]
    chained = level + (not (left.parts[:1] == (sign,) and sign in ("+", "\\cup", "/\\", "\\/")))
    space = "" if sign == ".." else " "
    text = f"{left.within(chained)}{space}{sign}{space}{right.within(level + 1)}"
    return Tla(text, level, (sign, left, right))


def plus(value: Tla, by: int) -> Tla:
    """The expression and a number more."""
    return op("+", value, number(by)) if by >= 0 else op("-", value, number(-by))


def conj(*parts: Tla) -> Tla:
    """The conjunction, without what does not matter."""
    return _joined("/\\", parts, TRUE)


def disj(*parts: Tla) -> Tla:
    """The disjunction, without what does not matter."""
    return _joined("\\/", parts, FALSE)


def _joined(sign: str, parts: tuple[Tla, ...], neutral: Tla) -> Tla:
    needed = [each for each in dict.fromkeys(parts) if each != neutral]
    return reduce(partial(op, sign), needed) if needed else neutral


def neg(value: Tla) -> Tla:
    """The negation."""
    if value in (TRUE, FALSE):
        return FALSE if value == TRUE else TRUE
    match value.parts:
        case (sign, left, right) if sign in _OPPOSITES:
            return op(_OPPOSITES[sign], left, right)
        case ("\\/", left, right):
            return conj(neg(left), neg(right))
        case ("~", inner):
            return inner
        case ("\\A" | "\\E" as sign, bound, domain, body):
            return quantified("\\E" if sign == "\\A" else "\\A", bound, domain, neg(body))
    return Tla(f"~{value.within(NOT + 1)}", NOT, ("~", value))


def if_(test: Tla, yes: Tla, no: Tla) -> Tla:
    """IF, or what it amounts to where a branch is TRUE or FALSE."""
    if test in (TRUE, FALSE) or yes == no:
        return no if test == FALSE else yes
    if yes == FALSE:
        return conj(neg(test), no)
    if no == FALSE:
        return conj(test, yes)
    if TRUE in (yes, no):
        return op("=>", neg(test), no) if yes == TRUE and no != FALSE else op("=>", test, yes)
    return Tla(f"IF {test.text} THEN {yes.within(1)} ELSE {no.text}", OPEN, ("IF", test, yes, no))


def quantified(sign: str, bound: str, domain: Tla, body: Tla) -> Tla:
    """\\A, \\E or CHOOSE."""
    text = f"{sign} {bound} \\in {domain.within(6)} : {body.text}"
    return Tla(text, OPEN, (sign, bound, domain, body))


def filtered(bound: str, domain: Tla, test: Tla) -> Tla:
    """{bound \\in domain : test}."""
    return domain if test == TRUE else Tla(f"{{{bound} \\in {domain.within(6)} : {test.text}}}")


def mapped(bound: str, domain: Tla, value: Tla) -> Tla:
    """{value : bound \\in domain}."""
    if value.text == bound:
        return domain
    return Tla(f"{{{value.text} : {bound} \\in {domain.within(6)}}}")


def function(bound: str, domain: Tla, value: Tla) -> Tla:
    """[bound \\in domain |-> value]."""
    return Tla(f"[{bound} \\in {domain.within(6)} |-> {value.text}]")


def with_let(definitions: list[str], value: Tla) -> Tla:
    """LET definitions IN value, if there are any."""
    return Tla(f"LET {' '.join(definitions)} IN {value.text}", OPEN) if definitions else value


def call(operator: str, *given: Tla) -> Tla:
    """An operator with its arguments."""
    return Tla(f"{operator}({', '.join(each.text for each in given)})" if given else operator)


def set_of(*items: Tla) -> Tla:
    """{item, ...}."""
    return Tla("{" + ", ".join(dict.fromkeys(each.text for each in items)) + "}")


def tuple_of(*items: Tla) -> Tla:
    """<<item, ...>>."""
    return Tla("<<" + ", ".join(each.text for each in items) + ">>")


def record(parts: dict[str, Tla]) -> Tla:
    """[field |-> value, ...]."""
    shown = ", ".join(f"{name} |-> {value.text}" for name, value in parts.items())
    return Tla(f"[{shown}]", ATOM, ("record", tuple(parts.items())))


def at(whole: Tla, *steps: str) -> Tla:
    """whole.field or whole[index]; a step is ".field" or "[index]"."""
    return Tla(whole.within(APPLIED) + "".join(steps), APPLIED) if steps else whole


def changed(whole: Tla, steps: tuple[str, ...], value: Tla) -> Tla:
    """[whole EXCEPT !steps = value]; what was changed before gets one more clause."""
    if not steps:
        return value
    whole, clauses = whole.parts[1:] if whole.parts[:1] == ("EXCEPT",) else (whole, ())
    clauses = (*clauses, (steps, value))
    shown = ", ".join(f"!{''.join(steps)} = {value.text}" for steps, value in clauses)
    text = f"[{whole.within(APPLIED)} EXCEPT {shown}]"
    return Tla(text, ATOM, ("EXCEPT", whole, clauses))


def unchanged_at(value: Tla, steps: list[str]) -> Tla | None:
    """The expression that has, at a place, what a changed one has there, since each of its changes
    is of another field; None if there may be none."""
    whole, clauses = value.parts[1:] if value.parts[:1] == ("EXCEPT",) else (value, ())
    apart = whole.parts[:1] != ("IF",) and all(
        any(a != b and a[0] == b[0] == "." for a, b in zip(places, steps, strict=False))
        for places, _ in clauses
    )
    return whole if apart else None


def between(low: Tla, high: Tla) -> Tla:
    """low..high."""
    return op("..", low, high)


class Names(set[str]):
    """The names that have a meaning in the whole module."""

    def new(self, wanted: str) -> str:
        """One more: the one that is wanted, or the first of name_2, name_3, ... that is free."""
        found = unused(wanted, self)
        self.add(found)
        return found


def unused(wanted: str, taken: set[str]) -> str:
    """The name, or the first of name_2, name_3, ... that is not taken."""
    wanted = wanted.strip("_ ")
    wanted = wanted if wanted[:1].isalpha() else "k"
    others = (f"{wanted}_{k}" for k in count(2))
    return next(each for each in chain([wanted], others) if each not in taken)


# --- Values and their types ----------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """An expression with its type. place: the cell and the steps by which it is read, if it is a
    part of the state or of a record, which can be assigned to. known: a Python value instead; of a
    state, how the names of its cells begin."""

    tla: Tla | None
    type: Any = None
    place: tuple[str, ...] = ()
    known: Any = None


NOTHING = Value(string(""), TEXT)
"""What a function returns that returns nothing."""

CONSTANTS = Value(None, known="the constants")


@dataclass(frozen=True)
class Own:
    """The type of an array that is no part of the state: a parameter, or what counts something."""

    domain: Tla
    item: Any = INT


Scope = dict[str, Value]
"""What holds at one point of a function: the values of its variables, by their names, and those of
the cells, whose names have a dot: the fields of a state, as in "s.log", and the records and
containers that are the function's own."""


def cells(scope: Scope) -> Scope:
    """What of a scope a function shares with those that it calls."""
    return {name: value for name, value in scope.items() if "." in name}


def names_first(scope: Scope) -> list[str]:
    """The variables, and then the cells."""
    return sorted(scope, key=lambda name: "." in name)


def type_of(declared: Any) -> Any:
    """The type of a field or annotation."""
    match declared:
        case layout.Integer() | Node():
            return INT
        case layout.Boolean():
            return BOOL
        case layout.NodeSet():
            return NODES
    return {bool: BOOL, int: INT, str: TEXT}.get(declared, declared)


def is_whole(kind: Any) -> bool:
    """Is it more than a number, a name or a set: something that has parts?"""
    return isinstance(kind, Array | Per | Seq | Bag | Own) or is_struct(kind)


def item_of(kind: Any) -> Any:
    """The type of a container's items."""
    return type_of(kind.item)


class Types:
    """The types of one spec. kinds: the names of its kinds of nodes.
    multisets: the bags that may have equal items; added_twice: those that the code shows to be."""

    def __init__(self, kinds: dict[Node, str], multisets: set[Bag], constants: dict[str, str]):
        self.kinds, self.multisets, self.constants = kinds, multisets, constants
        self.added_twice: set[Bag] = set()

    def size(self, size: str | int) -> Tla:
        """A declared size as an expression over constants."""
        return self._sized(ast.parse(str(size), mode="eval").body)

    def _sized(self, node: ast.expr) -> Tla:
        match node:
            case ast.Constant(int(value)):
                return number(value)
            case ast.Name(each):
                return Tla(self.constants.get(each, each))
            case ast.BinOp(left, sign, right):
                return op(ARITHMETIC[type(sign)], self._sized(left), self._sized(right))
        raise NoTranslation(f"The size {ast.unparse(node)!r} has no translation to TLA+.")

    def nodes(self, node: Node) -> Tla:
        """The set of all nodes of a kind."""
        if node in self.kinds:
            return Tla(self.kinds[node])
        return between(Tla("1"), self.size(node.count))

    def up_to(self, count: Tla) -> Tla:
        """1..count, by its name if it is a kind of node."""
        if count == ZERO:
            return EMPTY
        named = (self.nodes(node) for node in self.kinds if self.size(node.count) == count)
        return next(named, between(Tla("1"), count))

    def numbers(self, low: Tla, high: Tla) -> Tla:
        """low..high, by its name if it is a kind of node."""
        return self.up_to(high) if low == Tla("1") else between(low, high)

    def domain(self, kind: Any, now: Tla) -> Tla:
        """The indices of an array or sequence, which is now this expression."""
        if isinstance(kind, Seq):
            return between(Tla("1"), call("Len", now))
        if isinstance(kind, Own):
            return kind.domain
        if isinstance(kind, Per):
            return self.nodes(kind.node)
        return between(ZERO, plus(self.size(kind.size), -1))

    def zero(self, kind: Any, depth: int = 0) -> Tla:
        """The first value of a type: what a field begins as."""
        match kind:
            case Named(names):
                return string(names[0])
            case Array() | Per():
                bound = f"{'k' if isinstance(kind, Array) else 'n'}{depth or ''}"
                item = self.zero(item_of(kind), depth + 1)
                return function(bound, self.domain(kind, EMPTY), item)
            case Seq():
                return Tla("<<>>")
            case Bag() if kind in self.multisets:
                return Tla("EmptyBag")
            case _ if is_struct(kind):
                parts = kind.field_types.items()
                return record({each: self.zero(type_of(t), depth) for each, t in parts})
        return {BOOL: FALSE, INT: ZERO, TEXT: string("")}.get(kind, EMPTY)

    def items(self, kind: Any, now: Tla) -> Tla | None:
        """The set of the items of a container; None if it is no container."""
        if kind in self.multisets:
            return call("BagToSet", now)
        if kind == NODES or isinstance(kind, Bag):
            return now
        return call("Items", now) if isinstance(kind, Seq | Array | Per | Own) else None


def converted(value: Value, kind: Any) -> Tla:
    """The expression of a value as one of another type. Raises NoTranslation if there is none."""
    found, given = value.tla, value.type
    if given == kind and found is not None:
        return found
    if found is not None and found.parts[:1] == ("IF",):
        _, test, *parts = found.parts
        return if_(test, *(converted(Value(each, given), kind) for each in parts))
    match given, kind:
        case "truth value", "number":
            return if_(found, Tla("1"), ZERO)
        case "number", "set of nodes" if found == ZERO:
            return EMPTY
        case ("text", Named()) | (Named(), "text") | (Named(), Named()):
            return found
        case _, "truth value":
            empty = {INT: ZERO, TEXT: string(""), NODES: EMPTY}.get(given)
            empty = Tla("<<>>") if isinstance(given, Seq) else empty
            empty = string(given.names[0]) if isinstance(given, Named) else empty
            if empty is not None:
                return op("#", found, empty)
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
