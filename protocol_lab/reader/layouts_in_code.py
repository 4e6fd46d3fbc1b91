"""Infers the layout of each expression in a function: a number, name, set of nodes, record, ...

Compiled code has numbers only, and a number does not say whether it is a name or a set of nodes. So
what it is has to be followed through the code: from the state `s`, the constants `c` and the
parameters, field by field and variable by variable. Where the way is lost, as behind a parameter
without annotation, a field is known by its name if all fields of that name are alike.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from protocol_lab.model import containers, node_sets
from protocol_lab.model.constants import limits_of
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, Named, NodeSet, StructLayout
from protocol_lab.model.parameters import Member, Subset
from protocol_lab.reader.reading import assignments, loop_sources
from protocol_lab.reader.source_code import names_read

SET_OF_NODES = IntegerLayout("i8", kind="nodes")
"""Stands for the layout of a set that is no field."""

_GIVE_ITEMS = (containers.last, containers.pop_first)


@dataclass(frozen=True)
class PairLayout(StructLayout):
    """Two states, as a refinement mapping has them: in code `s` is `concrete`, `a` `abstract`."""


class Layouts:
    """The layouts of a model's state: of its structs by class, and of all fields by name.

    state: the layout of the whole state. constants: the class of the constants. roomy: those for
    which it has more room than their values say.
    """

    def __init__(self, state: StructLayout, constants: type, roomy: frozenset[str] = frozenset()):
        self.state, self.limits, self.roomy = state, limits_of(constants), roomy
        choices = {name: IntegerLayout("i8", names=e.choices) for name, e in self.limits.items()}
        self.constants = StructLayout(constants, {}, choices, 0)
        # by the name of a parameter without annotation
        self.states = dict.fromkeys(("s", "before", "after"), state)
        if isinstance(state, PairLayout):
            self.states = {"s": state.fields["concrete"], "a": state.fields["abstract"]}
        self.states["c"] = self.constants
        self.structs: dict[type, StructLayout] = {}
        self.fields: dict[str, Any] = {}  # None where two fields of one name differ
        self._note(state)

    def _note(self, layout: Any) -> None:
        if isinstance(layout, ArrayLayout):
            self._note(layout.item)
        elif is_container(layout):
            self._note(layout.fields["items"])
        elif isinstance(layout, StructLayout):
            self.structs[layout.declared] = layout
            for name, part in layout.fields.items():
                self.fields[name] = common([self.fields.get(name, part), part])
                self._note(part)

    def of_parameter(self, function: Callable, name: str) -> Any:
        """The layout of a function's parameter, by its annotation or name; None if unknown."""
        annotation = signature(function).parameters[name].annotation
        known = self.of_annotation(annotation)
        return self.states.get(name) if annotation is Parameter.empty else known

    def of_annotation(self, declared: Any) -> Any:
        """The layout of a parameter or result with this annotation; None if unknown.

        A struct that the state has in one derived form only stands for that form.
        """
        if declared is node_sets.Nodes or isinstance(declared, NodeSet | Subset):
            return SET_OF_NODES
        if isinstance(declared, Named):
            return IntegerLayout("i8", names=declared.names)
        if isinstance(declared, Member):
            found: Any = self.state
            for name in declared.path.split("."):
                found = found.fields.get(name) if isinstance(found, StructLayout) else None
            return item_of(found)
        if not isinstance(declared, type):
            return None
        if declared is self.constants.declared:
            return self.constants
        derived = [each for kind, each in self.structs.items() if issubclass(kind, declared)]
        return self.structs.get(declared) or (common(derived) if derived else None)


class LayoutsInCode:
    """The layouts of the expressions of one function, given with its syntax tree.

    The tree may also be the one expression that the function returns.
    """

    def __init__(self, function: Callable, tree: ast.AST, known: Layouts):
        self.known, self.values = known, names_read(function)
        parameters = signature(function).parameters
        self.locals = {name: known.of_parameter(function, name) for name in parameters}
        given: dict[str, list[ast.expr]] = {}
        for target, value in assignments(tree):
            if isinstance(target, ast.Name):
                given.setdefault(target.id, []).append(value)
        for node in ast.walk(tree):
            match node:
                case ast.AugAssign(ast.Name(name) as read, op, value):
                    given.setdefault(name, []).append(ast.BinOp(read, op, value))
                case ast.For() | ast.comprehension():
                    for name, items in loop_sources(node):
                        given.setdefault(name, []).append(ast.Subscript(items, ast.Constant(0)))
        before = None
        while before != self.locals:  # what a variable is may follow from another one
            before = dict(self.locals)
            for name, values in given.items():
                self.locals[name] = common([self.of(each) for each in values])

    def is_set(self, node: ast.expr) -> bool:
        """Is the expression known to be a set of nodes?"""
        found = self.of(node)
        return isinstance(found, IntegerLayout) and found.kind == "nodes"

    def is_place(self, node: ast.expr) -> bool:
        """Is its value known to be a part of the state that is more than a number?"""
        return isinstance(self.of(node), StructLayout | ArrayLayout)

    def of(self, node: ast.expr) -> Any:
        """The layout of an expression's value; None if it can't be inferred."""
        match node:
            case ast.Name(name):
                found = self.locals.get(name)
                return self.known.constants if found is None and name == "c" else found
            case ast.Attribute(value, name):
                found = self.of(value)
                if isinstance(found, StructLayout) and name in found.fields:
                    return found.fields[name]
                return self.known.fields.get(name)
            case ast.Subscript(ast.Call(ast.Name(name))):  # what a loop over the call gives
                return SET_OF_NODES if self.values.get(name) is node_sets.subsets else None
            case ast.Subscript(value) | ast.Call(ast.Name("get_item"), [value, _]):
                return item_of(self.of(value))
            case ast.Call(ast.Name(name), given):
                return self._of_call(self.values.get(name), given)
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() | ast.BitXor(), right):
                return SET_OF_NODES if self.is_set(left) or self.is_set(right) else None
            case ast.IfExp(_, body, orelse):
                return common([self.of(body), self.of(orelse)])
        return None

    def _of_call(self, called: Any, given: list[ast.expr]) -> Any:
        if called in _GIVE_ITEMS and len(given) == 1:
            return item_of(self.of(given[0]))
        if isinstance(called, type):
            return self.known.structs.get(called)
        return self.known.of_annotation(getattr(called, "__annotations__", {}).get("return"))


def common(layouts: list[Any]) -> Any:
    """The layout that all of these share, whatever their widths; None if they differ."""
    first = layouts[0]
    if all(each == first for each in layouts):
        return first
    numbers = [each for each in layouts if isinstance(each, IntegerLayout)]
    if len(numbers) < len(layouts):
        return None
    return first if len({(each.kind == "nodes", each.names) for each in numbers}) == 1 else None


def is_container(layout: Any) -> bool:
    """Is it the layout of a sequence or bag?"""
    return isinstance(layout, StructLayout) and layout.kind != "struct"


def item_of(layout: Any) -> Any:
    """The layout of what an array, sequence or bag holds; None for anything else."""
    if is_container(layout):
        layout = layout.fields["items"]
    return layout.item if isinstance(layout, ArrayLayout) else None
