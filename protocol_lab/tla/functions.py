"""Reads a spec's functions as TLA+: what an action leaves behind, what a helper returns.

A function is followed statement by statement. An assignment makes a cell of the state, or of a
record of the function's own, [cell EXCEPT !.x = ...]. A helper that only looks becomes an operator;
one that changes what it is given is followed where it is called.
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from protocol_lab.errors import place_of
from protocol_lab.model import containers
from protocol_lab.model.layout import Seq
from protocol_lab.reader.reading import reading
from protocol_lab.reader.side_effects import changes
from protocol_lab.reader.source_code import names_read
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import FALSE, TRUE, E
from protocol_lab.tla.paths import End, branch, closed, continued, ends, leaf, then
from protocol_lab.tla.values import (
    BOOL,
    INT,
    NODES,
    NOTHING,
    TEXT,
    NoTranslation,
    Scope,
    StateNamed,
    Types,
    Value,
    common_type,
    converted,
    is_whole,
    item_of,
    plus,
    type_of,
)
from protocol_lab.tla.values_of_code import Items, ValuesOfCode, is_helper, total

_DEEPEST = 40


@dataclass(frozen=True)
class Operator:
    """A helper as a definition of the module. reads: the variables that it depends on."""

    name: str
    type: Any
    given: tuple[str, ...]
    value: E
    reads: frozenset[str]


class Functions(ValuesOfCode):
    """Translates the functions of one spec. definitions: name, parameters, value and docstring of
    each operator, in the order in which they need each other."""

    def __init__(
        self,
        types: Types,
        constants: type,
        variables: dict[str, str],
        fields: dict,
        taken: set[str],
    ):
        super().__init__(types, constants, taken)
        self.variables, self.fields = variables, fields
        self.definitions: list[tuple[str, tuple[str, ...], E, str]] = []
        self.operators: dict[tuple, Operator] = {}
        self.depth = 0

    # --- Functions -------------------------------------------------------------------------------

    def body(self, function: Callable, given: dict[str, Value], scope: Scope) -> E:
        """The paths through a function's code with these parameters; each of them returns."""
        if self.depth > _DEEPEST:
            raise NoTranslation(
                f"{function.__name__} ({place_of(function)}) calls itself, which has no translation"
                " to TLA+ here: write a loop."
            )
        before, self.function, self.depth = self.function, function, self.depth + 1
        try:
            tree = self.block(reading(function).body, replace(scope, names=given))
        finally:
            self.function, self.depth = before, self.depth - 1
        return continued(
            tree, lambda end: leaf("return", replace(end.scope, names=scope.names), end.value)
        )

    def result(self, function: Callable, given: dict[str, Value], scope: Scope) -> Value:
        """What a function that changes nothing returns, as one expression."""
        tree = self.body(function, given, scope)
        tree = continued(tree, lambda e: leaf("return", e.scope, self.read(e.value, e.scope)))
        kind = type_of(function.__annotations__.get("return", TEXT))
        kinds = [end.value.type for end in ends(tree)]
        if kind in (INT, TEXT):
            kind = common_type(kinds)
        node = reading(function).as_written
        return Value(closed(tree, lambda end: self.convert(end.value, kind, node)), kind)

    def helper(self, called: Callable, node: ast.Call, scope: Scope) -> Value:
        """What a helper that changes nothing returns: a call of its operator, or its code."""
        given = self.arguments(called, node, scope)
        tree = self.body(called, given, scope)
        if tree.kind == "leaf" and tree.head.value.place:
            return tree.head.value  # a part of the state, which may be assigned to
        plain = {each: self.read(value, scope) for each, value in given.items()}
        passed = {each: value for each, value in plain.items() if value.known is None}
        if any(isinstance(value.known, list) for value in plain.values()):
            return self.result(called, given, scope)
        known = tuple(
            value.known for value in plain.values() if isinstance(value.known, StateNamed)
        )
        key = (called, known, *((each, value.type) for each, value in passed.items()))
        operator = self.operators.get(key) or self._operator(called, key, plain, passed)
        if any(
            scope.cells[state.prefix + each] != tla.name(self.variables[each])
            for state in known
            for each in operator.reads
        ):
            return self.result(called, given, scope)
        values = (value.expression for value in passed.values())
        return Value(tla.call(operator.name, *values), operator.type)

    def _operator(
        self, called: Callable, key: tuple, plain: dict[str, Value], passed: dict[str, Value]
    ) -> Operator:
        names = {each: tla.fresh(each) for each in passed}
        own = {each: Value(tla.name(names[each]), value.type) for each, value in passed.items()}
        cells = {
            k + f: tla.name(v)
            for k in ("s.", "before.", "after.")
            for f, v in self.variables.items()
        }
        value = self.result(called, plain | own, Scope({}, cells))
        value = replace(value, expression=tla.in_order(value.expression))
        names = tuple(names.values())
        for known, operator in self.operators.items():
            same = dict(zip(operator.given, map(tla.name, names), strict=False))
            if known[0] is called and tla.substitute(operator.value, same) == value.expression:
                self.operators[key] = operator
                return operator
        name = tla.unused(called.__name__, self.taken)
        self.taken.add(name)
        shown = {v: f for f, v in self.variables.items()}
        reads = {shown[each] for each in tla.names_in(value.expression) if each in shown}
        for each in self.operators.values():
            if each.name in tla.names_in(value.expression):
                reads |= each.reads
        made = Operator(name, value.type, names, value.expression, frozenset(reads))
        self.operators[key] = made
        self.definitions.append((name, names, value.expression, called.__doc__ or ""))
        return self.operators[key]

    def arguments(self, called: Callable, node: ast.Call, scope: Scope) -> dict[str, Value]:
        """The values of a helper's parameters, as it is called here."""
        signature = inspect.signature(called)
        named = {each.arg: self.value(each.value, scope) for each in node.keywords}
        bound = signature.bind(*(self.value(each, scope) for each in node.args), **named).arguments
        found = {}
        for each, parameter in signature.parameters.items():
            value = bound.get(each) or self.of_python(node, "", parameter.default)
            value = self.copied(value, scope)
            declared = type_of(parameter.annotation)
            if value.place is None and value.known is None and declared in (NODES, BOOL):
                value = Value(self.convert(value, declared, node), declared)
            found[each] = value
        return found

    # --- Statements ------------------------------------------------------------------------------

    def block(self, code: list[ast.stmt], scope: Scope) -> E:
        """The paths through statements, one after the other."""
        tree = leaf("next", scope)
        for each in code:
            tree = then(tree, lambda now, each=each: self.statement(each, now))
        return tree

    def statement(self, node: ast.stmt, scope: Scope) -> E:
        """The paths through one statement."""
        match node:
            case ast.Pass() | ast.Expr(ast.Constant()):
                return leaf("next", scope)
            case ast.Return(None):
                return leaf("return", scope)
            case ast.Return(value):
                return self.valued(
                    value, scope, lambda v, now: leaf("return", now, self.copied(v, now))
                )
            case ast.Expr(value):
                return self.valued(value, scope, lambda v, now: leaf("next", now))
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                found = [self.copied(self.value(each, scope), scope) for each in values]
                tree = leaf("next", scope)
                for target, value in zip(targets, found, strict=True):
                    tree = then(tree, lambda s, t=target, v=value: self.store(t, v, s))
                return tree
            case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
                return self.valued(value, scope, lambda v, now: self.store(target, v, now))
            case ast.AugAssign(target, sign, value):
                read = ast.parse(ast.unparse(target), mode="eval").body
                made = ast.copy_location(ast.BinOp(read, sign, value), node)
                ast.fix_missing_locations(made)
                return self.valued(made, scope, lambda v, now: self.store(target, v, now))
            case ast.If(test):
                return self.valued(test, scope, lambda v, now: self._if(node, v, now))
            case ast.For(orelse=[]):
                return self._for(node, scope)
            case ast.While(orelse=[]):
                leave = ast.copy_location(ast.Break(), node)
                test = ast.copy_location(ast.If(node.test, node.body, [leave]), node)
                return self._recursion(node, None, self.passes([test], scope), scope)
            case ast.Break() | ast.Continue():
                return leaf(type(node).__name__.lower(), scope)
        raise self.fail(node, "this statement has no translation to TLA+")

    def _if(self, node: ast.If, value: Value, scope: Scope) -> E:
        test = self.convert(self.read(value, scope), BOOL, node.test)
        if test in (TRUE, FALSE):
            return self.block(node.body if test == TRUE else node.orelse, scope)
        return branch(test, self.block(node.body, scope), self.block(node.orelse, scope))

    def store(self, target: ast.expr, value: Value, scope: Scope) -> E:
        """Assign a value."""
        if not isinstance(target, ast.Name):
            place = self.value(target, scope)
            if place.place is None:
                raise self.fail(target, "this can't be assigned to in TLA+: it is a copy")
            made = self.convert(self.read(value, scope), place.type, target)
            return leaf("next", self._changed(place, made, scope))
        value = self.copied(value, scope)
        if value.known is not None or value.place:
            return leaf("next", scope.named(**{target.id: value}))
        if is_whole(value.type):
            cell = tla.fresh(f"own.{target.id}")
            place = Value(None, value.type, (cell, ()))
            return leaf("next", scope.with_cell(cell, value.expression).named(**{target.id: place}))
        old = scope.names.get(target.id)
        if old is not None and old.type == NODES and value.type == INT:
            value = Value(self.convert(value, NODES, target), NODES)
        if tla.is_short(value.expression):
            return leaf("next", scope.named(**{target.id: value}))
        name = tla.fresh(target.id)
        last = scope.named(**{target.id: replace(value, expression=tla.name(name))})
        return E("let", (name, ()), (value.expression, leaf("next", last)))

    def _changed(self, place: Value, value: E, scope: Scope) -> Scope:
        cell, path = place.place
        return scope.with_cell(cell, tla.changed_at(scope.cells[cell], path, value))

    # --- Expressions whose evaluation changes something -----------------------------------------

    def valued(self, node: ast.expr, scope: Scope, go_on: Callable[[Value, Scope], E]) -> E:
        """Evaluate an expression, which may be a call of a function that changes something."""
        changing = [each for each in ast.walk(node) if self._changes(each)]
        if not changing:
            return go_on(self.value(node, scope), scope)
        if changing != [node]:
            raise self.fail(changing[-1], "assign what this call returns to a variable first")
        name = tla.fresh("result")
        return self._followed(node, name, scope, lambda now: go_on(now.names[name], now))

    def _changes(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        called = names_read(self.function).get(getattr(node.func, "id", ""))
        return called in _CONTAINERS or (is_helper(called) and changes(called))

    def _followed(self, node: ast.Call, name: str, scope: Scope, go_on: Callable[[Scope], E]) -> E:
        """Follow a call's code where it stands; its result is then the variable `name`."""
        called = names_read(self.function)[node.func.id]
        if called in _CONTAINERS:
            value, last = self._container_changed(called, node, scope)
            return go_on(last.named(**{name: value}))
        tree = self.body(called, self.arguments(called, node, scope), scope)
        values = [end.value for end in ends(tree)]
        alike = all(value == values[0] for value in values)
        if alike or all(v.type != TEXT and v.known is None and not v.place for v in values):
            tree = continued(tree, lambda e: leaf("next", e.scope.named(**{name: e.value})))
            return then(tree, go_on)
        return continued(tree, lambda e: go_on(e.scope.named(**{name: e.value})))

    def _container_changed(
        self, called: Callable, node: ast.Call, scope: Scope
    ) -> tuple[Value, Scope]:
        """What a container's function returns, and the scope after it."""
        container = self.value(node.args[0], scope)
        if container.place is None:
            raise self.fail(node, "this container can't be changed in TLA+: it is a copy")
        now, kind = self.read(container, scope).expression, container.type
        length, result, given = tla.call("Len", now), NOTHING, None
        if node.args[1:]:
            at_index = called in (containers.truncate, containers.remove_at)
            given = self.as_(INT if at_index else item_of(kind), node.args[1], scope)
        if called is containers.append:
            made = tla.call("Append", now, given)
            if now.kind == "tuple":
                made = E("tuple", None, (*now.parts, given))
        elif called is containers.pop_first:
            result, made = Value(tla.call("Head", now), item_of(kind)), tla.call("Tail", now)
        elif called is containers.truncate:
            shorter = tla.call("Min", E("set", None, (given, length)))
            made = tla.call("SubSeq", now, tla.number(1), shorter)
            made = E("tuple") if given == tla.number(0) else made
        elif called is containers.remove_at:
            before = tla.call("SubSeq", now, tla.number(1), given)
            made = tla.op("\\o", before, tla.call("SubSeq", now, plus(given, 2), length))
            made = tla.call("Tail", now) if given == tla.number(0) else made
        elif kind in self.types.multisets:
            sign = "(-)" if called is containers.take else "(+)"
            made = tla.op(sign, now, tla.call("SetToBag", tla.single(given)))
            if called is containers.add_once:
                made = tla.if_(tla.call("BagIn", given, now), now, made)
        else:
            if called is containers.add:
                self.types.added_twice.add(kind)
            made = tla.op("\\" if called is containers.take else "\\cup", now, tla.single(given))
        return result, self._changed(container, made, scope)

    # --- Loops -----------------------------------------------------------------------------------

    def _for(self, node: ast.For, scope: Scope) -> E:
        for any_order in (True, False):
            items = self.items(node.target, node.iter, scope, any_order)
            passes = self.passes(node.body, scope.named(**items.values))
            returns = any(end.how == "return" for end in ends(passes.tree))
            if not passes.before:
                found = self._search(items, passes, scope) if returns else leaf("next", scope)
                if found is not None:
                    return found
        if not returns and all(end.how != "break" for end in ends(passes.tree)):
            last = scope
            for key in passes.before:
                made = self._at_once(items, passes, key)
                if made is None:
                    break
                last = passes.put(last, key, made)
            else:
                return leaf("next", last)
        return self._recursion(node, items, passes, scope)

    def _search(self, items: Items, passes: "Passes", scope: Scope) -> E | None:
        """A loop that only looks for an item: \\E, and if need be the first one; None if that takes
        the items' order."""
        returns = [end for end in ends(passes.tree) if end.how == "return"]
        values = [end.value for end in returns]
        test = closed(passes.tree, lambda end: tla.boolean(end.how == "return"))
        exists = tla.quantified("\\E", items.bound, items.domain, test)
        same = all(value == values[0] for value in values)
        if same and values[0].place is None and values[0].known is None:
            same = items.bound not in tla.names_in(values[0].expression)
        same = same or all(
            v.type == TEXT and v.expression.kind == "str" and v.expression.head for v in values
        )
        if same and all(end.scope.cells == scope.cells for end in returns):
            return branch(exists, leaf("return", scope, values[0]), leaf("next", scope))
        if items.domain.head == "Items":
            return None
        fitting = tla.filtered(items.bound, items.domain, test)
        first = E("choose", items.bound, (fitting, TRUE))
        if items.in_order:
            first = tla.call("Min", fitting)
        found = E("let", (items.bound, ()), (first, _only(passes.tree, "return")))
        return branch(exists, found, leaf("next", scope))

    def passes(self, code: list[ast.stmt], scope: Scope) -> "Passes":
        """One pass of a loop, with a name for all that it changes."""
        found = Passes({}, {}, {}, scope, leaf("next", scope))
        while True:
            begin = scope
            for key, symbol in found.symbols.items():
                begin = found.put(begin, key, tla.name(symbol))
            found.tree = self.block(code, begin)
            news = {}
            for end in ends(found.tree):
                if end.how != "return":
                    news |= _changes_between(begin, end.scope, self.fields)
            fresh = {key: kind for key, kind in news.items() if key not in found.symbols}
            retyped = {
                k
                for k, kind in news.items()
                if k in found.kinds and kind == NODES != found.kinds[k]
            }
            if not fresh and not retyped:
                return found
            for key, kind in news.items():
                found.kinds[key] = kind
                old = scope.names[key[1]] if key[0] == "name" else None
                found.before[key] = converted(old, kind) if old else scope.cells[key[1]]
                found.symbols[key] = tla.fresh(key[1].rpartition(".")[2].partition("#")[0])

    def _at_once(self, items: Items, passes: "Passes", key: tuple) -> E | None:
        """What a variable or cell is after all passes: a count, a sum, a set, or a function of
        which each pass changes its own item; None if that takes a recursion."""
        symbol, before = passes.symbols[key], passes.before[key]
        own, value = tla.name(symbol), closed(passes.tree, lambda end: passes.after(key, end))
        if tla.names_in(value) & ({*passes.symbols.values()} - {symbol}):
            return None
        outcomes = [each for each in _outcomes(value) if each != own]
        test = _mapped(value, lambda outcome: tla.boolean(outcome != own))
        added = {_added(each, own) for each in outcomes}
        if len(added) == 1 and symbol not in tla.names_in(test):
            ((sign, more),) = added
            if sign == "\\cup" and symbol not in tla.names_in(more):
                domain = tla.filtered(items.bound, items.domain, test)
                return tla.op(sign, before, tla.mapped(items.bound, domain, more))
            if sign == "+" and symbol not in tla.names_in(more):
                return tla.op("+", before, total(items, test, more))
        prefixes = {_prefix(each, own, items.bound) for each in outcomes}
        if len(prefixes) != 1 or None in prefixes:
            return None
        (prefix,) = prefixes
        here = (*prefix, tla.name(items.bound))
        item = tla.fresh("item")
        made = _mapped(value, lambda outcome: tla.follow(outcome, here))
        made = _replaced(made, tla.follow(own, here), tla.name(item))
        if symbol in tla.names_in(made):
            return None
        old = tla.follow(before, here)
        made = tla.substitute(made, {item: old})
        kind = type_of(passes.kinds[key])
        if kind is None:
            return None
        for step in prefix:
            kind = type_of(kind.field_types[step]) if isinstance(step, str) else item_of(kind)
        domain = items.domain if isinstance(kind, Seq) else self.types.domain(kind, before)
        if domain != items.domain:
            made = tla.if_(tla.op("\\in", tla.name(items.bound), items.domain), made, old)
        return tla.changed_at(before, prefix, E("fn", items.bound, (domain, made)))

    def _recursion(self, node: ast.stmt, items: Items | None, passes: "Passes", scope: Scope) -> E:
        """A loop as an operator that calls itself."""
        again, keys = tla.fresh("loop"), list(passes.before)
        returned = [end.value for end in ends(passes.tree) if end.how == "return"]
        if any(
            value.known is not None or value.place or is_whole(value.type) for value in returned
        ):
            raise self.fail(
                node, "a loop that returns a part of the state has no translation to TLA+"
            )
        kind = common_type([value.type for value in returned]) if returned else None

        def result(values: list[E], value: E | None = None) -> E:
            if returned:
                values = [*values, tla.boolean(value is not None), value or self.types.zero(kind)]
            return values[0] if len(values) == 1 else E("tuple", None, tuple(values))

        def next_pass(end: End) -> E:
            values = [passes.after(key, end) for key in keys]
            if end.how in ("return", "break"):
                value = self.convert(end.value, kind, node) if end.how == "return" else None
                return result(values, value)
            return tla.call(again, *step, *values)

        own, start = [tla.name(passes.symbols[key]) for key in keys], [*passes.before.values()]
        step, head, begin = [], [], []
        if items is None:
            body = closed(passes.tree, next_pass)
        elif items.in_order and items.domain.kind == "op":
            bound = tla.name(items.bound)
            low, high = items.domain.parts
            step, head, begin = [plus(bound, 1)], [items.bound], [low]
            body = tla.if_(tla.op(">", bound, high), result(own), closed(passes.tree, next_pass))
        else:
            left, bound = tla.fresh("left"), tla.name(items.bound)
            step, head = [tla.op("\\", tla.name(left), tla.single(bound))], [left]
            begin = [items.domain]
            pick = E("choose", tla.fresh(items.bound.partition("#")[0]), (tla.name(left), TRUE))
            if items.in_order:
                pick = tla.call("Min", tla.name(left))
            body = tla.let(items.bound, pick, closed(passes.tree, next_pass))
            body = tla.if_(tla.op("=", tla.name(left), tla.EMPTY), result(own), body)
        symbols = tuple(passes.symbols[key] for key in keys)
        several = len(keys) > 1 or returned
        new = tla.fresh("result" if several else f"{symbols[0].partition('#')[0]}_new")
        last = scope
        for k, key in enumerate(keys):
            last = passes.put(
                last, key, tla.at(tla.name(new), tla.number(k + 1)) if several else tla.name(new)
            )
        tree = leaf("next", last)
        if returned:
            flag, value = (tla.at(tla.name(new), tla.number(len(keys) + k)) for k in (1, 2))
            tree = branch(flag, leaf("return", last, Value(value, kind)), tree)
        tree = E("let", (new, ()), (tla.call(again, *begin, *start), tree))
        return E("let", (again, (*head, *symbols)), (body, tree))


@dataclass
class Passes:
    """One pass of a loop. By what it changes, ("name", variable) or ("cell", cell): the names that
    stand for them in it, what they were before the loop, and their types."""

    symbols: dict[tuple[str, str], str]
    before: dict[tuple[str, str], E]
    kinds: dict[tuple[str, str], Any]
    begin: Scope
    tree: E

    def put(self, scope: Scope, key: tuple[str, str], value: E) -> Scope:
        """The scope with another value."""
        if key[0] == "name":
            return scope.named(**{key[1]: Value(value, self.kinds[key])})
        return scope.with_cell(key[1], value)

    def after(self, key: tuple[str, str], end: End) -> E:
        """The value at an end."""
        if key[0] == "name":
            return converted(end.scope.names[key[1]], self.kinds[key])
        return end.scope.cells[key[1]]


def _changes_between(
    begin: Scope, last: Scope, fields: dict[str, Any]
) -> dict[tuple[str, str], Any]:
    """What differs, with its type."""
    found = {}
    for each, old in begin.names.items():
        new = last.names.get(each, old)
        if new != old and not (old.place or new.place or old.known is not None):
            found["name", each] = common_type([old.type, new.type])
    for each, old in begin.cells.items():
        if last.cells.get(each, old) != old:
            found["cell", each] = fields.get(each.removeprefix("s."))
    return found


_CONTAINERS = (
    *(containers.append, containers.truncate, containers.remove_at, containers.pop_first),
    *(containers.add, containers.add_once, containers.take),
)


def _only(tree: E, how: str) -> E:
    """The tree without the paths that end otherwise."""
    if tree.kind == "if":
        fits = [any(e.how == how for e in ends(each)) for each in tree.parts[1:]]
        if not all(fits):
            return _only(tree.parts[1 + (not fits[0])], how)
    parts = tree.parts[:1] + tuple(_only(each, how) for each in tree.parts[1:])
    return E(tree.kind, tree.head, parts)


def _outcomes(value: E) -> list[E]:
    if value.kind in ("if", "let"):
        return [found for each in value.parts[1:] for found in _outcomes(each)]
    return [value]


def _mapped(value: E, change: Callable[[E], E]) -> E:
    if value.kind == "if":
        return tla.if_(value.parts[0], *(_mapped(each, change) for each in value.parts[1:]))
    if value.kind == "let":
        return tla.let(
            value.head[0], value.parts[0], _mapped(value.parts[1], change), value.head[1]
        )
    return change(value)


def _added(outcome: E, own: E) -> tuple[str, E]:
    """What an outcome adds to what was there before the pass."""
    match outcome:
        case E("op", "+", (left, more)) if left == own:
            return "+", more
        case E("op", "\\cup", (left, E("set", None, (item,)))) if left == own:
            return "\\cup", item
        case E("op", "+", (more, right)) if right == own:
            return "+", more
    return "", outcome


def _prefix(outcome: E, own: E, bound: str) -> tuple | None:
    """The path to the function of which an outcome changes the item `bound`, and nothing else."""
    found = set()
    while outcome.kind == "except":
        for path, _ in tla.clauses(outcome):
            if tla.name(bound) not in path:
                return None
            found.add(path[: path.index(tla.name(bound))])
        outcome = outcome.parts[0]
    return found.pop() if outcome == own and len(found) == 1 else None


def _replaced(expression: E, old: E, new: E) -> E:
    if expression == old:
        return new
    return tla.rebuilt(expression, lambda each: _replaced(each, old, new))
