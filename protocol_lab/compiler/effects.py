"""Finds the actions that may refuse after a change.

A guard that refuses must have changed nothing, since the compiled loops copy the state only after
an action was taken. That is proven here from the syntax: no path to a refusal contains a statement
that stores something, or a call of a function that does. For an action without this proof, compiled
code compares the state after every refusal (`records.check_unchanged`).

Also finds the actions that a constant probably rules out, such as a crash where none is allowed:
`first_guards`.
"""

import ast
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.reader.reading import reading
from protocol_lab.reader.side_effects import Flow, changes, own_lists, stores
from protocol_lab.reader.source_code import names_read, without_annotations


def may_refuse_changed(function: Callable) -> bool:
    """May an action return a reason after it, or what it calls, has changed something?

    False is a proof. True is not: it is also the answer where nothing can be proven.
    """
    try:
        _Changed(function).check(changed=False)
    except (_NotProven, LabError, RecursionError):
        return True
    return False


def check_only_looks(function: Callable) -> None:
    """Raise LabError for a property that changes something: compiled, it would change the stored
    states."""
    if changes(function):
        raise LabError(
            f"{function.__name__} changes the state, or may do so: only actions change it; only"
            " read it here, and return what you find."
        )


class _NotProven(Exception):
    """Raised where a reason may be returned after something was changed."""


class _Changed(Flow[bool]):
    """The paths through one function: may something have been changed before?"""

    def __init__(self, function: Callable, callers: tuple[Callable, ...] = ()):
        super().__init__()
        if function in callers:
            raise _NotProven
        self.callers = (*callers, function)
        self.body, self.names = reading(function).apart.body, names_read(function)
        self.own = own_lists(function)

    def check(self, changed: bool) -> None:
        """Follow all paths, given whether something was changed before. Raises _NotProven."""
        self.block(self.body, changed)

    def read(self, node: ast.AST | None, changed: bool) -> bool:
        return changed or self._stores(node)

    def meet(self, paths: list[bool]) -> bool:
        return any(paths)

    def _stores(self, *nodes: ast.AST | None) -> bool:
        return any(stores(each, self.names, self.own) for each in nodes if each is not None)

    def block(self, statements: list[ast.stmt], changed: bool | None) -> bool | None:
        for k in range(len(statements) - 1):
            called = self._passed_on(statements[k : k + 2])
            if called is not None:
                changed = super().block(statements[:k], changed)
                if changed is not None:
                    _Changed(called, self.callers).check(changed)
                    # on the path that goes on, the called function has returned TAKEN
                    changed = self.block(statements[k + 2 :], changed or changes(called))
                return changed
        return super().block(statements, changed)

    def _passed_on(self, statements: list[ast.stmt]) -> Callable | None:
        """The function f if the first statements are `reason = f(...)` and a guard that returns
        the reason exactly where it is not empty."""
        match statements:
            case [
                ast.Assign([ast.Name(reason)], ast.Call() as call),
                ast.If(test, [ast.Return(ast.Name(returned))], []),
            ] if reason == returned and self._is_not_empty(test, reason):
                return self._called(call)
        return None

    def _is_not_empty(self, test: ast.expr, text: str) -> bool:
        """Is it true exactly where the variable `text` is not the empty text?"""
        match test:
            case ast.Name(name):
                return name == text
            case ast.Call(ast.Name("len"), [ast.Name(name)], []):
                return name == text and "len" not in self.names
            case ast.Compare(ast.Name(name), [ast.NotEq()], [other]):
                return name == text and self._is_empty_text(other)
            case ast.Compare(left, [ast.NotEq() | ast.Gt()], [ast.Constant(value=0)]):
                return isinstance(left, ast.Call) and self._is_not_empty(left, text)
        return False

    def _is_empty_text(self, value: ast.expr | None) -> bool:
        """Is it the text "", written here or as TAKEN?"""
        match value:
            case ast.Constant(value=""):
                return True
            case ast.Name(name):
                return self.names.get(name) == ""
        return False

    def _called(self, call: ast.Call) -> Callable | None:
        """The function that is called, if it is one of Python's source and its arguments store
        nothing."""
        called = self.names.get(call.func.id) if isinstance(call.func, ast.Name) else None
        plain = inspect.isfunction(called) and not self._stores(*call.args, *call.keywords)
        return called if plain else None

    def returned(self, node: ast.Return, changed: bool) -> None:
        tests, values = _alternatives(node.value)
        for each in values:
            self._may_refuse(each, changed or self._stores(*tests))

    def _may_refuse(self, value: ast.expr | None, changed: bool) -> None:
        if self._is_empty_text(value):
            return
        called = self._called(value) if isinstance(value, ast.Call) else None
        if called is not None:
            _Changed(called, self.callers).check(changed)
        elif changed or self._stores(value):
            raise _NotProven


