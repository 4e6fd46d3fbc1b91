"""Rewrites `in`, `len` and `for` on sets of nodes as calls of functions on bitmasks.

    node in s.alive            becomes   _contains(s.alive, node)
    len(s.alive)               becomes   _size(s.alive)
    for node in s.alive: ...   becomes   for node in _members(s.alive): ...

A set of nodes is a number in compiled code, so `layouts_in_code` has to infer which expressions are
sets. Where it can't, the code stays unchanged, and compiling it fails with a sentence.

It also rejects loops over an array by node whose constant has `classes`, and its `len`: such an
array has room for more nodes than there are, so that the loop has to go over the nodes.
"""

import ast
import re
from collections.abc import Callable

from protocol_lab.errors import LabError
from protocol_lab.model import node_sets
from protocol_lab.model.layout import ArrayLayout, names_in
from protocol_lab.reader.layouts_in_code import LayoutsInCode
from protocol_lab.reader.source_code import code_text

SET_OPERATIONS = {
    "_contains": node_sets.contains,
    "_size": node_sets.size,
    "_members": node_sets.members,
}
"""The functions that are called instead, by their names in the rewritten code."""

_GO_THROUGH = ("all", "any", "sum", "min", "max", "enumerate", "zip", "list", "sorted")


class SetSyntax(ast.NodeTransformer):
    """Rewrites one function.

    Raises LabError for a loop over an array that has room for more nodes than there are, for its
    `len`, and for a comparison with a set as Python writes it.
    """

    def __init__(self, function: Callable, code: LayoutsInCode):
        self.function, self.code = function, code
        limits = code.known.limits
        self.rounded = {name for name, each in limits.items() if each.classes}

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`node in nodes`, `node not in nodes`."""
        self.generic_visit(node)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            self._expect_no_more_room(node.comparators[0])
        else:
            self._expect_no_literal_set(node)
        if len(node.ops) > 1 or not self.code.is_set(node.comparators[0]):
            return node
        found = _call("_contains", node.comparators[0], node.left)
        if any(isinstance(each, ast.Call) for each in ast.walk(node)):
            # Python evaluates the node first; a call may change what the other side reads.
            given = {"node": node.left, "nodes": node.comparators[0]}
            found = ast.Call(found.func, [], [ast.keyword(*each) for each in given.items()])
        if isinstance(node.ops[0], ast.In):
            return ast.copy_location(found, node)
        if isinstance(node.ops[0], ast.NotIn):
            return ast.copy_location(ast.UnaryOp(ast.Not(), found), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`len(nodes)`."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name(name), [items, *_]) if name in _GO_THROUGH:
                self._expect_no_more_room(items)
            case ast.Call(ast.Name("len"), [items], []):
                self._expect_no_more_room(items)
                if self.code.is_set(items):
                    return ast.copy_location(_call("_size", items), node)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for node in nodes: ...`."""
        return self._loop(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """`... for node in nodes`, in a generator expression."""
        return self._loop(node)

    def _loop(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        self._expect_no_more_room(node.iter)
        if self.code.is_set(node.iter):
            node.iter = ast.copy_location(_call("_members", node.iter), node.iter)
        return node

    def _expect_no_literal_set(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for each in sides:
            if isinstance(each, ast.Set) and any(map(self.code.is_set, sides)):
                written = " | ".join(f"only({code_text(member)})" for member in each.elts)
                raise LabError(
                    f"{self.function.__name__}: {code_text(node)} is never true, since a set of"
                    f" nodes is no set of Python's (line {node.lineno}): write {written}."
                )

    def _expect_no_more_room(self, node: ast.expr) -> None:
        found = self.code.of(node)
        if not isinstance(found, ArrayLayout) or not found.per_node:
            return
        if self.rounded & set(names_in(found.per_node)):
            count = re.sub(r"\b(?=[a-zA-Z_])", "c.", found.per_node)
            raise LabError(
                f"{self.function.__name__}: {code_text(node)} has room for more nodes than there"
                f" are (line {node.lineno}): there are {count}, so go through them with"
                f" `for n in range(1, {count} + 1)`."
            )


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
