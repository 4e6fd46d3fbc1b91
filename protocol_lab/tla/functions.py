"""Reads a spec's functions as TLA+: what an action leaves behind, what a helper returns.

A function is followed statement by statement. The state is kept as cells, one for each field, each
with the expression that it has by now; an assignment makes it [field EXCEPT ![i].x = ...]. Where
paths meet again, each variable becomes an IF. A helper that only looks becomes an operator; one
that changes what it is given is followed where it is called.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from protocol_lab.language.reading import reading
from protocol_lab.language.source_code import error_at, place_of
from protocol_lab.spec.constants import limits_of
from protocol_lab.spec.layout import Bag
from protocol_lab.tla import calls, repetition
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.assignments import assigned, container_changed
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.helper_effects import CHANGING, Effects
from protocol_lab.tla.helpers import Operator, arguments_of
from protocol_lab.tla.lookup import attribute_value, item_value, name_value
from protocol_lab.tla.operations import and_or, comparison, if_expression, operation
from protocol_lab.tla.paths import Ends, joined, met
from protocol_lab.tla.values import (
    ALL_BUT,
    BOOL,
    INT,
    NODES,
    NOTHING,
    TEXT,
    NoTranslation,
    Scope,
    Types,
    Value,
    common_type,
    converted,
    is_whole,
    type_of,
)

_DEEPEST = 40


class Functions:
    """Translates the functions of one spec. definitions: the operators that they need, in order."""

    def __init__(
        self,
        types: Types,
        constants: type,
        variables: dict[str, str],
        fields: dict[str, Any],
        taken: set[str],
    ):
        self.types, self.variables, self.fields, self.taken = types, variables, fields, taken
        self.limits = limits_of(constants)
        self.definitions: list[tuple[str, tuple[str, ...], Expression, str]] = []
        self.operators: dict[tuple, Operator] = {}
        self.globals: dict[tuple[str, int], str] = {}
        self.standard: set[str] = set()
        self.added_twice: set[Bag] = set()
        self.function: Callable = None
        self.effects = Effects()
        self.judged: set[Callable] = set()
        self.placing = False
        self.depth = 0
        self.made = 0

    # --- Names -------------------------------------------------------------------------------

    def fresh(self, wanted: str, scope: Scope) -> str:
        """The name, or one like it that nothing around has."""
        wanted = wanted.strip("_ ")
        wanted = wanted if wanted[:1].isalpha() else f"value{wanted}"
        return tla.unused(wanted, self.taken | scope.bound)

    def use(self, operator: str) -> str:
        """Note that the module needs one of the standard definitions."""
        self.standard.add(operator)
        return operator

    @property
    def outside(self) -> dict[str, Any]:
        """The names from outside that the present function reads, with their values."""
        return self.effects.outside(self.function)

    def fail(self, node: ast.AST, told: str) -> NoTranslation:
        """The error that a piece of code has no translation."""
        return NoTranslation(str(error_at(self.function, node, told)))

    def convert(self, value: Value, kind: Any, node: ast.AST) -> Expression:
        """A value as one of another type; where there is none the error names the place."""
        try:
            return converted(value, kind)
        except NoTranslation as error:
            raise self.fail(node, f"this has no translation to TLA+, since {error}") from None

    def condition(self, value: Value, node: ast.AST) -> Expression:
        """A value as a condition."""
        if value.known is not None:
            raise self.fail(node, "this is no condition")
        return self.convert(value, BOOL, node)

    @property
    def reasons_are_alike(self) -> bool:
        """Does it only matter whether the present function returns a reason, not which?"""
        declared = self.function.__annotations__.get("return", "")
        return self.function in self.judged or declared is str

    # --- Functions ---------------------------------------------------------------------------

    def body(
        self, function: Callable, given: dict[str, Value], scope: Scope, ends: Ends
    ) -> Expression:
        """Follow a function's code with these parameters; its variables end with it."""
        if self.depth > _DEEPEST:
            raise NoTranslation(
                f"{function.__name__} ({place_of(function)}) calls itself, which has no translation"
                " to TLA+ here: write a loop."
            )
        before, caller = self.function, scope.names
        self.function, self.depth = function, self.depth + 1
        inner = replace(scope, names=dict(given))

        def outside(continue_: Callable, *values: Any) -> Expression:
            mine, self.function, self.depth = (self.function, self.depth), before, self.depth - 1
            try:
                *found, last = values
                return continue_(*found, replace(last, names=caller))
            finally:
                self.function, self.depth = mine

        try:
            return self.block(
                reading(function).body,
                inner,
                Ends(
                    lambda last: outside(ends.returned, NOTHING, last),
                    lambda value, last: outside(ends.returned, value, last),
                ),
            )
        finally:
            self.function, self.depth = before, self.depth - 1

    def result(self, function: Callable, given: dict[str, Value], scope: Scope) -> Value:
        """What a function that changes nothing returns, as one expression."""
        found: list[Value] = []

        def returned(value: Value, last: Scope) -> Expression:
            found.append(self.read(value, last))
            return ("leaf", len(found) - 1)

        tree = self.body(function, given, scope, Ends(lambda last: FALSE, returned))
        declared = function.__annotations__.get("return")
        kind = type_of(declared) if declared is not None else None
        node = reading(function).as_written
        if kind is None or kind is TEXT or (kind is INT and NODES in [v.type for v in found]):
            kind = common_type([value.type for value in found])
        if not found:
            raise self.fail(node, "this returns nothing")
        made = tla.leaves_replaced(tree, lambda k: self.convert(found[k], kind, node))
        return Value(made, kind)

    # --- Statements --------------------------------------------------------------------------

    def block(self, code: list[ast.stmt], scope: Scope, ends: Ends) -> Expression:
        """Statements one after the other."""
        if not code:
            return ends.next(scope)
        statement, rest = code[0], code[1:]
        after = replace(ends, next=lambda last: self.block(rest, last, ends))
        return self.statement(statement, scope, after)

    def statement(self, node: ast.stmt, scope: Scope, ends: Ends) -> Expression:
        """One statement, and what comes after it."""
        match node:
            case ast.Pass():
                return ends.next(scope)
            case ast.Return(None):
                return ends.returned(NOTHING, scope)
            case ast.Return(value):
                passed_on = value if self.effects.gives_place(self.function) else None
                return self.valued(value, scope, ends.returned, wanted=passed_on)
            case ast.Expr(ast.Constant()):
                return ends.next(scope)
            case ast.Expr(value):
                return self.valued(value, scope, lambda v, last: ends.next(last), unused=True)
            case ast.Assign([target], value):
                return assigned(self, target, value, scope, ends)
            case ast.AnnAssign(target, _, value) if value is not None:
                return assigned(self, target, value, scope, ends)
            case ast.AugAssign(target, sign, value):
                read = _loaded(target)
                made = ast.copy_location(ast.BinOp(read, sign, value), node)
                return assigned(self, target, made, scope, ends)
            case ast.If(test):
                return self.valued(test, scope, lambda v, last: self._if(node, v, last, ends))
            case ast.For():
                return repetition.for_loop(self, node, scope, ends)
            case ast.While():
                return repetition.while_loop(self, node, scope, ends)
            case ast.Break() if ends.broken:
                return ends.broken(scope)
            case ast.Continue() if ends.continued:
                return ends.continued(scope)
        raise self.fail(node, "this statement has no translation to TLA+")

    def _if(self, node: ast.If, value: Value, scope: Scope, ends: Ends) -> Expression:
        test = self.condition(value, node.test)
        if test in (TRUE, FALSE):
            return self.block(node.body if test == TRUE else node.orelse, scope, ends)
        return joined(
            self,
            lambda inner: tla.if_(
                test,
                self.block(node.body, scope, inner),
                self.block(node.orelse, scope, inner),
            ),
            scope,
            ends,
        )

    def with_place(self, scope: Scope, place: tuple[str, tuple], value: Expression) -> Scope:
        """The scope after an assignment to a place."""
        cell, path = place
        if cell not in scope.cells:
            raise NoTranslation(f"{self.function.__name__} changes what it was given as a copy.")
        return scope.with_cell(cell, tla.changed_at(scope.cells[cell][0], [(path, value)]))

    def read(self, value: Value, scope: Scope) -> Value:
        """A value with its expression: what is at its place now."""
        if value.place is None:
            return value
        cell, path = value.place
        return Value(tla.follow(scope.cells[cell][0], path), value.type)

    # --- Expressions whose evaluation may change something ------------------------------------

    def valued(
        self,
        node: ast.expr,
        scope: Scope,
        go_on: Callable[[Value, Scope], Expression],
        *,
        unused: bool = False,
        wanted: ast.expr | None = None,
    ) -> Expression:
        """Evaluate an expression in which helpers that change something may be called."""
        followed = [
            each
            for each in _calls(node)
            if self.effects.is_followed(each, node, self.function, wanted is not None)
        ]
        if not followed:
            return go_on(NOTHING if unused else self.expression(node, scope), scope)
        first = followed[0]

        def with_result(value: Value, last: Scope) -> Expression:
            if first is node:
                return go_on(value, last)
            self.made += 1
            name = f" {self.made}"
            rest = _Replaced(first, ast.copy_location(ast.Name(name, ast.Load()), first))
            if value.place is None and value.known is None and is_whole(value.type):
                cell = f"result.{self.made}"
                last = last.with_cell(cell, value.expression, value.type)
                value = Value(None, value.type, (cell, ()))
            return self.valued(
                rest.visit(node), last.named(name, value), go_on, unused=unused, wanted=wanted
            )

        return self.followed(first, scope, with_result)

    def followed(
        self, node: ast.Call, scope: Scope, go_on: Callable[[Value, Scope], Expression]
    ) -> Expression:
        """Follow a call's code where it stands."""
        called = self.outside[node.func.id]
        if called in CHANGING:
            value, last = container_changed(self, called, node, scope)
            return go_on(value, last)
        found: list[tuple[Value, Scope]] = []

        def returned(value: Value, last: Scope) -> Expression:
            found.append((value, last))
            return ("leaf", len(found) - 1)

        given = arguments_of(self, called, node, scope)
        tree = self.body(called, given, scope, Ends(lambda last: FALSE, returned))
        where = sorted(set(tla.leaves(tree)))
        first = found[where[0]][0]
        same = all(found[k][0] == first for k in where) and (
            first.known is not None or (first.place is None and not tla.names_in(first.expression))
        )
        plain = not any(v.place or v.known is not None or v.type == TEXT for v, _ in found)
        if len(where) > 1 and (same or plain):
            kind = first.type if same else common_type([found[k][0].type for k in where])
            slots = [
                last if same else last.named(" value", Value(self.convert(v, kind, node), kind))
                for v, last in found
            ]
            merged = met(self, tree, slots, scope)
            if merged is not None:
                last, bound = merged
                rest = go_on(first if same else last.names[" value"], last)
                for each, value in reversed(bound):
                    rest = ("let", ((each, (), value, False),), rest)
                return rest
        return tla.leaves_replaced(tree, lambda k: go_on(*found[k]))

    # --- Expressions -------------------------------------------------------------------------

    def number(self, node: ast.expr, scope: Scope) -> Expression:
        """An expression's value as a number."""
        return self.convert(self.evaluated(node, scope), INT, node)

    def evaluated(self, node: ast.expr, scope: Scope) -> Value:
        """An expression's value, read from its place."""
        return self.read(self.expression(node, scope), scope)

    def expression(self, node: ast.expr, scope: Scope) -> Value:
        """An expression's value; a part of the state is a place."""
        match node:
            case ast.Constant(bool(value)):
                return Value(tla.boolean(value), BOOL)
            case ast.Constant(int(value)):
                return Value(tla.number(value), INT)
            case ast.Constant(str(value)):
                return Value(tla.string(value), TEXT)
            case ast.JoinedStr():
                return Value(tla.string("..."), TEXT)
            case ast.Name(name):
                return name_value(self, node, name, scope)
            case ast.Attribute(value, name):
                return attribute_value(self, node, self.expression(value, scope), name, scope)
            case ast.Subscript(value, at):
                return item_value(self, node, self.expression(value, scope), at, scope)
            case ast.UnaryOp(ast.Not(), operand):
                return Value(tla.neg(self.test(operand, scope)), BOOL)
            case ast.UnaryOp(ast.USub(), operand):
                found = self.number(operand, scope)
                negative = found[0] == "num"
                return Value(tla.number(-found[1]) if negative else ("prefix", "-", found), INT)
            case ast.UnaryOp(ast.Invert(), operand):
                found = self.evaluated(operand, scope)
                return Value(self.convert(found, NODES, node), ALL_BUT)
            case ast.BoolOp(sign, values):
                return and_or(self, node, isinstance(sign, ast.And), values, scope)
            case ast.Compare():
                return Value(comparison(self, node, scope), BOOL)
            case ast.BinOp():
                return operation(self, node, scope)
            case ast.IfExp():
                return if_expression(self, node, scope)
            case ast.Call():
                return calls.called(self, node, scope)
            case ast.List(items) | ast.Tuple(items):
                return Value(None, "list", known=[self.evaluated(each, scope) for each in items])
        raise self.fail(node, "this expression has no translation to TLA+")

    def test(self, node: ast.expr, scope: Scope) -> Expression:
        """An expression's value as a condition."""
        return self.condition(self.evaluated(node, scope), node)

    def placed(self, cell: str, path: tuple, kind: Any, scope: Scope) -> Value:
        """What is at a place: the place itself, or a number, name or set as it is now."""
        place = Value(None, kind, (cell, path))
        return place if self.placing or is_whole(kind) else self.read(place, scope)

    def as_set(self, kind: Bag, now: Expression) -> Expression:
        """A bag as the set of its items."""
        return tla.call("BagToSet", now) if kind in self.types.multisets else now


def _calls(node: ast.AST) -> list[ast.Call]:
    """The calls in an expression, inner ones first; none inside comprehensions."""
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.Lambda):
        return []
    found = [each for child in ast.iter_child_nodes(node) for each in _calls(child)]
    return [*found, node] if isinstance(node, ast.Call) else found


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value, name):
            return ast.copy_location(ast.Attribute(value, name, ast.Load()), target)
        case ast.Subscript(value, at):
            return ast.copy_location(ast.Subscript(value, at, ast.Load()), target)
    return target


class _Replaced(ast.NodeTransformer):
    """One node of a tree replaced; the tree itself stays."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        parts = {}
        for each, value in ast.iter_fields(node):
            if isinstance(value, list):
                parts[each] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
            else:
                parts[each] = self.visit(value) if isinstance(value, ast.AST) else value
        return ast.copy_location(type(node)(**parts), node)