def _alternatives(value: ast.expr | None) -> tuple[list[ast.expr], list[ast.expr | None]]:
    """The tests of a conditional expression, and its possible values."""
    if not isinstance(value, ast.IfExp):
        return [], [value]
    parts = _alternatives(value.body), _alternatives(value.orelse)
    return [value.test, *parts[0][0], *parts[1][0]], [*parts[0][1], *parts[1][1]]


# --- Actions that a constant rules out -----------------------------------------------------------

_COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def first_guards(function: Callable, constants: Any) -> Callable | None:
    """The guards of an action up to one that refuses with these constants, as a function that
    returns TAKEN where none of them refuses. None if there is no such guard.

    That it refuses is a guess: the state's numbers are taken to be 0 or more. Only guards before
    which nothing stands but guards are looked at.
    """
    body, names = reading(function).body, names_read(function)
    for k, each in enumerate(body, 1):
        if not _is_guard(each) or stores(each.test, names, frozenset()):
            return None
        if _truth(each.test, constants, names):
            return _shortened(function, body[:k])
    return None


def _is_guard(statement: ast.stmt) -> bool:
    """Is it `if ...: return "a reason"`?"""
    match statement:
        case ast.If(body=[ast.Return(value=ast.Constant(value=str(reason)))], orelse=[]):
            return bool(reason)
    return False


def _truth(test: ast.expr, constants: Any, names: dict[str, Any]) -> bool | None:
    """Whether a test is true in every state; None if that can't be told."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            value = _truth(operand, constants, names)
            return None if value is None else not value
        case ast.BoolOp(op, values):
            found = [_truth(each, constants, names) for each in values]
            decisive = isinstance(op, ast.Or)
            if decisive in found:
                return decisive
            return None if None in found else not decisive
        case ast.Compare(left, [op], [right]) if type(op) in _COMPARISONS:
            compare = _COMPARISONS[type(op)]
            (least, most), (low, high) = (_range(each, constants, names) for each in (left, right))
            found = {compare(a, b) for a in (least, most) for b in (low, high)}
            return found.pop() if len(found) == 1 else None
    least, most = _range(test, constants, names)
    return bool(least) if least == most else None


def _range(value: ast.expr, constants: Any, names: dict[str, Any]) -> tuple[float, float]:
    """The least and the most that a number can be, a field of the state being 0 or more."""
    match value:
        case ast.Constant(value=int(number)):
            return number, number
        case ast.Attribute(ast.Name("c"), name) if hasattr(constants, name):
            number = int(getattr(constants, name))
            return number, number
        case ast.Attribute():
            root = value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id == "s":
                return 0, math.inf
        case ast.Name(name) if type(names.get(name)) is int:
            return names[name], names[name]
    return -math.inf, math.inf


def _shortened(function: Callable, body: list[ast.stmt]) -> Callable:
    """A function with the same name and parameters that does this, and returns TAKEN."""
    shorter = without_annotations(reading(function).as_written)
    shorter.body = [*body, ast.Return(ast.Constant(""))]
    text = ast.unparse(ast.fix_missing_locations(shorter)) + "\n"
    scope = {**function.__globals__, **names_read(function)}
    exec(text, scope)
    made = scope[function.__name__]
    made.lab_source, made.__module__ = text, function.__module__
    return made
