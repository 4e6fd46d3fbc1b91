"""Finds the functions that change the state, and the actions that may refuse after a change.

A guard that refuses must have changed nothing, since the compiled loops copy the state only after
an action was taken. Here that is proven by syntax: no statement that stores something, and no call
of a function that does, stands on a way to a refusal. For an action of which it can't be proven,
compiled code compares the state after every refusal (`records.check_unchanged`).
"""

import ast
import builtins
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.language import containers
from protocol_lab.language.source_code import names_read, parse

_CHANGING = (
    containers.add,
    containers.add_once,
    containers.append,
    containers.erase,
    containers.put_item,
    containers.set_count,
    containers.take,
    containers.truncate,
)


def may_refuse_changed(function: Callable) -> bool:
    """May an action return a reason after it, or what it calls, has changed something?

    False is a proof; True is not: it is also the answer where this can't be told.
    """
    try:
        _Flow(function).check(changed=False)
    except (_NotProven, LabError, RecursionError):
        return True
    return False


def check_only_looks(function: Callable) -> None:
    """Raise LabError for a property that changes something: compiled, it would do so in the very
    states that are stored."""
    if changes(function):
        raise LabError(
            f"{function.__name__} changes the state, or may do so: only actions change it; look at"
            " it here, and return what you find."
        )


def changes(function: Callable) -> bool:
    """May the function, or one that it calls, store something beside its own variables?"""
    try:
        return _changes(function, set())
    except LabError:
        return True


def _changes(function: Callable, seen: set[Callable]) -> bool:
    if function in _CHANGING:
        return True
    if function in seen or function.__module__ == containers.__name__:
        return False
    seen.add(function)
    names = names_read(function)
    return any(_stores(each, names, seen) for each in _body(function))


@cache
def _body(function: Callable) -> list[ast.stmt]:
    return parse(function).body


def _stores(tree: ast.AST, names: dict[str, Any], seen: set[Callable]) -> bool:
    """Does the code store something, or call what may do so?"""
    itself, called = _stores_and_calls(tree)
    return itself or any(_call_stores(each, names, seen) for each in called)


@cache
def _stores_and_calls(tree: ast.AST) -> tuple[bool, frozenset[str]]:
    """Does the code itself store something, or call what has no name; and the names it calls."""
    stores, called = False, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript):
            stores |= isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
        elif isinstance(node, ast.Call):
            stores = True
    return stores, frozenset(called)


def _call_stores(called: str, names: dict[str, Any], seen: set[Callable]) -> bool:
    value = names.get(called, getattr(builtins, called, None))
    if inspect.isfunction(value):
        return _changes(value, seen)
    return not (isinstance(value, type) or inspect.isbuiltin(value))


class _NotProven(Exception):
    """A reason may be returned where something was changed."""


class _Flow:
    """The ways through one function."""

    def __init__(self, function: Callable, callers: tuple[Callable, ...] = ()):
        if function in callers:
            raise _NotProven
        self.callers = (*callers, function)
        self.body, self.names = _body(function), names_read(function)

    def check(self, changed: bool) -> None:
        """Follow all ways, something having been changed or not. Raises _NotProven."""
        self._block(self.body, changed)

    def _stores(self, *nodes: ast.AST | None) -> bool:
        return any(_stores(each, self.names, set()) for each in nodes if each is not None)

    def _block(self, statements: list[ast.stmt], changed: bool) -> bool:
        """Whether something may have been changed where the statements end."""
        for each in statements:
            changed = self._statement(each, changed)
        return changed

    def _statement(self, node: ast.stmt, changed: bool) -> bool:
        match node:
            case ast.Return(value):
                tests, values = _alternatives(value)
                changed = changed or self._stores(*tests)
                for each in values:
                    self._returned(each, changed)
                return False  # nothing goes on from here
            case ast.If(test, body, orelse):
                changed = changed or self._stores(test)
                return self._block(body, changed) | self._block(orelse, changed)
            case ast.For(_, source, body, orelse) | ast.While(source, body, orelse):
                changed = changed or self._stores(source)
                after = changed | self._block(body, changed)
                return self._block(orelse, after | self._block(body, after))
        return changed or self._stores(node)

    def _returned(self, value: ast.expr | None, changed: bool) -> None:
        if isinstance(value, ast.Constant) and value.value == "":
            return
        if isinstance(value, ast.Name) and self.names.get(value.id) == "":
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            called = self.names.get(value.func.id)
            if inspect.isfunction(called) and not self._stores(*value.args, *value.keywords):
                _Flow(called, self.callers).check(changed)
                return
        if changed or self._stores(value):
            raise _NotProven


def _alternatives(value: ast.expr | None) -> tuple[list[ast.expr], list[ast.expr | None]]:
    """The tests of a conditional expression, and what may come of it."""
    if not isinstance(value, ast.IfExp):
        return [], [value]
    parts = _alternatives(value.body), _alternatives(value.orelse)
    return [value.test, *parts[0][0], *parts[1][0]], [*parts[0][1], *parts[1][1]]
