"""Finds the sets of nodes in a function, and puts functions in place of what is asked of them.

    node in s.alive            becomes   _contains(s.alive, node)
    len(s.alive)               becomes   _size(s.alive)
    for node in s.alive: ...   becomes   for node in _members(s.alive): ...

A set of nodes is a number in compiled code, so what it is has to be told from the code: from the
type of the field that it is read from, from the function that makes it, or from what a parameter is
declared as. Where it can't be told the code stays as it is, and compiling it says so.

An array by node is told from its field, too: one whose constant has `classes` has room for more
nodes than there are, so that what goes through it, and not through the nodes, is refused.
"""

import ast
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.language import node_sets
from protocol_lab.language.source_code import names_read, readable
from protocol_lab.spec.constants import limits_of
from protocol_lab.spec.layout import (
    ArrayLayout,
    IntegerLayout,
    NodeSet,
    StructLayout,
    names_in,
)
from protocol_lab.spec.parameters import Subset

SET_OPERATIONS = {
    "_contains": node_sets.contains,
    "_size": node_sets.size,
    "_members": node_sets.members,
}
"""The functions that are put in place, by the names under which they are called."""

_MAKE_SETS = (node_sets.with_node, node_sets.without_node, node_sets.only, node_sets.nodes_up_to)

_GO_THROUGH = ("all", "any", "sum", "min", "max", "enumerate", "zip", "list", "sorted")

_A_SET = "a set of nodes"
"""What stands for the layout of a set that is no field."""


class SetSyntax(ast.NodeTransformer):
    """Replaces what one function asks of sets of nodes.

    fields: see `layouts_of_fields`. constants: the class of the constants. Raises LabError for what
    goes through the room for nodes that there are not.
    """

    def __init__(
        self,
        function: Callable,
        tree: ast.FunctionDef,
        fields: Mapping[str, Any],
        constants: type,
    ):
        self.function, self.fields, self.values = function, fields, names_read(function)
        self.rounded = {name for name, each in limits_of(constants).items() if each.classes}
        self.locals: dict[str, Any] = {
            each.name: _A_SET
            for each in signature(function).parameters.values()
            if isinstance(each.annotation, NodeSet | Subset)
        }
        given: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            match node:
                case ast.Assign([ast.Name(name)], value):
                    given.setdefault(name, []).append(value)
                case ast.AugAssign(ast.Name(name) as read, op, value):
                    given.setdefault(name, []).append(ast.BinOp(read, op, value))
                case ast.For(ast.Name(name), value) | ast.comprehension(ast.Name(name), value):
                    given.setdefault(name, []).append(ast.Subscript(value, ast.Constant(0)))
        known = None
        while known != self.locals:  # what a variable is may follow from another one
            known = dict(self.locals)
            for name, values in given.items():
                found = [_A_SET if self._is_set(each) else self._layout(each) for each in values]
                self.locals[name] = found[0] if found.count(found[0]) == len(found) else None

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`node in nodes`, `node not in nodes`."""
        self.generic_visit(node)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            self._expect_no_more_room(node.comparators[0])
        if len(node.ops) > 1 or not self._is_set(node.comparators[0]):
            return node
        found = _call("_contains", node.comparators[0], node.left)
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
            case ast.Call(ast.Name("len"), [nodes], []) if self._is_set(nodes):
                return ast.copy_location(_call("_size", nodes), node)
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
        if self._is_set(node.iter):
            node.iter = ast.copy_location(_call("_members", node.iter), node.iter)
        return node

    def _expect_no_more_room(self, node: ast.expr) -> None:
        found = self._layout(node)
        if not isinstance(found, ArrayLayout) or not found.per_node:
            return
        if self.rounded & set(names_in(found.per_node)):
            raise LabError(
                f"{self.function.__name__}: {ast.unparse(node)} has room for more nodes than there"
                f" are (line {node.lineno}): go through the nodes, `for n in range(1,"
                f" c.{found.per_node} + 1)`."
            )

    def _is_set(self, node: ast.expr) -> bool:
        found = self._layout(node)
        return found == _A_SET or (isinstance(found, IntegerLayout) and found.kind == "nodes")

    def _layout(self, node: ast.expr) -> Any:
        """What an expression's value is laid out as; None where that can't be told."""
        match node:
            case ast.Name(name):
                return self.locals.get(name)
            case ast.Attribute(ast.Name("c"), _):
                return None
            case ast.Attribute(value, "items") if "items" not in self.fields:
                found = self._layout(value)
                return found.fields["items"] if _is_container(found) else None
            case ast.Attribute(_, name):
                return self.fields.get(name)
            case ast.Subscript(ast.Call(ast.Name(name))):  # what a loop over the call gives
                return _A_SET if self.values.get(name) is node_sets.submasks else None
            case ast.Subscript(value):
                found = self._layout(value)
                found = found.fields["items"] if _is_container(found) else found
                return found.item if isinstance(found, ArrayLayout) else None
            case ast.Call(ast.Name(name)):
                return _A_SET if self._makes_set(self.values.get(name)) else None
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() | ast.BitXor(), right):
                return _A_SET if self._is_set(left) or self._is_set(right) else None
            case ast.IfExp(_, body, orelse):
                return _A_SET if self._is_set(body) and self._is_set(orelse) else None
        return None

    def _makes_set(self, called: Any) -> bool:
        declared = getattr(called, "__annotations__", {}).get("return")
        return called in _MAKE_SETS or isinstance(declared, NodeSet)


def check_node_loops(functions: list[Callable], layout: Any, constants: type) -> None:
    """Raise LabError if one of these functions goes through room for nodes that there are not."""
    fields = layouts_of_fields(layout)
    for function, tree in readable(functions):
        SetSyntax(function, tree, fields, constants).visit(tree)


def layouts_of_fields(layout: Any) -> dict[str, Any]:
    """Every field of a state and of its parts by name, with its layout; None where two differ."""
    found: dict[str, Any] = {}
    for name, part in _fields(layout):
        found[name] = part if found.get(name, part) == part else None
    return found


def _fields(layout: Any) -> list[tuple[str, Any]]:
    if isinstance(layout, ArrayLayout):
        return _fields(layout.item)
    if not isinstance(layout, StructLayout):
        return []
    if layout.kind != "struct":
        return _fields(layout.fields["items"])
    return [*layout.fields.items(), *(e for part in layout.fields.values() for e in _fields(part))]


def _is_container(layout: Any) -> bool:
    return isinstance(layout, StructLayout) and layout.kind != "struct"


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
