"""Named values: numbers that have names, as in `Named` fields and `choice` constants.

The state keeps a named value as a number; code may compare it with the number or the name::

    if s.mode != "idle":        if s.mode != IDLE:        s.mode = "busy"

Uncompiled, such a field is read as a `NamedValue`, an int that also equals its name. Compiled code
has numbers only: `Resolved` replaces the names with them in the syntax tree. `value_flow` finds out
which texts name which value, and refuses one that is not a name of the value.
"""

import ast
import copy
from collections.abc import Collection
from typing import Any

from protocol_lab.model import containers, node_sets
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, StructLayout
from protocol_lab.model.transitions import enabled

Names = tuple[str, ...]

TAKE_ITEMS = (
    *(containers.append, containers.add, containers.add_once),
    *(containers.take, containers.is_in, containers.find),
)
"""The functions (container, item)."""

SET_OPERATIONS = {
    "_contains": node_sets.contains,
    "_size": node_sets.size,
    "_members": node_sets.members,
}
"""The functions that `in`, `len` and `for` on sets of nodes become, by their names in the rewritten
code. Where `value_flow` can't infer that an expression is a set, the code stays as it is, and
compiling it fails with a sentence."""


class Resolved(ast.NodeTransformer):
    """Replaces the texts in one function that name values with their numbers, operations on sets of
    nodes with calls, and what calls of `enabled` leave out.

    body: the function as it was followed, with the tree that is changed here. texts: those of its
    parameters in whose place a text will stand.
    """

    def __init__(self, body: Any, texts: Collection[str] = ()):
        self.body, self.variables = body, body.own.difference(texts)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A text that names a value, written here or in a global variable."""
        number = self.body.number(node)
        return node if number is None else ast.copy_location(ast.Constant(number), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The same, and the texts of `s.mode in BUSY`."""
        if node in self.body.written:
            texts = [self.visit_Constant(each) for each in self.body.written[node]]
            return ast.copy_location(ast.Tuple(texts, ast.Load()), node)
        return node if node.id in self.variables else self.visit_Constant(node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`node in nodes`, `node not in nodes`; `a == b in c` becomes `a == b and b in c`.

        Chains such as 0 <= a < b are kept. Where b might change something, `unsupported_syntax` has
        refused it.
        """
        sets = [self.body.is_set(each) for each in node.comparators]
        self.generic_visit(node)
        if len(node.ops) > 1 and not any(isinstance(op, _ASKED) for op in node.ops):
            return node
        lefts = [node.left, *map(copy.deepcopy, node.comparators[:-1])]
        pairs = [
            ast.copy_location(_compared(*each), node)
            for each in zip(lefts, node.ops, node.comparators, sets, strict=True)
        ]
        return (
            pairs[0] if len(pairs) == 1 else ast.copy_location(ast.BoolOp(ast.And(), pairs), node)
        )

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        """`for node in nodes`, also in a generator expression."""
        is_set = self.body.is_set(node.iter)
        self.generic_visit(node)
        if is_set:
            node.iter = ast.copy_location(call_of("_members", node.iter), node.iter)
        return node

    visit_comprehension = visit_For

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """`len(nodes)`; `enabled(lend)`, which implies the state and the constants."""
        match node:
            case ast.Call(ast.Name("len"), [items], []) if self.body.is_set(items):
                return ast.copy_location(call_of("_size", self.visit(items)), node)
            case ast.Call(ast.Name(name), [_]) if self.body.values.get(name) is enabled:
                node.args += [ast.Name(each, ast.Load()) for each in "sc"]
        return self.generic_visit(node)


_ASKED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, is_set: bool) -> ast.expr:
    if not is_set or not isinstance(op, ast.In | ast.NotIn):
        return ast.Compare(left, [op], [right])
    found = call_of("_contains", right, left)
    return found if isinstance(op, ast.In) else ast.UnaryOp(ast.Not(), found)


def names_inside(layout: Any) -> Names | None:
    """The names of a number, or of the numbers in an array or container: none if it has no names;
    None if it is not known to be a number."""
    if isinstance(layout, ArrayLayout):
        return names_inside(layout.item)
    if isinstance(layout, StructLayout):
        return None if layout.kind == "struct" else names_inside(layout.fields["items"])
    return layout.names if isinstance(layout, IntegerLayout) else None


def call_of(name: str, *arguments: ast.expr) -> ast.Call:
    """The call of a function by its name."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
