"""Rejects variables that may be read before anything was assigned to them.

    if s.leader != NONE:
        epoch = s.epoch[s.leader]
    s.known = epoch               on the other path, epoch has no value

Python fails on that path only, and compiled code reads there whatever its place holds. As in Java
every path to the reading must assign; that two conditions agree is not looked at.
"""

import ast
from collections.abc import Callable

from protocol_lab.language.dataflow import Flow
from protocol_lab.language.reading import names_assigned, reading
from protocol_lab.language.source_code import error_at

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
