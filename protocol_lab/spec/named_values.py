"""Named values: numbers that have names, as in `Named` fields and `choice` constants.

The state keeps a named value as a number; code may compare it with the number or the name::

    if s.mode != "idle":        if s.mode != IDLE:        s.mode = "busy"

Uncompiled, such a field is read as a `NamedValue`, an int that also equals its name. Compiled code
has numbers only: `Texts` replaces the names with them in the syntax tree. A text that is not a name
of the value is an error, as is a text that is compared with a plain number.
"""

import ast
from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.language import containers
from protocol_lab.language.source_code import names_read, readable
from protocol_lab.spec.constants import limits_of
from protocol_lab.spec.layout import (
    ArrayLayout,
    IntegerLayout,
    Named,
    Struct,
    StructLayout,
    number_named,
)

Names = tuple[str, ...]

_OF_ITEMS = (
    *(containers.append, containers.add, containers.add_once),
    *(containers.take, containers.is_in, containers.find),
)
"""The functions (container, item)."""

NUMBER: Names = ()
"""The names of what is a number without names."""


class Texts(ast.NodeTransformer):
    """Replaces the texts in one function that name values with their numbers.

    fields, constants: the names of the values of every field and constant, from `names_of_fields`
    and `names_of_constants`. Raises LabError for a text that is not one of the names.
    """

    def __init__(
        self,
        function: Callable,
        tree: ast.FunctionDef,
        fields: Mapping[str, Names | None],
        constants: Mapping[str, Names],
    ):
        self.function, self.fields, self.constants = function, fields, constants
        self.values = names_read(function)
        self.own = set(function.__code__.co_varnames)
        self.locals = {
            each.name: each.annotation.names
            for each in signature(function).parameters.values()
            if isinstance(each.annotation, Named)
        }
        for node in ast.walk(tree):
            self._note_local(node)

    def _note_local(self, node: ast.AST) -> None:
        """Note the names that a variable's values have; unknown if its assignments differ."""
        match node:
            case ast.Assign([ast.Name(name)], value):
                found = self.names_of(value)
            case ast.For(ast.Name(name), value) | ast.comprehension(ast.Name(name), value):
                self.own.add(name)
                found = self.names_of(value)
            case _:
                return
        self.locals[name] = found if self.locals.get(name, found) == found else None

    def names_of(self, node: ast.expr) -> Names | None:
        """The names that an expression's value can have; NUMBER if none, None if unknown."""
        match node:
            case ast.Attribute(ast.Name("c"), name):
                return self.constants.get(name)
            case ast.Attribute(value, "items") if "items" not in self.fields:
                return self.names_of(value)
            case ast.Attribute(_, name):
                return self.fields.get(name)
            case ast.Subscript(value) | ast.Call(ast.Name("get_item"), [value, _]):
                return self.names_of(value)
            case ast.Name(name):
                return self.locals.get(name)
            case ast.IfExp(_, body, orelse):
                found = self.names_of(body)
                return found if found == self.names_of(orelse) else None
        return None

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Texts on the sides of ==, != and in."""
        self.generic_visit(node)
        return self.compared(node)

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

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Texts given for items, for the fields of a new record, or for parameters declared as
        Named."""
        self.generic_visit(node)
        called = None
        if isinstance(node.func, ast.Name) and node.func.id not in self.own:
            called = self.values.get(node.func.id)
        if isinstance(called, type) and issubclass(called, Struct):
            for keyword in node.keywords:
                found = called.field_types.get(keyword.arg or "")
                if isinstance(found, Named):
                    keyword.value = self._number_of(keyword.value, found.names, keyword.arg, node)
        elif called in _OF_ITEMS and len(node.args) == 2:
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
        names = self.names_of(beside)
        return node if names is None else self._number_of(node, names, ast.unparse(beside), place)

    def _number_of(self, node: ast.expr, names: Names, of: str, place: ast.AST) -> ast.expr:
        if isinstance(node, ast.IfExp):
            node.body = self._number_of(node.body, names, of, place)
            node.orelse = self._number_of(node.orelse, names, of, place)
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


def names_of_fields(layout: Any) -> dict[str, Names | None]:
    """Every field of a state and of its parts by name, with the names of the values in it.

    NUMBER for plain numbers, None where parts of the state have different fields of one name.
    """
    found: dict[str, Names | None] = {}
    for name, names in _fields(layout):
        found[name] = names if found.get(name, names) == names else None
    return found


def _fields(layout: Any) -> list[tuple[str, Names | None]]:
    if isinstance(layout, ArrayLayout):
        return _fields(layout.item)
    if not isinstance(layout, StructLayout):
        return []
    if layout.kind != "struct":
        return _fields(layout.fields["items"])
    own = [(name, _names_inside(part)) for name, part in layout.fields.items()]
    return own + [each for part in layout.fields.values() for each in _fields(part)]


def _names_inside(layout: Any) -> Names | None:
    """The names of a number, or of the numbers in an array or container."""
    if isinstance(layout, ArrayLayout):
        return _names_inside(layout.item)
    if isinstance(layout, StructLayout):
        return None if layout.kind == "struct" else _names_inside(layout.fields["items"])
    return layout.names if isinstance(layout, IntegerLayout) else None


@cache
def names_of_constants(constants: type) -> dict[str, Names]:
    """Every constant with the names of its values; NUMBER for numbers."""
    return {name: limits.choices for name, limits in limits_of(constants).items()}


def check_texts(
    functions: list[Callable], fields: Mapping[str, Names | None], constants: Mapping[str, Names]
) -> None:
    """Raise LabError if one of these functions has a text that does not name a value there."""
    for function, tree in readable(functions):
        Texts(function, tree, fields, constants).visit(tree)
