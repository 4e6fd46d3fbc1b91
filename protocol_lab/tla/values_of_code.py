"""What an expression in a spec's function stands for, if its evaluation changes nothing."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from protocol_lab.model import containers, node_sets
from protocol_lab.model.constants import limits_of
from protocol_lab.model.layout import Array, Bag, Named, Per, Seq, Struct
from protocol_lab.reader.source_code import error_at, names_read
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import FALSE, TRUE, E
from protocol_lab.tla.values import (
    ALL_BUT,
    ARITHMETIC,
    BOOL,
    CONSTANTS,
    INT,
    NODES,
    TEXT,
    NoTranslation,
    Own,
    Scope,
    StateNamed,
    Types,
    Value,
    common_type,
    converted,
    is_record,
    is_whole,
    item_of,
    plus,
    type_of,
)

_SIGNS = {ast.Eq: "=", ast.NotEq: "#", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_SIGNS |= {ast.Is: "=", ast.IsNot: "#"}
_GENERATORS = ast.GeneratorExp | ast.ListComp | ast.SetComp


@dataclass(frozen=True)
class Items:
    """What a loop or a comprehension goes through: the names bound#1 from a set stand for `values`.

    in_order: whether it is a set of numbers, which are met in their order.
    """

    bound: str
    domain: E
    values: dict[str, Value]
    in_order: bool = False


class ValuesOfCode:
    """Reads expressions; `functions.Functions` adds statements, and the calls of helpers."""

    helper: Callable[..., Value]

    def __init__(self, types: Types, constants: type, taken: set[str]):
        self.types, self.taken, self.limits = types, taken, limits_of(constants)
        self.globals: dict[tuple[str, int], str] = {}
        self.function: Callable = None

    def fail(self, node: ast.AST, told: str) -> NoTranslation:
        """The error that a piece of code has no translation."""
        return NoTranslation(str(error_at(self.function, node, told)))

    def convert(self, value: Value, kind: Any, node: ast.AST) -> E:
        """A value as one of another type; where there is none the error names the place."""
        try:
            return converted(value, kind)
        except NoTranslation as error:
            raise self.fail(node, f"this has no translation to TLA+, since {error}") from None

    def read(self, value: Value, scope: Scope) -> Value:
        """A value with its expression: what is at its place now."""
        if value.place is None:
            return value
        cell, path = value.place
        return Value(tla.follow(scope.cells[cell], path), value.type)

    def copied(self, value: Value, scope: Scope) -> Value:
        """A value that stays what it is: only containers and records are parts of the state."""
        return value if is_whole(value.type) else self.read(value, scope)

    def now(self, node: ast.expr, scope: Scope) -> Value:
        """An expression's value, read from its place."""
        return self.read(self.value(node, scope), scope)

    def as_(self, kind: Any, node: ast.expr, scope: Scope) -> E:
        """An expression's value as one of a type."""
        return self.convert(self.now(node, scope), kind, node)

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """An expression's value; a part of the state is a place."""
        match node:
            case ast.Constant(bool() | int() | str() as value):
                return self.of_python(node, "", value)
            case ast.JoinedStr():
                return Value(tla.string("..."), TEXT)
            case ast.Name(name) if name in scope.names:
                return scope.names[name]
            case ast.Name(name):
                outside = names_read(self.function)
                if name in outside:
                    return self.of_python(node, name, outside[name])
            case ast.Attribute(value, name):
                return self._attribute(node, self.value(value, scope), name, scope)
            case ast.Subscript(value, at) if not isinstance(at, ast.Slice):
                return self._item(node, self.value(value, scope), at, scope)
            case ast.UnaryOp(ast.Not(), operand):
                return Value(tla.neg(self.as_(BOOL, operand, scope)), BOOL)
            case ast.UnaryOp(ast.USub(), operand):
                return Value(tla.op("-", tla.number(0), self.as_(INT, operand, scope)), INT)
            case ast.UnaryOp(ast.Invert(), operand):
                return Value(self.as_(NODES, operand, scope), ALL_BUT)
            case ast.BoolOp(sign, parts):
                join = tla.conj if isinstance(sign, ast.And) else tla.disj
                return Value(join(*(self.as_(BOOL, each, scope) for each in parts)), BOOL)
            case ast.Compare(left, signs, others):
                sides = [self.value(each, scope) for each in (left, *others)]
                found = (
                    self._compared(node, *each, scope) for each in zip(signs, sides, sides[1:])
                )
                return Value(tla.conj(*found), BOOL)
            case ast.BinOp():
                return self._arithmetic(node, scope)
            case ast.IfExp(test, yes, no):
                test = self.as_(BOOL, test, scope)
                if test in (TRUE, FALSE):
                    return self.value(yes if test == TRUE else no, scope)
                values = [self.now(each, scope) for each in (yes, no)]
                kind = common_type([each.type for each in values])
                return Value(tla.if_(test, *(self.convert(v, kind, node) for v in values)), kind)
            case ast.List(parts) | ast.Tuple(parts) | ast.Set(parts):
                return Value(None, "list", known=[self.now(each, scope) for each in parts])
            case ast.Call():
                return self._call(node, scope)
        raise self.fail(node, "this has no translation to TLA+")

    def of_python(self, node: ast.AST, name: str, value: Any) -> Value:
        """The value of a literal, or of a name that a module has."""
        if isinstance(value, bool):
            return Value(tla.boolean(value), BOOL)
        if isinstance(value, int) and name.isupper():
            if (name, value) not in self.globals:
                self.globals[name, value] = tla.unused(name, self.taken)
                self.taken.add(self.globals[name, value])
            return Value(tla.name(self.globals[name, value]), INT)
        if isinstance(value, int):
            return Value(tla.number(value), INT)
        if isinstance(value, str):
            return Value(tla.string(value), TEXT)
        if isinstance(value, tuple | frozenset | range):
            return Value(None, "list", known=[self.of_python(node, "", each) for each in value])
        return Value(None, "object", known=value)

    # --- Parts -----------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, of: Value, name: str, scope: Scope) -> Value:
        kind = of.type
        if of == CONSTANTS:
            choices = self.limits[name].choices
            kind = BOOL if choices == ("false", "true") else Named(*choices) if choices else INT
            return Value(tla.name(self.types.constants[name]), kind)
        if isinstance(of.known, StateNamed) and of.known.prefix + name in scope.cells:
            kind = type_of(self.fields[name])
            return Value(None, kind, (of.known.prefix + name, ()))
        if isinstance(kind, Seq | Bag) and name in ("length", "size"):
            return self._length(node, self.read(of, scope))
        if is_record(kind) and name in kind.field_types:
            return self.part(of, name, type_of(kind.field_types[name]))
        raise self.fail(node, "what this is can't be told, so it has no translation to TLA+")

    def part(self, of: Value, step: str | E, kind: Any) -> Value:
        """A field or item of a value: at a place if that is one."""
        if of.place:
            return Value(None, kind, (of.place[0], (*of.place[1], step)))
        return Value(tla.at(of.expression, step), kind)

    def _item(self, node: ast.Subscript, of: Value, at: ast.expr, scope: Scope) -> Value:
        found = self.as_(INT, at, scope)
        if not isinstance(of.type, Seq | Array | Per | Own):
            raise self.fail(node, "what this is an item of has no order in TLA+")
        return self.part(
            of, plus(found, 1) if isinstance(of.type, Seq) else found, item_of(of.type)
        )

    def _length(self, node: ast.AST, of: Value) -> Value:
        if isinstance(of.known, list):
            return Value(tla.number(len(of.known)), INT)
        if isinstance(of.type, Seq):
            return Value(tla.call("Len", of.expression), INT)
        if of.type in self.types.multisets:
            return Value(tla.call("BagCardinality", of.expression), INT)
        if of.type == NODES or isinstance(of.type, Bag):
            return Value(tla.call("Cardinality", of.expression), INT)
        if isinstance(of.type, Array | Own):
            return Value(plus(self.types.domain(of.type, of.expression).parts[1], 1), INT)
        raise self.fail(node, "the length of this has no translation to TLA+")

    # --- Operations ------------------------------------------------------------------------------

    def _compared(self, node: ast.AST, sign: ast.cmpop, a: Value, b: Value, scope: Scope) -> E:
        a, b = self.read(a, scope), self.read(b, scope)
        if isinstance(sign, ast.In | ast.NotIn):
            found = self._is_in(node, a, b)
            return tla.neg(found) if isinstance(sign, ast.NotIn) else found
        shown = _SIGNS[type(sign)]
        kind = common_type([a.type, b.type]) if shown in "=#" else INT
        if kind == NODES:
            a, b = map(self._unmasked, (a, b))
        left, right = (self.convert(each, kind, node) for each in (a, b))
        for one, other in ((left, right), (right, left)):
            if kind == BOOL and one in (TRUE, FALSE):
                return other if (one == TRUE) == (shown == "=") else tla.neg(other)
        return tla.op(shown, left, right)

    def _unmasked(self, value: Value) -> Value:
        """2 ** (n + 1) - 2 is the set 1..n."""
        match value.expression:
            case E("op", "-", (E("op", "^", (E("num", 2), power)), E("num", 2))):
                return Value(self.types.up_to(plus(power, -1)), NODES)
        return value

    def _is_in(self, node: ast.AST, item: Value, of: Value) -> E:
        if isinstance(of.known, list):
            kind = common_type([item.type, *(each.type for each in of.known)])
            given = E("set", None, tuple(self.convert(each, kind, node) for each in of.known))
            return tla.op("\\in", self.convert(item, kind, node), given)
        items = self.types.items(of.type, of.expression)
        if items is None:
            raise self.fail(node, "what is asked with `in` is no set that TLA+ could have")
        kind = INT if of.type == NODES else item_of(of.type)
        return tla.op("\\in", self.convert(item, kind, node), items)

    def _arithmetic(self, node: ast.BinOp, scope: Scope) -> Value:
        sign = type(node.op)
        left, right = self.now(node.left, scope), self.now(node.right, scope)
        kinds = {left.type, right.type}
        if kinds & {NODES, ALL_BUT} and sign in (ast.BitAnd, ast.BitOr):
            if left.type == ALL_BUT:
                left, right = right, left
            less = sign is ast.BitAnd and right.type == ALL_BUT
            a = self.convert(left, NODES, node)
            b = right.expression if less else self.convert(right, NODES, node)
            signs = "\\" if less else "\\cap" if sign is ast.BitAnd else "\\cup"
            return Value(tla.op(signs, a, b), NODES)
        if sign not in ARITHMETIC:
            raise self.fail(
                node, "bits of a number have no translation to TLA+, but sets of nodes do"
            )
        a, b = (self.convert(each, INT, node) for each in (left, right))
        return Value(tla.op(ARITHMETIC[sign], a, b), INT)

    # --- Calls -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        given = node.args
        match node.func:
            case ast.Name(name) if name not in names_read(self.function) and (
                name not in scope.names
            ):
                return self._built_in(name, node, scope)
        called = self.value(node.func, scope).known
        if isinstance(called, type) and issubclass(called, Struct):
            return self._record(called, node, scope)
        if called in _OF_SETS:
            kinds = (INT,) if called in (node_sets.only, node_sets.nodes_up_to) else (NODES, INT)
            kinds = (NODES, NODES) if called is node_sets.is_subset else kinds
            values = [self.as_(kind, each, scope) for kind, each in zip(kinds, given, strict=False)]
            kind, make = _OF_SETS[called]
            return Value(make(self.types, *values), kind)
        if called is containers.last:
            of = self.value(given[0], scope)
            end = tla.call("Len", self.read(of, scope).expression)
            return self.part(of, end, item_of(of.type))
        if called is containers.is_in:
            of, item = (self.now(each, scope) for each in given)
            return Value(self._is_in(node, item, of), BOOL)
        if not is_helper(called):
            raise self.fail(node, "this call has no translation to TLA+")
        return self.helper(called, node, scope)

    def _record(self, declared: type[Struct], node: ast.Call, scope: Scope) -> Value:
        kind = type_of(declared)
        zero = self.types.zero(kind)
        parts = dict(zip(zero.head, zero.parts, strict=True))
        if declared.union is not None:
            parts["kind"] = tla.string(declared.__name__)
        for each in node.keywords:
            parts[each.arg] = self.as_(type_of(kind.field_types[each.arg]), each.value, scope)
        return Value(tla.record(**parts), kind)

    def _built_in(self, name: str, node: ast.Call, scope: Scope) -> Value:
        given = node.args
        if name == "len":
            return self._length(node, self.now(given[0], scope))
        if name in ("int", "bool"):
            kind = INT if name == "int" else BOOL
            return Value(self.as_(kind, given[0], scope), kind)
        if name in ("min", "max") and len(given) > 1:
            parts = dict.fromkeys(self.as_(INT, each, scope) for each in given)
            return Value(tla.call(name.capitalize(), E("set", None, tuple(parts))), INT)
        if name not in ("any", "all", "sum", "min", "max"):
            raise self.fail(node, "this call has no translation to TLA+")
        each = given[0]
        if not isinstance(each, _GENERATORS):  # sum(numbers) is sum(k for k in numbers)
            load, store = ast.Name("k", ast.Load()), ast.Name("k", ast.Store())
            each = ast.GeneratorExp(load, [ast.comprehension(store, each, [], 0)])
            ast.fix_missing_locations(ast.copy_location(each, node))
        if name in ("any", "all"):
            return Value(self._quantified(name, each.elt, each.generators, scope), BOOL)
        if name == "sum":
            return Value(self._sum(each.elt, each.generators, scope), INT)
        values = self._set_of(each.elt, each.generators, scope)
        found = tla.call(name.capitalize(), values)
        for default in node.keywords:
            empty = tla.op("=", values, tla.EMPTY)
            found = tla.if_(empty, self.as_(INT, default.value, scope), found)
        return Value(found, INT)

    def _quantified(self, name: str, element: ast.expr, generators: list, scope: Scope) -> E:
        if not generators:
            return self.as_(BOOL, element, scope)
        items, inner, test = self._first_of(generators, scope, any_order=True)
        body = self._quantified(name, element, generators[1:], inner)
        if name == "all":
            return tla.quantified("\\A", items.bound, items.domain, tla.disj(tla.neg(test), body))
        return tla.quantified("\\E", items.bound, items.domain, tla.conj(test, body))

    def _set_of(self, element: ast.expr, generators: list, scope: Scope) -> E:
        items, inner, test = self._first_of(generators, scope, any_order=True)
        domain = tla.filtered(items.bound, items.domain, test)
        if generators[1:]:
            values = self._set_of(element, generators[1:], inner)
            return E("prefix", "UNION", (tla.mapped(items.bound, domain, values),))
        return tla.mapped(items.bound, domain, self.as_(INT, element, inner))

    def _sum(self, element: ast.expr, generators: list, scope: Scope) -> E:
        items, inner, test = self._first_of(generators, scope)
        if generators[1:]:
            return total(items, test, self._sum(element, generators[1:], inner))
        value = self.now(element, inner)
        if value.type == BOOL:
            return total(items, tla.conj(test, value.expression), tla.number(1))
        return total(items, test, self.convert(value, INT, element))

    def _first_of(
        self, generators: list, scope: Scope, any_order: bool = False
    ) -> tuple[Items, Scope, E]:
        first = generators[0]
        items = self.items(first.target, first.iter, scope, any_order)
        inner = scope.named(**items.values)
        return items, inner, tla.conj(*(self.as_(BOOL, each, inner) for each in first.ifs))

    # --- Loops -----------------------------------------------------------------------------------

    def items(self, target: ast.expr, of: ast.expr, scope: Scope, any_order: bool = False) -> Items:
        """What `for target in of` goes through. any_order: neither the order nor equal items
        matter, so that items are drawn from their set and not by their indices."""
        called = of.func.id if isinstance(of, ast.Call) and isinstance(of.func, ast.Name) else ""
        function = names_read(self.function).get(called)
        if called == "enumerate" and function is None:
            inner = self.items(target.elts[1], of.args[0], scope)
            first = 1 if isinstance(self.value(of.args[0], scope).type, Seq) else 0
            position = Value(plus(tla.name(inner.bound), -first), INT)
            return replace(inner, values=inner.values | {target.elts[0].id: position})
        if not isinstance(target, ast.Name):
            raise self.fail(target, "this variable of a loop has no translation to TLA+")
        bound = tla.fresh(target.id)
        one = tla.name(bound)
        if called == "range" and function is None and len(of.args) < 3:
            low, high = (self.as_(INT, each, scope) for each in [ast.Constant(0), *of.args][-2:])
            high = plus(high, -1)
            is_kind = low == tla.number(1)
            domain = self.types.up_to(high) if is_kind else tla.between(low, high)
            return Items(bound, domain, {target.id: Value(one, INT)}, in_order=True)
        if function is node_sets.subsets:
            domain = E("prefix", "SUBSET", (self.as_(NODES, of.args[0], scope),))
            return Items(bound, domain, {target.id: Value(one, NODES)})
        if function is node_sets.members or called in ("list", "tuple"):
            of = of.args[0]
        found = self.value(of, scope)
        if isinstance(found.known, list):
            kind = common_type([each.type for each in found.known])
            domain = E("set", None, tuple(self.convert(each, kind, of) for each in found.known))
            return Items(bound, domain, {target.id: Value(one, kind)}, in_order=kind == INT)
        now = self.read(found, scope).expression
        domain = self.types.items(found.type, now)
        if domain is None:
            raise self.fail(of, "what this goes through can't be told")
        if found.type == NODES:
            return Items(bound, domain, {target.id: Value(one, INT)}, in_order=True)
        if found.type in self.types.multisets and not any_order:
            raise self.fail(
                of, "TLA+ has no order for equal items of a bag, so no loop through them"
            )
        if any_order or isinstance(found.type, Bag):
            return Items(bound, domain, {target.id: Value(one, item_of(found.type))})
        bound = tla.fresh("k")
        item = self.part(found, tla.name(bound), item_of(found.type))
        domain = self.types.domain(found.type, now)
        return Items(bound, domain, {target.id: item}, in_order=True)


