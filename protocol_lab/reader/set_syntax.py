"""Rewrites `in`, `len` and `for` on sets of nodes as calls of functions on bitmasks.

    node in s.alive            becomes   _contains(s.alive, node)
    len(s.alive)               becomes   _size(s.alive)
    for node in s.alive: ...   becomes   for node in _members(s.alive): ...

A set of nodes is a number in compiled code, so `layouts_in_code` has to infer which expressions are
sets. Where it can't, the code stays unchanged, and compiling it fails with a sentence.
"""

import ast

from protocol_lab.model import node_sets
from protocol_lab.reader.layouts_in_code import LayoutsInCode

SET_OPERATIONS = {
    "_contains": node_sets.contains,
    "_size": node_sets.size,
    "_members": node_sets.members,
}
"""The functions that are called instead, by their names in the rewritten code."""


class SetSyntax(ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, code: LayoutsInCode):
        self.code = code

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`node in nodes`, `node not in nodes`."""
        self.generic_visit(node)
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
            case ast.Call(ast.Name("len"), [items], []) if self.code.is_set(items):
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
        if self.code.is_set(node.iter):
            node.iter = ast.copy_location(_call("_members", node.iter), node.iter)
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
