"""Follows the paths through a function's statements: one dataflow analysis, whatever is asked.

A subclass says what is known at a point of the code, how an expression or a simple statement
changes that, and what is known where paths meet. Loops are followed until nothing new is found.

With it `refuse_unassigned` rejects variables that may be read before anything was assigned to them.

    if s.leader != NONE:
        epoch = s.epoch[s.leader]
    s.known = epoch               on the other path, epoch has no value

Python fails on that path only, and compiled code reads there whatever its place holds. As in Java
every path to the reading must assign; that two conditions agree is not looked at.
"""

import ast
from collections.abc import Callable
from typing import Generic, TypeVar

from protocol_lab.reader.reading import names_assigned, reading
from protocol_lab.reader.source_code import error_at

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


Known = frozenset[str]
"""The variables that are assigned on all paths to a point of the code."""


def refuse_unassigned(function: Callable) -> None:
    """Raise LabError if the function has such a variable."""
    _Assigned(function).block(reading(function).apart.body, Known(reading(function).parameters))


class _Assigned(Flow[Known]):
    def __init__(self, function: Callable):
        super().__init__()
        self.function, self.variables = function, reading(function).variables

    def read(self, node: ast.AST | None, known: Known) -> Known:
        match node:
            case ast.Name(name, ast.Load()) if name in self.variables - known:
                told = "it has no value on some of the paths to this line: give it one before"
                raise error_at(self.function, node, told)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                known = known.union(*(names_assigned(each.target) for each in node.generators))
        for child in () if node is None else ast.iter_child_nodes(node):
            if not isinstance(child, ast.Lambda):
                self.read(child, known)
        return known

    def simple(self, node: ast.stmt, known: Known) -> Known:
        match node:
            case ast.AugAssign(ast.Name(name)):
                self.read(ast.copy_location(ast.Name(name, ast.Load()), node.target), known)
            case ast.AnnAssign(value=None):
                return known
        return self.read(node, known).union(names_assigned(node))

    def bound(self, loop: ast.For, known: Known) -> Known:
        return known.union(names_assigned(loop.target))

    def meet(self, paths: list[Known]) -> Known:
        return Known.intersection(*paths)
