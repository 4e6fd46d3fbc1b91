"""What an expression in a spec's function stands for, if its evaluation changes nothing."""

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from protocol_lab.model import containers, node_sets
from protocol_lab.model.constants import limits_of
from protocol_lab.model.layout import Array, Bag, Named, Per, Seq, Struct, is_struct
from protocol_lab.model.spec import Spec
from protocol_lab.reader.source_code import error_at, is_of_protocol, names_read
from protocol_lab.tla import values as tla
from protocol_lab.tla.values import BOOL, INT, NODES, TRUE, Scope, Tla, Value, cells, item_of, plus

_SIGNS = {ast.Eq: "=", ast.NotEq: "#", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_SIGNS |= {ast.Is: "=", ast.IsNot: "#"}

_LONG = 40
"""Longer expressions that are used again get a name."""


@dataclass(frozen=True)
class Items:
    """What a loop or a comprehension goes through: the names `bound` from a set stand for `values`.

    in_order: whether it is a set of numbers, which are met in their order.
    """

    bound: str
    domain: Tla
    values: dict[str, Value]
    in_order: bool = False


class Expressions:
    """Reads expressions; `functions.Functions` adds statements, and the calls of helpers.

    definitions: what LET defines around the expression that is read. local: the names in use.
    """

    helper: Callable[..., Value]

    def __init__(self, types: tla.Types, spec: Spec, taken: tla.Names):
        self.types, self.taken = types, taken
        self.limits, self.fields = limits_of(spec.constants), spec.state.field_types
        self.globals: dict[tuple[str, int], str] = {}
        self.function: Callable = None
        self.definitions: list[str] = []
        self.local: set[str] = set()

    # --- Names -----------------------------------------------------------------------------------

    def fresh(self, wanted: str) -> str:
        """A name that nothing else has in this definition."""
        found = tla.unused(wanted.rpartition(".")[2], self.taken | self.local)
        self.local.add(found)
        return found

    def named(self, wanted: str, value: Tla) -> Tla:
        """A short expression as it is; for another a name that LET defines."""
        return value if len(value.text) <= _LONG else self.defined_as(wanted, value)

    def defined_as(self, wanted: str, value: Tla) -> Tla:
        """A name that LET defines as an expression."""
        name = self.fresh(wanted)
        self.definitions.append(f"{name} == {value.text}")
        return Tla(name)

    @contextmanager
    def inside(self, first: Iterable[str] = ()) -> Iterator[Callable[[Tla], Tla]]:
        """For what is read inside of a quantifier or the like; gives a function that puts a LET
        before it, which begins with these definitions."""
        before, names, self.definitions = self.definitions, set(self.local), [*first]
        own = self.definitions
        yield partial(tla.with_let, own)
        self.definitions, self.local = before, names

    # --- Values ----------------------------------------------------------------------------------

    def fail(
        self, node: ast.AST, told: str = "this has no translation to TLA+"
    ) -> tla.NoTranslation:
        """The error that a piece of code has no translation."""
        return tla.NoTranslation(str(error_at(self.function, node, told)))

    def convert(self, value: Value, kind: Any, node: ast.AST) -> Tla:
        """A value as one of another type; where there is none the error names the place."""
        try:
            return tla.converted(value, kind)
        except tla.NoTranslation as error:
            raise self.fail(node, f"this has no translation to TLA+, since {error}") from None

    def read(self, value: Value, scope: Scope) -> Value:
        """A value with its expression: what is at its place now."""
        if not value.place:
            return value
        key, *steps = value.place
        whole = tla.unchanged_at(scope[key].tla, steps)
        if whole is None:
            if steps or len(scope[key].tla.text) > _LONG:
                self.settle(key, scope)
            whole = scope[key].tla
        return Value(tla.at(whole, *steps), value.type)

    def settle(self, key: str, scope: Scope) -> None:
        """Give a name to a cell that was changed, or that differs by path."""
        cell = scope[key]
        if cell.tla.parts[:1] in (("EXCEPT",), ("IF",)):
            scope[key] = replace(cell, tla=self.defined_as(key, cell.tla))

    def settle_all(self, scope: Scope) -> None:
        """Give a name to each of them."""
        for key in cells(scope):
            self.settle(key, scope)

    def copied(self, value: Value, scope: Scope) -> Value:
        """A value that stays what it is: only containers and records are parts of the state."""
        return value if tla.is_whole(value.type) else self.read(value, scope)

    def now(self, node: ast.expr, scope: Scope) -> Value:
        """An expression's value, read from its place."""
        return self.read(self.value(node, scope), scope)

    def as_(self, kind: Any, node: ast.expr, scope: Scope) -> Tla:
        """An expression's value as one of a type."""
        return self.convert(self.now(node, scope), kind, node)

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """An expression's value; a part of the state is a place."""
        found = self._evaluated(node, scope)
        if found is None:
            raise self.fail(node)
        return found

    def _evaluated(self, node: ast.expr, scope: Scope) -> Value | None:
        """The same; None for what has no translation."""
        match node:
            case ast.Constant(bool() | int() | str() as value):
                return self.of_python("", value)
            case ast.JoinedStr():
                return Value(tla.string("..."), tla.TEXT)
            case ast.Name(name) if name in scope:
                return scope[name]
            case ast.Name(name):
                outside = names_read(self.function)
                if name in outside:
                    return self.of_python(name, outside[name])
            case ast.Attribute(value, name):
                return self._attribute(self.value(value, scope), name, scope)
            case ast.Subscript(value, at) if not isinstance(at, ast.Slice):
                return self._item(self.value(value, scope), self.as_(INT, at, scope))
            case ast.UnaryOp(ast.Not(), operand):
                return Value(tla.neg(self.as_(BOOL, operand, scope)), BOOL)
            case ast.UnaryOp(ast.USub(), operand):
                operand = self.as_(INT, operand, scope)
                return Value(Tla(f"-{operand.within(14)}", 12), INT)
            case ast.UnaryOp(ast.Invert(), operand):
                return Value(self.as_(NODES, operand, scope), tla.ALL_BUT)
            case ast.BoolOp(sign, parts):
                join = tla.conj if isinstance(sign, ast.And) else tla.disj
                return Value(join(*(self.as_(BOOL, each, scope) for each in parts)), BOOL)
            case ast.Compare(left, signs, others):
                sides = [self.value(each, scope) for each in (left, *others)]
                pairs = zip(signs, sides, sides[1:], strict=False)
                return Value(
                    tla.conj(*(self._compared(node, *each, scope) for each in pairs)), BOOL
                )
            case ast.BinOp():
                return self._arithmetic(node, scope)
            case ast.IfExp(test, yes, no):
                test = self.as_(BOOL, test, scope)
                values = [self.now(each, scope) for each in (yes, no)]
                kind = tla.common_type([each.type for each in values])
                return Value(tla.if_(test, *(self.convert(v, kind, node) for v in values)), kind)
            case ast.Call():
                return self._call(node, scope)
        return None

    def of_python(self, name: str, value: Any) -> Value:
        """The value of a literal, or of a name that a module has."""
        if isinstance(value, bool):
            return Value(TRUE if value else tla.FALSE, BOOL)
        if isinstance(value, int) and name.isupper():
            if (name, value) not in self.globals:
                self.globals[name, value] = self.taken.new(name)
            return Value(Tla(self.globals[name, value]), INT)
        if isinstance(value, int):
            return Value(tla.number(value), INT)
        if isinstance(value, str):
            return Value(tla.string(value), tla.TEXT)
        return Value(None, "object", known=value)

    # --- Parts -----------------------------------------------------------------------------------

    def _attribute(self, of: Value, name: str, scope: Scope) -> Value | None:
        kind = of.type
        if of == tla.CONSTANTS:
            choices = self.limits[name].choices
            kind = BOOL if choices == ("false", "true") else Named(*choices) if choices else INT
            return Value(Tla(self.types.constants[name]), kind)
        if of.type == tla.STATE and of.known + name in scope:
            return Value(None, tla.type_of(self.fields[name]), (of.known + name,))
        if isinstance(kind, Seq | Bag):
            return of if name == "items" else self._length(self.read(of, scope))
        if is_struct(kind) and name in kind.field_types:
            return self.part(of, f".{name}", tla.type_of(kind.field_types[name]))
        return None

    def part(self, of: Value, step: str, kind: Any) -> Value:
        """A field or item of a value: at a place if that is one."""
        if of.place:
            return Value(None, kind, (*of.place, step))
        return Value(tla.at(of.tla, step), kind)

    def _item(self, of: Value, index: Tla) -> Value | None:
        if not isinstance(of.type, Seq | Array | Per | tla.Own):
            return None
        index = plus(index, 1) if isinstance(of.type, Seq) else index
        return self.part(of, f"[{index.text}]", item_of(of.type))

    def _length(self, of: Value) -> Value | None:
        if isinstance(of.type, Array | tla.Own):
            return Value(plus(self.types.domain(of.type, of.tla).parts[2], 1), INT)
        if isinstance(of.type, Seq | Bag) or of.type == NODES:
            counts = "BagCardinality" if of.type in self.types.multisets else "Cardinality"
            return Value(tla.call("Len" if isinstance(of.type, Seq) else counts, of.tla), INT)
        return None

    # --- Operations ------------------------------------------------------------------------------

    def _compared(self, node: ast.AST, sign: ast.cmpop, a: Value, b: Value, scope: Scope) -> Tla:
        a, b = self.read(a, scope), self.read(b, scope)
        if isinstance(sign, ast.In | ast.NotIn):
            found = self._is_in(node, a, b)
            return tla.neg(found) if isinstance(sign, ast.NotIn) else found
        shown = _SIGNS[type(sign)]
        kind = tla.common_type([a.type, b.type]) if shown in "=#" else INT
        if kind == NODES:
            a, b = map(self._unmasked, (a, b))
        return tla.op(shown, *(self.convert(each, kind, node) for each in (a, b)))

    def _unmasked(self, value: Value) -> Value:
        """2 ** (n + 1) - 2 is the set 1..n."""
        match value.tla and value.tla.parts:
            case ("-", Tla(parts=("^", Tla("2"), power)), Tla("2")):
                return Value(self.types.up_to(plus(power, -1)), NODES)
        return value

    def _is_in(self, node: ast.AST, item: Value, of: Value) -> Tla:
        items = self.types.items(of.type, of.tla)
        if items is None:
            raise self.fail(node)
        kind = INT if of.type == NODES else item_of(of.type)
        return tla.op("\\in", self.convert(item, kind, node), items)

    def _arithmetic(self, node: ast.BinOp, scope: Scope) -> Value:
        sign = type(node.op)
        left, right = self.now(node.left, scope), self.now(node.right, scope)
        if {left.type, right.type} & {NODES, tla.ALL_BUT} and sign in (ast.BitAnd, ast.BitOr):
            if left.type == tla.ALL_BUT:
                left, right = right, left
            less = sign is ast.BitAnd and right.type == tla.ALL_BUT
            a = self.convert(left, NODES, node)
            b = right.tla if less else self.convert(right, NODES, node)
            signs = "\\" if less else "\\cap" if sign is ast.BitAnd else "\\cup"
            return Value(tla.op(signs, a, b), NODES)
        if sign not in tla.ARITHMETIC:
            raise self.fail(
                node, "bits of a number have no translation to TLA+, but sets of nodes do"
            )
        a, b = (self.convert(each, INT, node) for each in (left, right))
        return Value(tla.op(tla.ARITHMETIC[sign], a, b), INT)

    # --- Calls -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: Scope) -> Value | None:
        given = node.args
        match node.func:
            case ast.Name(name) if name not in names_read(self.function) and (name not in scope):
                return self._built_in(name, node, scope)
        called = self.value(node.func, scope).known
        if is_struct(called):
            return self._record(called, node, scope)
        if called in _OF_SETS:
            kinds, kind, make = _OF_SETS[called]
            values = [self.as_(of, each, scope) for of, each in zip(kinds, given, strict=False)]
            return Value(make(self.types, *values), kind)
        if called is containers.last:
            of = self.value(given[0], scope)
            return self.part(of, f"[Len({self.read(of, scope).tla.text})]", item_of(of.type))
        if not is_of_protocol(called):
            return None
        return self.helper(called, node, scope)

    def _record(self, declared: type[Struct], node: ast.Call, scope: Scope) -> Value:
        kind = tla.type_of(declared)
        _, zero = self.types.zero(kind).parts
        parts = dict(zero)
        for each in node.keywords:
            parts[each.arg] = self.as_(tla.type_of(kind.field_types[each.arg]), each.value, scope)
        return Value(tla.record(parts), kind)

    def _built_in(self, name: str, node: ast.Call, scope: Scope) -> Value | None:
        given = node.args
        if name == "len":
            return self._length(self.now(given[0], scope))
        if name in ("int", "bool"):
            kind = INT if name == "int" else BOOL
            return Value(self.as_(kind, given[0], scope), kind)
        if name in ("min", "max") and len(given) > 1:
            parts = [self.as_(INT, each, scope) for each in given]
            return Value(tla.call(name.capitalize(), tla.set_of(*parts)), INT)
        match name, given:
            case "any" | "all" | "sum", [ast.GeneratorExp(element, generators)]:
                value = self._reduced(name, element, generators, scope)
                return Value(value, INT if name == "sum" else BOOL)
            case "min" | "max", [ast.GeneratorExp(element, generators)] if not node.keywords:
                values = self._reduced("set", element, generators, scope)
                return Value(tla.call(name.capitalize(), values), INT)
        return None

    def _reduced(self, name: str, element: ast.expr, generators: list, scope: Scope) -> Tla:
        """What any, all or sum gives of a generator, or its set of values."""
        if not generators:
            return self.as_(INT if name in ("sum", "set") else BOOL, element, scope)
        first, *rest = generators
        items = self.items(first.target, first.iter, scope, any_order=name != "sum")
        with self.inside() as let:
            inner = scope | items.values
            tests = tla.conj(*(self.as_(BOOL, each, inner) for each in first.ifs))
            value = self._reduced(name, element, rest, inner)
            if name in ("any", "all"):
                sign, join = ("\\E", tla.conj) if name == "any" else ("\\A", _implied)
                return tla.quantified(sign, items.bound, items.domain, let(join(tests, value)))
            domain = tla.filtered(items.bound, items.domain, let(tests))
            if name == "set":
                found = tla.mapped(items.bound, domain, let(value))
                return Tla(f"UNION {found.text}", tla.PREFIX) if rest else found
            if value == Tla("1"):
                return tla.call("Cardinality", domain)
            return tla.call("Sum", tla.function(items.bound, domain, let(value)))

    # --- Loops -----------------------------------------------------------------------------------

    def items(self, target: ast.expr, of: ast.expr, scope: Scope, any_order: bool = False) -> Items:
        """What `for target in of` goes through. any_order: neither the order nor equal items
        matter, so that items are drawn from their set and not by their indices."""
        called = of.func.id if isinstance(of, ast.Call) and isinstance(of.func, ast.Name) else ""
        function = names_read(self.function).get(called)
        if not isinstance(target, ast.Name):
            raise self.fail(target)

        def drawn(domain: Tla, kind: Any, in_order: bool = False) -> Items:
            bound = self.fresh(target.id)
            return Items(bound, domain, {target.id: Value(Tla(bound), kind)}, in_order)

        if called == "range" and function is None and len(of.args) < 3:
            low, high = (self.as_(INT, each, scope) for each in [ast.Constant(0), *of.args][-2:])
            return drawn(self.types.numbers(low, plus(high, -1)), INT, True)
        if function is node_sets.subsets:
            every = self.as_(NODES, of.args[0], scope)
            return drawn(Tla(f"SUBSET {every.within(16)}", tla.PREFIX), NODES)
        found = self.value(of, scope)
        now = self.read(found, scope).tla
        domain = self.types.items(found.type, now)
        if domain is None:
            raise self.fail(of)
        if found.type == NODES:
            return drawn(domain, INT, True)
        if found.type in self.types.multisets and not any_order:
            raise self.fail(
                of, "TLA+ has no order for equal items of a bag, so no loop through them"
            )
        if any_order or isinstance(found.type, Bag):
            return drawn(domain, item_of(found.type))
        bound = self.fresh("k")
        item = self.part(found, f"[{bound}]", item_of(found.type))
        return Items(bound, self.types.domain(found.type, now), {target.id: item}, True)


def _implied(test: Tla, value: Tla) -> Tla:
    return tla.if_(test, value, TRUE)


_SET_AND_NODE = NODES, INT
_OF_SETS: dict[Any, tuple[tuple, Any, Callable[..., Tla]]] = {
    node_sets.with_node: (
        _SET_AND_NODE, NODES, lambda t, nodes, one: tla.op("\\cup", nodes, tla.set_of(one))
    ),
    node_sets.without_node: (
        _SET_AND_NODE, NODES, lambda t, nodes, one: tla.op("\\", nodes, tla.set_of(one))
    ),
    node_sets.contains: (_SET_AND_NODE, BOOL, lambda t, nodes, one: tla.op("\\in", one, nodes)),
    node_sets.only: ((INT,), NODES, lambda t, one: tla.set_of(one)),
    node_sets.nodes_up_to: ((INT,), NODES, lambda t, count: t.up_to(count)),
    node_sets.size: ((NODES,), INT, lambda t, nodes: tla.call("Cardinality", nodes)),
    node_sets.smallest: ((NODES,), INT, lambda t, nodes: tla.call("Smallest", nodes)),
    node_sets.is_subset: (
        (NODES, NODES), BOOL, lambda t, nodes, of: tla.op("\\subseteq", nodes, of)
    ),
}  # fmt: skip
