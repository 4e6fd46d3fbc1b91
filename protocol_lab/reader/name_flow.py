"""Follows named values through functions and calls, and refuses one that is used as another.

    def put(s, mood):
        s.mode = mood            called as put(s, s.hunger), whose values have other names

Compiled code has only the numbers of named values, and would store the number. `NamesToNumbers` of
`reader.named_values` looks at one function at a time; here a function is followed once for every
combination of layouts that its callers give it, and its result goes on in the caller.
"""

import ast
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from protocol_lab.errors import LabError, place, shortened
from protocol_lab.model import containers, node_sets
from protocol_lab.model.layout import Named, Struct, StructLayout, number_named, other_names
from protocol_lab.reader.dataflow import Flow
from protocol_lab.reader.layouts_in_code import Layouts, item_of
from protocol_lab.reader.named_values import TAKE_ITEMS, names_inside
from protocol_lab.reader.reading import loop_sources, names_assigned, readable, reading
from protocol_lab.reader.source_code import code_text, error_at, is_plain, names_read

Possible = frozenset
"""What a value may be: layouts, texts, and CONSTANTS. Empty if nothing is known of it."""

Variables = dict[str, Possible]

UNKNOWN: Possible = Possible()
CONSTANTS = "the constants", "c"

_HELPERS = (containers.__name__, node_sets.__name__)


class NameFlow:
    """Follows functions of one model's state. Each is followed once for what it is given."""

    def __init__(self, known: Layouts):
        self.known = known
        self._results: dict[tuple, Possible] = {}

    def follow_entry(self, function: Callable) -> None:
        """Follow an action, property or the like, whose parameters say by name and annotation what
        they are. Raises LabError."""
        given = {}
        for name, each in signature(function).parameters.items():
            found = self.known.of_parameter(function, name)
            if each.annotation is Parameter.empty:
                found = CONSTANTS if name == "c" else found
            given[name] = _possible(found)
        self.follow(function, given, "")

    def follow(self, function: Callable, given: Variables, called: str) -> Possible:
        """What a call gives. called: the call and its place, for messages. Raises LabError."""
        key = (function, tuple(given.items()))
        if key not in self._results:
            self._results[key] = UNKNOWN  # a function that calls itself is never compiled
            if any(readable([function])):
                body = _Body(self, function, called)
                body.block(reading(function).apart.body, given)
                self._results[key] = body.result
        return self._results[key]


