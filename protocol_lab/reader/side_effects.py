"""Finds out what code changes: any code, a function, an action before it refuses."""

import ast
import builtins
import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Generic, TypeVar

from protocol_lab.errors import LabError
from protocol_lab.model import containers
from protocol_lab.model.transitions import enabled, writable
from protocol_lab.reader.reading import assignments, reading
from protocol_lab.reader.source_code import names_read


def calls_what_changes(trees: Iterable[ast.AST], names: dict[str, Any]) -> bool:
    """May the code call what stores something? names: the values of the names that it reads."""
    nodes = (each for tree in trees for each in ast.walk(tree))
    called = {
        each.func.id if isinstance(each.func, ast.Name) else ""
        for each in nodes
        if isinstance(each, ast.Call)
    }
    return any(_call_stores(each, names, set()) for each in called)


def changes(function: Callable) -> bool:
    """May the function, or one that it calls, store something besides its own variables?"""
    try:
        return _changes(function, set())
    except LabError:
        return True


def _changes(function: Callable, seen: set[Callable]) -> bool:
    if function.__module__ == containers.__name__:
        return function not in containers.ONLY_LOOK
    if function in (enabled, writable):
        return False
    if function in seen:
        return False
    seen.add(function)
    names, own = names_read(function), own_lists(function)
    return any(stores(each, names, own, seen) for each in reading(function).apart.body)


@cache
def own_lists(function: Callable) -> frozenset[str]:
    """The variables that never are anything but a list which the function makes, `[0] * n`: what is
    stored in it changes nothing else."""
    code = reading(function)
    made = Counter(
        target.id
        for target, value in assignments(code.apart)
        if isinstance(target, ast.Name)
        and isinstance(value, ast.BinOp)
        and isinstance(value.left, ast.List)
        and isinstance(value.op, ast.Mult)
    )
    return frozenset(
        name
        for name, count in made.items()
        if code.times_assigned[name] == count and name not in code.parameters
    )


def stores(
    tree: ast.AST,
    names: dict[str, Any],
    own: frozenset[str],
    seen: set[Callable] | None = None,
) -> bool:
    """Does the code store something besides items of its own lists, or call what may do so?"""
    itself, called = _stores_and_calls(tree, own)
    seen = set() if seen is None else seen
    return itself or any(_call_stores(each, names, seen) for each in called)


@cache
def _stores_and_calls(tree: ast.AST, own: frozenset[str]) -> tuple[bool, frozenset[str]]:
    """(does the code itself store something, or call something without a name; the names that it
    calls)"""
    stores, called = False, set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name(name)) if name in own:
                continue
            case ast.Attribute() | ast.Subscript():
                stores |= isinstance(node.ctx, ast.Store)
            case ast.Call(ast.Name(name)):
                called.add(name)
            case ast.Call():
                stores = True
    return stores, frozenset(called)


def _call_stores(called: str, names: dict[str, Any], seen: set[Callable]) -> bool:
    value = names.get(called, getattr(builtins, called, None))
    if inspect.isfunction(value):
        return _changes(value, seen)
    return not (isinstance(value, type) or inspect.isbuiltin(value))


# --- Dataflow -------------------------------------------------------------------------------------
#
# Follows the paths through a function's statements, whatever is asked.
#
# A subclass says what is known at a point of the code, how an expression or a simple statement
# changes that, and what is known where paths meet. Loops are followed until nothing new is found.


State = TypeVar("State")
"""What is known at a point of the code: a value that is replaced, not changed."""


class Flow(Generic[State]):
    """The paths through one function. None stands for what is known where no path leads."""

    def __init__(self) -> None:
        # of each loop around: what is known at its breaks, and at its continues
        self._leaving: list[tuple[list[State], list[State]]] = []

    def read(self, node: ast.AST | None, known: State) -> State:
        """What is known after an expression, or the expressions of a statement, were evaluated."""
        raise AssertionError(node)

    def simple(self, node: ast.stmt, known: State) -> State:
        """What is known after a statement that has no others inside."""
        return self.read(node, known)

    def bound(self, loop: ast.For, known: State) -> State:
        """What is known after a loop's variables got their next values."""
        return known

    def returned(self, node: ast.Return, known: State) -> None:
        """Called for each return that is reached."""
        self.read(node.value, known)

    def meet(self, paths: list[State]) -> State:
        """What is known where several paths meet."""
        raise AssertionError(paths)

    def block(self, statements: list[ast.stmt], known: State | None) -> State | None:
        """What is known after the statements."""
        for each in statements:
            if known is not None:
                known = self._statement(each, known)
        return known

    def _statement(self, node: ast.stmt, known: State) -> State | None:
        match node:
            case ast.Return():
                self.returned(node, known)
                return None
            case ast.Raise():
                self.simple(node, known)
                return None
            case ast.Break() | ast.Continue():
                self._leaving[-1][isinstance(node, ast.Continue)].append(known)
                return None
            case ast.If(test, body, orelse):
                known = self.read(test, known)
                return self._meet([self.block(body, known), self.block(orelse, known)])
            case ast.For() | ast.While():
                return self._loop(node, known)
        return self.simple(node, known)

    def _loop(self, loop: ast.For | ast.While, known: State) -> State | None:
        is_for = isinstance(loop, ast.For)
        before, head = None, self.read(loop.iter, known) if is_for else known
        while head != before:  # what a turn leaves is known at the beginning of the next one
            before = head
            asked = head if is_for else self.read(loop.test, head)
            self._leaving.append(([], []))
            turned = self.block(loop.body, self.bound(loop, head) if is_for else asked)
            breaks, continues = self._leaving.pop()
            turns = [turned, *continues]
            head = self._meet([head, *turns])
        if is_for:
            ended = self._meet(turns if _has_items(loop.iter) else [head])
        else:
            ended = None if isinstance(loop.test, ast.Constant) and loop.test.value else asked
        return self._meet([self.block(loop.orelse, ended), *breaks])

    def _meet(self, paths: list[State | None]) -> State | None:
        reached = [each for each in paths if each is not None]
        return self.meet(reached) if reached else None


def _has_items(source: ast.expr) -> bool:
    """Is it a tuple, list or range that is known to have an item?"""
    match source:
        case ast.Tuple(items) | ast.List(items):
            return bool(items)
        case ast.Call(ast.Name("range"), bounds):
            try:
                return len(range(*map(ast.literal_eval, bounds))) > 0
            except (ValueError, TypeError):
                return False
    return False


# --- Refusals after a change ----------------------------------------------------------------------
#
# A guard that refuses must have changed nothing, since the compiled loops copy the state only after
# an action was taken. That is proven from the syntax: no path to a refusal contains a statement
# that stores something, or a call of a function that does. For an action without this proof,
# compiled code compares the state after every refusal.


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
        tests, values = alternatives(node.value)
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


def alternatives(value: ast.expr | None) -> tuple[list[ast.expr], list[ast.expr | None]]:
    """The tests of a conditional expression, and its possible values."""
    if not isinstance(value, ast.IfExp):
        return [], [value]
    parts = alternatives(value.body), alternatives(value.orelse)
    return [value.test, *parts[0][0], *parts[1][0]], [*parts[0][1], *parts[1][1]]
