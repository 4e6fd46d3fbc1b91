"""Reads a spec's functions as TLA+: what an action leaves behind, what a helper returns.

A function is followed statement by statement. An assignment makes a cell of the state, or of a
record of the function's own, [cell EXCEPT !.x = ...]; where paths meet, what differs is an IF.
Where a path leaves the function or the loop it has an `End` with the test that leads there. A
helper that only looks becomes an operator; one that changes what it is given is followed where it
is called. A loop that looks for something is \\E, any other an operator that calls itself.
"""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from protocol_lab.model import containers
from protocol_lab.model.spec import Spec
from protocol_lab.reader.reading import reading
from protocol_lab.reader.side_effects import changes
from protocol_lab.reader.source_code import is_of_protocol, names_read
from protocol_lab.tla import values as tla
from protocol_lab.tla.expressions import Expressions, Items
from protocol_lab.tla.values import NODES, TEXT, TRUE, Scope, Tla, Value, cells, names_first

_CONTAINERS = (
    *(containers.append, containers.truncate, containers.remove_at, containers.pop_first),
    *(containers.add, containers.add_once, containers.take),
)


class End(NamedTuple):
    """Where a path leaves what is followed, if the test is true and no earlier end is reached.
    how: "return", "break" or "continue"."""

    how: str
    test: Tla
    scope: Scope
    value: Value = tla.NOTHING


Followed = tuple[list[End], Scope | None]
"""The ends, and the scope of the paths that go on; None if there are none."""


class Definition(NamedTuple):
    """An operator of the module: its parameters, what LET defines in it, and its value or the parts
    that are joined by the sign, each with a remark. Of a helper also the type of its value, and the
    variables that it depends on."""

    name: str
    given: tuple[str, ...]
    lets: list[str]
    parts: list[tuple[Tla, str]]
    doc: str = ""
    sign: str = "/\\"
    type: Any = None
    reads: frozenset[str] = frozenset()

    @property
    def words(self) -> set[str]:
        """All names in it."""
        return {*re.findall(r"\w+", " ".join([*self.lets, *(each.text for each, _ in self.parts)]))}


