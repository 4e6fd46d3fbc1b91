"""Finds out what code changes; rejects code without effect: comparisons with None, unused results.

    s.holder is not None       is always true: nobody is NONE, which is a number
    with_node(s.holds, 1)      gives another set, which is not used: s.holds stays as it is

A guard of the first kind may switch an action off, and then every invariant holds.
"""

import ast
import builtins
import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Generic, TypeVar

from protocol_lab.errors import LabError, shortened
from protocol_lab.model import containers, node_sets
from protocol_lab.reader.reading import assignments, names_assigned, reading
from protocol_lab.reader.source_code import code_text, error_at, names_read

_ONLY_RETURN = (
    *(
        each
        for each in vars(node_sets).values()
        if inspect.isfunction(each) and each is not node_sets.refuse_negative
    ),
    *(each for each in containers.ONLY_LOOK if each is not containers.overflow),
    *(abs, all, any, enumerate, len, max, min, range, reversed, sorted, sum, zip),
)
"""The functions that change nothing: a call whose result is not used has no effect."""

_CHANGED = {
    node_sets.with_node: "the set itself stays as it is: write {0} = with_node({0}, ...)",
    node_sets.without_node: "the set itself stays as it is: write {0} = without_node({0}, ...)",
}
"""What to write instead, where that is known."""


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
        if isinstance(target, ast.Name) and _makes_list(value)
    )
    return frozenset(
        name
        for name, count in made.items()
        if code.times_assigned[name] == count and name not in code.parameters
    )


def _makes_list(value: ast.expr) -> bool:
    match value:
        case ast.BinOp(ast.List(), ast.Mult(), _):
            return True
    return False


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


# --- Code without effect --------------------------------------------------------------------------


def refuse_ineffective(function: Callable) -> None:
    """Raise LabError if the function has such code."""
    tree = reading(function).apart
    values, maybe_none = names_read(function), _maybe_none(function, tree)
    for node in ast.walk(tree):
        told = None
        if isinstance(node, ast.Compare):
            told = _of_comparison(node, values, maybe_none)
        elif isinstance(node, ast.Expr):
            told = _of_statement(node.value, values)
        if told is not None:
            raise error_at(function, node, told)


# --- Comparisons ---------------------------------------------------------------------------------


def _of_comparison(node: ast.Compare, values: dict[str, Any], maybe_none: set[str]) -> str | None:
    sides = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if not isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            continue
        other = right if _is_none(left) else left
        sign = "==" if isinstance(op, ast.Is | ast.Eq) else "!="
        if _is_none(left) or _is_none(right):
            if _is_never_none(other, values, maybe_none):
                shown = shortened(code_text(other), 60)
                return (
                    f"no value of a state is None: write {shown} {sign} NONE for a node, and"
                    " compare a number with 0 or -1"
                )
        elif isinstance(op, ast.Is | ast.IsNot):
            return f"this does not compare values: write {sign}"
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_never_none(node: ast.expr, values: dict[str, Any], maybe_none: set[str]) -> bool:
    """Is it an expression that can't be None? Some local variables and results can."""
    match node:
        case ast.Name(name):
            return name not in maybe_none
        case ast.Call(ast.Name(name)):
            called = values.get(name)
            return isinstance(called, type) or called in (*_ONLY_RETURN, containers.pop_first)
    return not (_is_none(node) or isinstance(node, ast.Call | ast.IfExp | ast.Tuple))


def _maybe_none(function: Callable, tree: ast.FunctionDef) -> set[str]:
    """The local variables that may really be None: those assigned None, or a call's result."""
    given = inspect.signature(function).parameters.values()
    found = {each.name for each in given if each.default is None}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(value=value) if not _is_never_none(value, {}, found):
                found |= {*names_assigned(node)}
    return found


# --- Statements ----------------------------------------------------------------------------------


def _of_statement(value: ast.expr, values: dict[str, Any]) -> str | None:
    if isinstance(value, ast.Constant) or not _only_returns(value, values):
        return None
    match value:
        case ast.Call(ast.Name(name), [nodes, *_]) if values.get(name) in _CHANGED:
            return _CHANGED[values[name]].format(code_text(nodes))
        case ast.Compare(left, [ast.Eq()], [right]):
            assigned = f"{code_text(left)} = {code_text(right)}"
            return f"this only compares: write {assigned} to assign, or use the result"
    return "this changes nothing, and its value is not used: assign or return it, or leave it out"


def _only_returns(value: ast.expr, values: dict[str, Any]) -> bool:
    """Is every function that the expression calls known to change nothing?"""
    for node in ast.walk(value):
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if not isinstance(node, ast.Call):
            continue
        if not isinstance(node.func, ast.Name):
            return False
        called = values.get(node.func.id, getattr(builtins, node.func.id, None))
        if not isinstance(called, type) and called not in _ONLY_RETURN:
            return False
    return True


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
