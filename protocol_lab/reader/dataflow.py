"""Follows the paths through a function's statements, whatever is asked.

A subclass says what is known at a point of the code, how an expression or a simple statement
changes that, and what is known where paths meet. Loops are followed until nothing new is found.
"""

import ast
from typing import Generic, TypeVar

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