def total(items: Items, test: E, value: E) -> E:
    """The sum of a value over all items for which the test holds."""
    domain = tla.filtered(items.bound, items.domain, test)
    if value == tla.number(1):
        return tla.call("Cardinality", domain)
    return tla.call("Sum", E("fn", items.bound, (domain, value)))


def is_helper(called: Any) -> bool:
    """Is it a function of a spec, rather than of the kit or of Python?"""
    return inspect.isfunction(called) and not called.__module__.startswith("protocol_lab.")


_OF_SETS: dict[Any, tuple[Any, Callable[..., E]]] = {
    node_sets.with_node: (NODES, lambda t, nodes, one: tla.op("\\cup", nodes, tla.single(one))),
    node_sets.without_node: (NODES, lambda t, nodes, one: tla.op("\\", nodes, tla.single(one))),
    node_sets.only: (NODES, lambda t, one: tla.single(one)),
    node_sets.nodes_up_to: (NODES, lambda t, count: t.up_to(count)),
    node_sets.size: (INT, lambda t, nodes: tla.call("Cardinality", nodes)),
    node_sets.is_subset: (BOOL, lambda t, nodes, of: tla.op("\\subseteq", nodes, of)),
    node_sets.smallest: (INT, lambda t, nodes: tla.call("Smallest", nodes)),
    node_sets.contains: (BOOL, lambda t, nodes, one: tla.op("\\in", one, nodes)),
}