class _Body(Flow[Variables]):
    """The body of one function, followed with what one call gives it."""

    def __init__(self, flow: NameFlow, function: Callable, called: str):
        super().__init__()
        self.flow, self.known, self.function, self.called = flow, flow.known, function, called
        self.values = names_read(function)
        self.result = UNKNOWN  # what the function may return
        self._seen: dict[ast.expr, Possible] = {}  # the sides of each `a if ... else b`

    # --- Statements ------------------------------------------------------------------------------

    def meet(self, paths: list[Variables]) -> Variables:
        names = dict.fromkeys(name for each in paths for name in each)
        return {name: UNKNOWN.union(*(each.get(name, ()) for each in paths)) for name in names}

    def returned(self, node: ast.Return, known: Variables) -> None:
        self.result |= self._of(node.value, known) if node.value else UNKNOWN

    def read(self, node: ast.AST | None, known: Variables) -> Variables:
        if isinstance(node, ast.expr):
            self._of(node, known)
        return known

    def simple(self, node: ast.stmt, known: Variables) -> Variables:
        match node:
            case ast.Assign(targets, value):
                for target in targets:
                    known = self._assign(target, value, known, node)
            case ast.AugAssign(ast.Name(name), _, value):
                self._of(value, known)
                known = known | {name: UNKNOWN}  # a number, whatever it was before
            case _:
                self._of_parts(node, known)
        return known

    def _assign(
        self, target: ast.expr, value: ast.expr, known: Variables, statement: ast.stmt
    ) -> Variables:
        found = self._of(value, known)
        match target, value:
            case ast.Name(name), _:
                return known | {name: found}
            case ast.Tuple(parts), ast.Tuple(values) if len(parts) == len(values):
                after = known
                for part, each in zip(parts, values, strict=True):
                    after = after | self._assign(part, each, known, statement)
                return after
            case ast.Tuple(), _:
                return known | dict.fromkeys(names_assigned(target), UNKNOWN)
        self._expect(self._of(target, known), target, value, found, statement)
        return known

    def bound(self, loop: ast.For | ast.comprehension, known: Variables) -> Variables:
        """The variables of a loop may be what it goes through."""
        return known | {name: self._items(of, known) for name, of in loop_sources(loop)}

    # --- Expressions -----------------------------------------------------------------------------

    def _of(self, node: ast.expr, known: Variables) -> Possible:
        """What an expression may be. Raises LabError for one that uses a value as another."""
        match node:
            case ast.Constant(str() as text):
                return Possible([text])
            case ast.Name(name) if name in known:
                return known[name]
            case ast.Name(name):
                found = self.values.get(name)
                return Possible([found]) if isinstance(found, str) else UNKNOWN
            case ast.Attribute(value, name):
                return self._field(self._of(value, known), name)
            case ast.Subscript(value, index):
                self._of(index, known)
                return _joined_items(self._of(value, known))
            case ast.IfExp(test, body, orelse):
                self._of(test, known)
                self._seen |= {each: self._of(each, known) for each in (body, orelse)}
                return self._seen[body] | self._seen[orelse]
            case ast.BoolOp(_, values):
                return UNKNOWN.union(*(self._of(each, known) for each in values))
            case ast.NamedExpr(_, value):
                return self._of(value, known)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
                self._items(node, known)
            case ast.Compare():
                self._compare(node, known)
            case ast.Call():
                return self._call(node, known)
            case _:
                self._of_parts(node, known)
        return UNKNOWN

    def _of_parts(self, node: ast.AST, known: Variables) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.expr) and not isinstance(each, ast.Lambda):
                self._of(each, known)

    def _field(self, owners: Possible, name: str) -> Possible:
        if CONSTANTS in owners:
            return _possible(self.known.of_constant(name))
        structs = [each for each in owners if isinstance(each, StructLayout)]
        found = UNKNOWN.union(*(_possible(each.fields.get(name)) for each in structs))
        return found or _possible(self.known.fields.get(name))

    def _items(self, node: ast.expr, known: Variables) -> Possible:
        """What a loop over an expression may give."""
        match node:
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                return UNKNOWN.union(*(self._of(each, known) for each in parts))
            case (
                ast.GeneratorExp(item, loops) | ast.ListComp(item, loops) | ast.SetComp(item, loops)
            ):
                for loop in loops:
                    known = self.bound(loop, known)
                    for test in loop.ifs:
                        self._of(test, known)
                return self._of(item, known)
            case ast.Name(name) if name not in known:
                found = self.values.get(name)
                if isinstance(found, tuple | list | set | frozenset):
                    return Possible(each for each in found if isinstance(each, str))
        return _joined_items(self._of(node, known))

    def _compare(self, node: ast.Compare, known: Variables) -> None:
        left, of_left = node.left, self._of(node.left, known)
        for op, right in zip(node.ops, node.comparators, strict=True):
            of_right = self._of(right, known)
            beside = [(right, of_right)]
            if isinstance(op, ast.In | ast.NotIn):
                written = getattr(right, "elts", None)
                beside = [(each, self._of(each, known)) for each in written or ()]
                beside = beside or [(right, self._items(right, known))]
            if isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                for each, of_each in beside:
                    self._expect(of_left, left, each, of_each, node)
                    self._expect(of_each, each, left, of_left, node)
            left, of_left = right, of_right

    def _call(self, node: ast.Call, known: Variables) -> Possible:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        called = None if name in known else self.values.get(name)
        if name in ("min", "max", "sum", "any", "all") and called is None and len(node.args) == 1:
            return self._items(node.args[0], known)
        if isinstance(called, type) and issubclass(called, Struct):
            return self._record(called, node, known)
        given = [self._of(each, known) for each in node.args]
        named = {each.arg: self._of(each.value, known) for each in node.keywords}
        if called in TAKE_ITEMS and len(given) == 2:
            self._expect(_joined_items(given[0]), *node.args, given[1], node)
        elif called in (containers.last, containers.pop_first) and len(given) == 1:
            return _joined_items(given[0])
        elif name in ("min", "max"):
            return UNKNOWN.union(*given)
        elif is_plain(called) and called.__module__ not in _HELPERS:
            return self._call_plain(called, node, given, named)
        return UNKNOWN

    def _record(self, declared: type[Struct], node: ast.Call, known: Variables) -> Possible:
        layout = self.known.structs.get(declared.union or declared)
        for each in node.keywords:
            found, field = self._of(each.value, known), ast.Name(each.arg or "", ast.Load())
            if layout is not None and each.arg in layout.fields:
                self._expect(_possible(layout.fields[each.arg]), field, each.value, found, node)
        return _possible(layout)

    def _call_plain(
        self, called: Callable, node: ast.Call, given: list[Possible], named: Variables
    ) -> Possible:
        parameters = signature(called).parameters
        variables = {
            name: Possible([each.default]) if isinstance(each.default, str) else UNKNOWN
            for name, each in parameters.items()
        }
        written = [*node.args, *(each.value for each in node.keywords)]
        found = {**dict(zip(parameters, given, strict=False)), **named}
        variables |= {name: each for name, each in found.items() if name in parameters}
        for (name, each), value in zip(found.items(), written, strict=False):
            declared = parameters[name].annotation if name in parameters else None
            if isinstance(declared, Named):
                wanted = _possible(self.known.of_annotation(declared))
                self._expect(wanted, ast.Name(name, ast.Load()), value, each, node)
                if any(names_inside(one) == () for one in each) or _is_number(value):
                    names = ", ".join(declared.names)
                    told = f"{code_text(value)} is a number, and {name} takes one of {names}"
                    raise self._error(node, told)
                variables[name] = wanted
        where = place(self.function.__code__.co_filename, node.lineno)
        text = f"{shortened(code_text(node), 60)} in {where}"
        return self.flow.follow(called, variables, text)

    # --- What is expected ------------------------------------------------------------------------

    def _expect(
        self, wanted: Possible, of: ast.expr, value: ast.expr, found: Possible, at: ast.AST
    ) -> None:
        """Raise LabError if a value, found here, has names, and none or others are wanted."""
        if isinstance(value, ast.IfExp):
            for each in (value.body, value.orelse):
                self._expect(wanted, of, each, self._seen[each], at)
            return
        shown = code_text(of)
        for names in map(names_inside, wanted):
            for each in found if names is not None else ():
                others = names_inside(each)
                if isinstance(each, str):
                    try:
                        number_named(each, names, shown)
                    except ValueError as error:
                        raise self._error(at, str(error)) from None
                elif names and others and names != others:
                    raise self._error(at, other_names(shown, names, others, code_text(value)))

    def _error(self, at: ast.AST, told: str) -> LabError:
        if self.called:
            told = f"{told} (the call is {self.called})"
        return error_at(self.function, at, told)


def _possible(layout: Any) -> Possible:
    return UNKNOWN if layout is None else Possible([layout])


def _joined_items(containers_or_arrays: Possible) -> Possible:
    """What an item of any of these may be."""
    return UNKNOWN.union(*(_possible(item_of(each)) for each in containers_or_arrays))


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int
