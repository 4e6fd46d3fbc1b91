"""Named values: numbers that have names, as in `Named` fields and `choice` constants.

The state keeps a named value as a number; code may compare it with the number or the name::

    if s.mode != "idle":        if s.mode != IDLE:        s.mode = "busy"

Uncompiled, such a field is read as a `NamedValue`, an int that also equals its name. Compiled code
has numbers only: `NamesToNumbers` replaces the names with them in the syntax tree. A text that is
not a name of the value is an error, as is a text that is compared with a plain number.
"""

import ast
import copy
from collections.abc import Callable
from inspect import signature
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model import containers, node_sets
from protocol_lab.model.layout import (
    ArrayLayout,
    IntegerLayout,
    Named,
    Struct,
    StructLayout,
    number_named,
)
from protocol_lab.reader.layouts_in_code import LayoutsInCode
from protocol_lab.reader.reading import reading
from protocol_lab.reader.source_code import code_text

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
code. Where `layouts_in_code` can't infer that an expression is a set, the code stays as it is, and
compiling it fails with a sentence."""


class NamesToNumbers(ast.NodeTransformer):
    """Replaces the texts in one function that name values with their numbers, and operations on
    sets of nodes with calls.

    Raises LabError for a text that is not one of the names, and where a value is compared with one
    that has other names, or stored there.
    """

    def __init__(self, function: Callable, code: LayoutsInCode):
        self.function, self.code, self.values = function, code, code.values
        self.own = reading(function).variables

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Texts on the sides of ==, != and in; `node in nodes`, `node not in nodes`.

        `a == b in c` becomes `a == b and b in c`; chains such as 0 <= a < b are kept. Where b might
        change something, `unsupported_syntax` has refused it.
        """
        texts = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
        if len(node.ops) > 1 and any(isinstance(op, texts) for op in node.ops):
            lefts = [node.left, *map(copy.deepcopy, node.comparators[:-1])]
            pairs = [
                ast.copy_location(ast.Compare(left, [op], [right]), node)
                for left, op, right in zip(lefts, node.ops, node.comparators, strict=True)
            ]
            return self.visit(ast.copy_location(ast.BoolOp(ast.And(), pairs), node))
        self.generic_visit(node)
        node = self.compared(node)
        if not isinstance(node.ops[0], ast.In | ast.NotIn) or not self.code.is_set(
            node.comparators[0]
        ):
            return node
        found = call_of("_contains", node.comparators[0], node.left)
        is_in = isinstance(node.ops[0], ast.In)
        return ast.copy_location(found if is_in else ast.UnaryOp(ast.Not(), found), node)

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        """`for node in nodes`, also in a generator expression."""
        self.generic_visit(node)
        if self.code.is_set(node.iter):
            node.iter = ast.copy_location(call_of("_members", node.iter), node.iter)
        return node

    visit_comprehension = visit_For

    def compared(self, node: ast.Compare) -> ast.Compare:
        """A comparison with numbers in place of the texts on its sides."""
        sides = [node.left, *node.comparators]
        for k, op in enumerate(node.ops):
            if isinstance(op, ast.Eq | ast.NotEq):
                sides[k] = self._as_number(sides[k], sides[k + 1], node)
                sides[k + 1] = self._as_number(sides[k + 1], sides[k], node)
            elif isinstance(op, ast.In | ast.NotIn):
                sides[k + 1] = self._all_as_numbers(sides[k + 1], sides[k], node)
                sides[k] = self._as_number(sides[k], sides[k + 1], node)
        node.left, node.comparators = sides[0], sides[1:]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """A text that is assigned to a field or slot."""
        self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            node.value = self._as_number(node.value, node.targets[0], node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """A text that a function with a Named result returns."""
        self.generic_visit(node)
        declared = self.function.__annotations__.get("return")
        if node.value is not None and isinstance(declared, Named):
            node.value = self._number_of(node.value, declared.names, "the result", node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Texts given for items, for the fields of a new record, or for parameters declared as
        Named; `len(nodes)`."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("len"), [items], []) if self.code.is_set(items):
                return ast.copy_location(call_of("_size", items), node)
        called = None
        if isinstance(node.func, ast.Name) and node.func.id not in self.own:
            called = self.values.get(node.func.id)
        if isinstance(called, type) and issubclass(called, Struct):
            fields = getattr(self.code.known.structs.get(called), "fields", {})
            for keyword in node.keywords:
                if names := names_inside(fields.get(keyword.arg)):
                    keyword.value = self._number_of(keyword.value, names, keyword.arg, node)
        elif called in TAKE_ITEMS and len(node.args) == 2:
            node.args[1] = self._as_number(node.args[1], node.args[0], node)
        elif callable(called) and hasattr(called, "__code__"):
            parameters = list(signature(called).parameters.values())
            for k, (parameter, given) in enumerate(zip(parameters, node.args, strict=False)):
                if isinstance(parameter.annotation, Named):
                    names = parameter.annotation.names
                    node.args[k] = self._number_of(given, names, parameter.name, node)
        return node

    def _text(self, node: ast.expr) -> str | None:
        """The text that an expression is, written here or in a global variable."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name) and node.id not in self.own:
            found = self.values.get(node.id)
            return found if isinstance(found, str) else None
        return None

    def _as_number(self, node: ast.expr, beside: ast.expr, place: ast.AST) -> ast.expr:
        """The number of a text among these names; anything else as it is."""
        names = names_inside(self.code.of(beside))
        return node if names is None else self._number_of(node, names, code_text(beside), place)

    def _number_of(self, node: ast.expr, names: Names, of: str, place: ast.AST) -> ast.expr:
        if isinstance(node, ast.IfExp):
            node.body = self._number_of(node.body, names, of, place)
            node.orelse = self._number_of(node.orelse, names, of, place)
            return node
        if isinstance(node, ast.List | ast.Tuple):
            node.elts = [self._number_of(each, names, of, place) for each in node.elts]
            return node
        text = self._text(node)
        if text is None:
            return node
        try:
            return ast.copy_location(ast.Constant(number_named(text, names, of)), node)
        except ValueError as error:
            raise LabError(
                f"{self.function.__name__}: {error} (line {getattr(place, 'lineno', '?')})."
            ) from None

    def _all_as_numbers(self, node: ast.expr, beside: ast.expr, place: ast.AST) -> ast.expr:
        if isinstance(node, ast.Name) and node.id not in self.own:
            found = self.values.get(node.id)
            if isinstance(found, tuple | list | set | frozenset) and any(
                isinstance(each, str) for each in found
            ):
                written = [ast.copy_location(ast.Constant(each), node) for each in found]
                node = ast.copy_location(ast.Tuple(written, ast.Load()), node)
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            node.elts = [self._as_number(each, beside, place) for each in node.elts]
        return node


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