class Functions(Expressions):
    """Translates the functions of one spec. defined: its definitions, in the order in which they
    need each other."""

    def __init__(self, types: tla.Types, spec: Spec, variables: dict[str, str], taken: tla.Names):
        super().__init__(types, spec, taken)
        self.variables = variables
        self.defined: list[Definition] = []
        self.operators: dict[tuple, Definition] = {}

    # --- Functions -------------------------------------------------------------------------------

    def body(self, function: Callable, given: dict[str, Value], scope: Scope) -> list[End]:
        """The ends of a function's code with these parameters, in the caller's scope."""
        caller, self.function = self.function, function
        found, last = self.block(reading(function).body, cells(scope) | given)
        self.function = caller
        found += [End("return", TRUE, last)] if last else []
        return [each._replace(scope=scope | cells(each.scope)) for each in found]

    def result(self, function: Callable, given: dict[str, Value], scope: Scope) -> Value:
        """What a function that changes nothing returns, as one expression."""
        found = self.body(function, given, scope)
        values = [self.read(each.value, each.scope) for each in found]
        kind = tla.type_of(function.__annotations__.get("return", TEXT))
        if kind in (tla.INT, TEXT):
            kind = tla.common_type([each.type for each in values])
        node = reading(function).as_written
        made = [self.convert(each, kind, node) for each in values]
        return Value(_chain(found, made), kind)

    def helper(self, called: Callable, node: ast.Call, scope: Scope) -> Value:
        """What a helper that changes nothing returns: a call of its operator, or its code."""
        given = self.arguments(called, node, scope)
        match reading(called).body:
            case [ast.Return(ast.Name() | ast.Attribute() | ast.Subscript())]:
                [end] = self.body(called, given, scope)
                return end.value  # a part of the state, which may be assigned to
        plain = {each: self.read(value, scope) for each, value in given.items()}
        passed = {each: value for each, value in plain.items() if value.known is None}
        states = [value.known for value in plain.values() if value.type == tla.STATE]
        key = (called, *((each, value.type) for each, value in passed.items()))
        operator = self.operators.get(key) or self._operator(called, key, plain, passed)
        if any(
            scope[state + each].tla.text != self.variables[each]
            for state in states
            for each in operator.reads
        ):
            return self.result(called, given, scope)
        return Value(tla.call(operator.name, *(v.tla for v in passed.values())), operator.type)

    def _operator(
        self, called: Callable, key: tuple, plain: dict[str, Value], passed: dict[str, Value]
    ) -> Definition:
        around = self.local, self.definitions
        self.local, self.definitions = set(), []
        names = {each: self.fresh(each) for each in passed}
        own = {k: replace(v, known="s.") for k, v in plain.items() if v.type == tla.STATE}
        own |= {each: Value(Tla(names[each]), value.type) for each, value in passed.items()}
        value = self.result(called, plain | own, self.state("s."))
        made = Definition("", (*names.values(),), self.definitions, [(value.tla, "")])
        self.local, self.definitions = around
        for known, operator in self.operators.items():
            if known[0] is called and operator[1:4] == made[1:4]:
                self.operators[key] = operator
                return operator
        name = self.taken.new(called.__name__)
        reads = {each for each, shown in self.variables.items() if shown in made.words}
        for each in self.operators.values():
            reads |= each.reads if each.name in made.words else set()
        made = made._replace(name=name, doc=called.__doc__ or "", type=value.type)
        self.operators[key] = made._replace(reads=frozenset(reads))
        self.defined.append(made)
        return self.operators[key]

    def state(self, prefix: str, prime: str = "") -> Scope:
        """The cells of a state that is the module's variables, or of the next one."""
        return {
            prefix + each: Value(Tla(shown + prime), tla.type_of(self.fields[each]))
            for each, shown in self.variables.items()
        }

    def arguments(self, called: Callable, node: ast.Call, scope: Scope) -> dict[str, Value]:
        """The values of a helper's parameters, as it is called here."""
        signature = inspect.signature(called)
        named = {each.arg: self.value(each.value, scope) for each in node.keywords}
        bound = signature.bind(*(self.value(each, scope) for each in node.args), **named).arguments
        found = {}
        for each, parameter in signature.parameters.items():
            value = bound.get(each) or self.of_python("", parameter.default)
            value = self.copied(value, scope)
            declared = tla.type_of(parameter.annotation)
            if not value.place and value.known is None and declared in (NODES, tla.BOOL):
                value = Value(self.convert(value, declared, node), declared)
            found[each] = value
        return found

    # --- Statements ------------------------------------------------------------------------------

    def block(self, code: list[ast.stmt], scope: Scope) -> Followed:
        """Statements, one after the other."""
        found: list[End] = []
        for each in code:
            ends, scope = self.statement(each, scope)
            found += ends
            if scope is None:
                break
        return found, scope

    def statement(self, node: ast.stmt, scope: Scope) -> Followed:
        """One statement. The scope may be changed."""
        match node:
            case ast.Pass() | ast.Expr(ast.Constant()):
                return [], scope
            case ast.Return(None):
                return [End("return", TRUE, scope)], None
            case ast.Return(value) if self._is_changing(value):
                return self._ends_of(value, scope), None
            case ast.Return(value):
                value = self.copied(self.valued(value, scope), scope)
                return [End("return", TRUE, scope, value)], None
            case ast.Expr(value):
                self.valued(value, scope)
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                found = [self.copied(self.value(each, scope), scope) for each in values]
                for target, value in zip(targets, found, strict=True):
                    self.store(target, value, scope)
            case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
                self.store(target, self.valued(value, scope), scope)
            case ast.AugAssign(target, sign, value):
                made = ast.copy_location(ast.BinOp(target, sign, value), node)
                self.store(target, self.valued(made, scope), scope)
            case ast.If():
                return self._if(node, scope)
            case ast.For(orelse=[]):
                return self._for(node, scope)
            case ast.While(orelse=[]):
                leave = ast.copy_location(ast.Break(), node)
                test = ast.copy_location(ast.If(node.test, node.body, [leave]), node)
                self.settle_all(scope)
                return self._recursion(node, None, [test], scope)
            case ast.Break() | ast.Continue():
                return [End(type(node).__name__.lower(), TRUE, scope)], None
            case _:
                raise self.fail(node, "this statement has no translation to TLA+")
        return [], scope

    def _if(self, node: ast.If, scope: Scope) -> Followed:
        value = self.read(self.valued(node.test, scope), scope)
        test = self.convert(value, tla.BOOL, node.test)
        yes_ends, yes = self.block(node.body, dict(scope))
        no_ends, no = self.block(node.orelse, dict(scope))
        found = [each._replace(test=tla.conj(test, each.test)) for each in yes_ends]
        found += [each._replace(test=tla.conj(tla.neg(test), each.test)) for each in no_ends]
        if yes and no:
            return found, self._joined(test, yes, no)
        return found, yes or no

    def _joined(self, test: Tla, yes: Scope, no: Scope) -> Scope:
        """One scope in place of two: what differs is an IF."""
        joined = {}
        for each in (name for name in names_first(yes) if name in no):
            a, b = yes[each], no[each]
            if a != b and a.known is None and b.known is None:
                a, b = self.read(a, yes), self.read(b, no)
                kind = tla.common_type([a.type, b.type])
                made = tla.if_(test, tla.converted(a, kind), tla.converted(b, kind))
                is_free = kind == TEXT or "." in each
                a = b = Value(made if is_free else self.named(each, made), kind)
            if a == b:
                joined[each] = a
        return joined

    def store(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value."""
        if not isinstance(target, ast.Name):
            place = self.value(target, scope)
            if not place.place:
                raise self.fail(target, "this can't be assigned to in TLA+: it is a copy")
            self._change(place, self.convert(self.read(value, scope), place.type, target), scope)
            return
        value = self.copied(value, scope)
        if value.known is None and not value.place and tla.is_whole(value.type):
            cell = f"own.{self.fresh(target.id)}"
            scope[cell] = value
            value = Value(None, value.type, (cell,))
        elif value.known is None and not value.place and value.type != TEXT:
            value = Value(self.named(target.id, value.tla), value.type)
        scope[target.id] = value

    def _change(self, place: Value, value: Tla, scope: Scope) -> None:
        key, *steps = place.place
        now = tla.changed(scope[key].tla, tuple(steps), value)
        scope[key] = replace(scope[key], tla=now)

    # --- Expressions whose evaluation changes something ------------------------------------------

    def valued(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an expression, which may be a call of a function that changes something."""
        if not any(map(self._is_changing, ast.walk(node))):
            return self.value(node, scope)
        if not self._is_changing(node):
            changing = [each for each in ast.walk(node) if self._is_changing(each)]
            raise self.fail(changing[-1], "assign what this call returns to a variable first")
        *found, last = self._ends_of(node, scope)
        after = last.scope | {"the result": last.value}
        for each in reversed(found):
            after = self._joined(each.test, each.scope | {"the result": each.value}, after)
        if "the result" not in after:
            raise self.fail(node, "what this returns has no translation to TLA+")
        result = after.pop("the result")
        scope.clear()
        scope.update(after)
        return result

    def _is_changing(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        called = names_read(self.function).get(getattr(node.func, "id", ""))
        return called in _CONTAINERS or (is_of_protocol(called) and changes(called))

    def _ends_of(self, node: ast.Call, scope: Scope) -> list[End]:
        """The ends of a call's code, which is followed where it stands."""
        called = names_read(self.function)[node.func.id]
        if called not in _CONTAINERS:
            return self.body(called, self.arguments(called, node, scope), scope)
        value = self._container_changed(called, node, scope)
        return [End("return", TRUE, scope, value)]

    def _container_changed(self, called: Callable, node: ast.Call, scope: Scope) -> Value:
        """What a container's function returns, after it has changed the container."""
        container = self.value(node.args[0], scope)
        if not container.place:
            raise self.fail(node, "this container can't be changed in TLA+: it is a copy")
        now, kind = self.read(container, scope).tla, container.type
        length, result, given = tla.call("Len", now), tla.NOTHING, None
        if node.args[1:]:
            at_index = called in (containers.truncate, containers.remove_at)
            given = self.as_(tla.INT if at_index else tla.item_of(kind), node.args[1], scope)
        if called is containers.append:
            made = tla.call("Append", now, given)
        elif called is containers.pop_first or (
            called is containers.remove_at and given == tla.ZERO
        ):
            result, made = Value(tla.call("Head", now), tla.item_of(kind)), tla.call("Tail", now)
        elif called is containers.truncate:
            shorter = tla.call("Min", tla.set_of(given, length))
            made = Tla("<<>>") if given == tla.ZERO else tla.call("SubSeq", now, Tla("1"), shorter)
        elif called is containers.remove_at:
            before = tla.call("SubSeq", now, Tla("1"), given)
            made = tla.op("\\o", before, tla.call("SubSeq", now, tla.plus(given, 2), length))
        elif kind in self.types.multisets:
            sign = "(-)" if called is containers.take else "(+)"
            made = tla.op(sign, now, tla.call("SetToBag", tla.set_of(given)))
        else:
            if called is containers.add:
                self.types.added_twice.add(kind)
            made = tla.op("\\" if called is containers.take else "\\cup", now, tla.set_of(given))
        self._change(container, made, scope)
        return result

    # --- Loops -----------------------------------------------------------------------------------

    def _for(self, node: ast.For, scope: Scope) -> Followed:
        self.settle_all(scope)
        for any_order in (True, False):
            items = self.items(node.target, node.iter, scope, any_order)
            with self.inside() as let:
                begin = scope | items.values
                found, last = self.block(node.body, dict(begin))
                returns = [each for each in found if each.how == "return"]
                test = let(tla.disj(*(each.test for each in returns)))
            self.local.discard(items.bound)
            others = [each.scope for each in found if each.how != "return"] + [last] * bool(last)
            if any(_changes_between(begin, each) for each in others):
                continue
            if not returns:
                return [], scope
            if self._is_one_answer(returns, items, begin):
                exists = tla.quantified("\\E", items.bound, items.domain, test)
                return [End("return", exists, dict(scope), returns[0].value)], scope
            if items.in_order or not items.domain.text.startswith("Items("):
                return self._of_the_first(node, items, any_order, test, scope), scope
        return self._recursion(node, items, node.body, scope)

    def _is_one_answer(self, returns: list[End], items: Items, begin: Scope) -> bool:
        """Does a loop return the same for all items, or some text, and changes nothing?"""
        values = [each.value for each in returns]
        texts = all(each.type == TEXT and each.tla.text[:2] not in ('""', "IF") for each in values)
        alike = all(each == values[0] and each.tla for each in values)
        alike = alike and not re.search(rf"\b{items.bound}\b", values[0].tla.text)
        return (texts or alike) and not any(_changes_between(begin, e.scope) for e in returns)

    def _of_the_first(
        self, node: ast.For, items: Items, any_order: bool, test: Tla, scope: Scope
    ) -> list[End]:
        """What a loop does with the first item with which it returns."""
        exists = tla.quantified("\\E", items.bound, items.domain, test)
        fitting = tla.filtered(items.bound, items.domain, test)
        first = tla.quantified("CHOOSE", items.bound, fitting, TRUE)
        first = tla.call("Min", fitting) if items.in_order else first
        self.local.add(items.bound)
        item = self.items(node.target, node.iter, scope, any_order)
        self.definitions.append(f"{item.bound} == {first.text}")
        found, _ = self.block(node.body, scope | item.values)
        found = [each for each in found if each.how == "return"]
        return [each._replace(test=tla.conj(exists, each.test)) for each in found]

    def _recursion(
        self, node: ast.stmt, items: Items | None, code: list[ast.stmt], scope: Scope
    ) -> Followed:
        """A loop as an operator that calls itself. It has a parameter for each thing that a pass
        changes, which is a variable or a cell."""
        loop, left = self.fresh("loop"), items and self.fresh("left")
        picked = []
        if items:
            pick = tla.quantified("CHOOSE", items.bound, Tla(left), TRUE)
            pick = tla.call("Min", Tla(left)) if items.in_order else pick
            picked = [f"{items.bound} == {pick.text}"]
        kinds: dict[str, Any] = {}
        symbols: dict[str, str] = {}
        grown = None
        while grown != {}:
            with self.inside(picked) as let:
                begin = scope | (items.values if items else {})
                begin |= {key: Value(Tla(symbols[key]), kinds[key]) for key in symbols}
                found, last = self.block(code, dict(begin))
                found += [End("continue", TRUE, last)] if last else []
            if any(end.how == "return" for end in found):
                told = "a loop that changes something has no translation to TLA+ if it returns"
                raise self.fail(node, told)
            news: dict[str, Any] = {}
            for each in found:
                news |= _changes_between(begin, each.scope)
            grown = {k: v for k, v in news.items() if k not in kinds or v == NODES != kinds[k]}
            kinds |= grown
            symbols |= {k: self.fresh(k) for k in grown if k not in symbols}

        def now(there: Scope) -> list[Tla]:
            return [tla.converted(there[key], kinds[key]) for key in symbols]

        rest = [tla.op("\\", Tla(left), tla.set_of(Tla(items.bound)))] if items else []
        made = [
            tla.call(loop, *rest, *now(end.scope))
            if end.how == "continue"
            else _one_or_all(now(end.scope))
            for end in found
        ]
        body = let(_chain(found, made))
        if items:
            done = tla.op("=", Tla(left), tla.EMPTY)
            body = tla.if_(done, _one_or_all([Tla(each) for each in symbols.values()]), body)
        head = ", ".join([left] * bool(items) + [*symbols.values()])
        slots = ", ".join("_" * (len(symbols) + bool(items)))
        self.definitions += [f"RECURSIVE {loop}({slots})", f"{loop}({head}) == {body.text}"]
        start = [items.domain] if items else []
        many = len(symbols) > 1
        result = self.defined_as(
            "result" if many else next(iter(symbols.values())),
            tla.call(loop, *start, *now(scope)),
        )
        after = dict(scope)
        for k, key in enumerate(symbols, 1):
            after[key] = Value(tla.at(result, f"[{k}]") if many else result, kinds[key])
        return [], after


def _one_or_all(values: list[Tla]) -> Tla:
    return values[0] if len(values) == 1 else tla.tuple_of(*values)


def _chain(found: list[End], values: list[Tla]) -> Tla:
    """IF the test of the first end THEN its value ELSE ..."""
    *earlier, made = values
    for end, value in reversed([*zip(found, earlier, strict=False)]):
        made = tla.if_(end.test, value, made)
    return made


def _changes_between(begin: Scope, last: Scope) -> dict[str, Any]:
    """The variables and cells that differ, with their types."""
    found = {}
    for each in names_first(begin):
        old, new = begin[each], last.get(each, begin[each])
        if new != old and not (old.place or new.place or old.known is not None):
            found[each] = tla.common_type([old.type, new.type])
    return found
