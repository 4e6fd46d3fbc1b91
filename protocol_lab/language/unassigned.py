"""Rejects variables that may be read before anything was assigned to them.

    if s.leader != NONE:
        epoch = s.epoch[s.leader]
    s.known = epoch               on the other path, epoch has no value

Python fails on that path only, and compiled code reads there whatever its place holds. As in Java
every path to the reading must assign; that two conditions agree is not looked at.
"""

import ast
from collections.abc import Callable, Iterator

from protocol_lab.language.source_code import error_at

_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

Known = frozenset[str] | None
"""The variables that are assigned at a point of the code; None where no path leads."""


def refuse_unassigned(function: Callable, tree: ast.FunctionDef) -> None:
    """Raise LabError if the function, given with its syntax tree, has such a variable."""
    parameters = frozenset(each.arg for each in tree.args.args)
    _Paths(function, frozenset(_assigned(tree)) - parameters).block(tree.body, parameters)


def _assigned(node: ast.AST) -> Iterator[str]:
    """The names that are assigned, but for the variables of comprehensions, which end with them."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _COMPREHENSIONS | ast.Lambda):
            yield from _assigned(child)


class _Paths:
    """Follows the paths through a function, with what is assigned on all that lead to a point."""

    def __init__(self, function: Callable, variables: frozenset[str]):
        self.function, self.variables = function, variables
        # of each loop around: what is known at its breaks, and at its continues
        self.leaving: list[tuple[list[Known], list[Known]]] = []

    def block(self, statements: list[ast.stmt], known: Known) -> Known:
        """What is known after the statements."""
        for each in statements:
            if known is not None:
                known = self._statement(each, known)
        return known

    def _statement(self, node: ast.stmt, known: frozenset[str]) -> Known:
        match node:
            case ast.Return() | ast.Raise():
                self._read(node, known)
                return None
            case ast.Break() | ast.Continue():
                self.leaving[-1][isinstance(node, ast.Continue)].append(known)
                return None
            case ast.If(test, body, orelse):
                self._read(test, known)
                return _on_all([self.block(body, known), self.block(orelse, known)])
            case ast.While(test, body, orelse):
                self._read(test, known)
                turned, breaks = self._turns(body, known)
                endless = isinstance(test, ast.Constant) and test.value
                ended = None if endless else _on_all([known, *turned])
                return _on_all([self.block(orelse, ended), *breaks])
            case ast.For(target, source, body, orelse):
                self._read(source, known)
                turned, breaks = self._turns(body, known.union(_assigned(target)))
                ended = _on_all(turned if _has_items(source) else [known, *turned])
                return _on_all([self.block(orelse, ended), *breaks])
            case ast.AugAssign(ast.Name(name) as target) if name not in known:
                self._refuse(target)
            case ast.AnnAssign(value=None):
                return known
        self._read(node, known)
        return known.union(_assigned(node))

    def _turns(
        self, body: list[ast.stmt], known: frozenset[str]
    ) -> tuple[list[Known], list[Known]]:
        """What is known where a turn of a loop ends, and at the loop's breaks."""
        self.leaving.append(([], []))
        turned = self.block(body, known)
        breaks, continues = self.leaving.pop()
        return [turned, *continues], breaks

    def _read(self, node: ast.AST, known: frozenset[str]) -> None:
        if isinstance(node, _COMPREHENSIONS):
            known = known.union(*(_assigned(each.target) for each in node.generators))
        match node:
            case ast.Name(name, ast.Load()) if name in self.variables - known:
                self._refuse(node)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.Lambda | ast.stmt):
                self._read(child, known)

    def _refuse(self, name: ast.Name) -> None:
        told = "it has no value on some of the paths to this line: give it one before"
        raise error_at(self.function, name, told)


def _on_all(paths: list[Known]) -> Known:
    """What is known where these paths meet."""
    known = [each for each in paths if each is not None]
    return frozenset.intersection(*known) if known else None


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
