"""Follows named values through functions and calls, and refuses one that is used as another.

    def put(s, mood):
        s.mode = mood            called as put(s, s.hunger), whose values have other names

Compiled code has only the numbers of named values, and would store the number. `Texts` of
`spec.named_values` looks at one function at a time; here a function is followed once for every
combination of layouts that its callers give it, and its result goes on in the caller.
"""

import ast
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any

from protocol_lab.errors import LabError, shortened
from protocol_lab.language import containers, node_sets
from protocol_lab.language.dependencies import is_plain
from protocol_lab.language.source_code import error_at, names_read, parse, place
from protocol_lab.spec.layout import (
    Named,
    Struct,
    StructLayout,
    number_named,
    other_names,
)
from protocol_lab.spec.layouts_in_code import Layouts, item_of
from protocol_lab.spec.named_values import TAKE_ITEMS, names_inside

Possible = frozenset
"""What a value may be: layouts, texts, and CONSTANTS. Empty if nothing is known of it."""

Variables = dict[str, Possible]

UNKNOWN: Possible = Possible()
CONSTANTS = "the constants", "c"

_HELPERS = (containers.__name__, node_sets.__name__)


class NameFlow:
    """Follows functions of one model's state. Each is followed once for what it is given.

    trees: the syntax trees of some functions, which were parsed before; they are only read.
    """

    def __init__(self, known: Layouts, trees: Mapping[Callable, ast.FunctionDef]):
        self.known = known
        self._trees: dict[Callable, ast.FunctionDef | None] = {**trees}
        self._results: dict[tuple, Possible] = {}

    def follow_entry(self, function: Callable) -> None:
        """Follow an action, property or the like, whose parameters say by name and annotation what
        they are. Raises LabError."""
        given = {}
        for name, each in signature(function).parameters.items():
            found = self.known.of_annotation(each.annotation)
            if each.annotation is Parameter.empty and name in ("before", "after"):
                found = self.known.state
            elif each.annotation is Parameter.empty:
                found = self.known.states.get(name, CONSTANTS if name == "c" else None)
            given[name] = _possible(found)
        self.follow(function, given, "")

    def follow(self, function: Callable, given: Variables, called: str) -> Possible:
        """What a call gives. called: the call and its place, for messages. Raises LabError."""
        key = (function, tuple(given.items()))
        if key not in self._results:
            self._results[key] = UNKNOWN  # a function that calls itself is never compiled
            tree = self._tree(function)
            if tree is not None:
                self._results[key] = _Body(self, function, called).result(tree, given)
        return self._results[key]

    def _tree(self, function: Callable) -> ast.FunctionDef | None:
        if function not in self._trees:
            try:
                self._trees[function] = parse(function)
            except LabError:  # only the compiler needs the source, and says so
                self._trees[function] = None
        return self._trees[function]


class _Body:
    """The body of one function, followed with what one call gives it."""

    def __init__(self, flow: NameFlow, function: Callable, called: str):
        self.flow, self.known, self.function, self.called = flow, flow.known, function, called
        self.values = names_read(function)
        self._returned = UNKNOWN
        self._seen: dict[ast.expr, Possible] = {}  # the sides of each `a if ... else b`
        self._left: list[Variables] = []  # where `break` and `continue` leave a loop's body

    def result(self, tree: ast.FunctionDef, given: Variables) -> Possible:
        """What the function may return."""
        self._run(tree.body, dict(given))
        return self._returned

    # --- Statements ------------------------------------------------------------------------------

    def _run(self, statements: list[ast.stmt], known: Variables) -> Variables | None:
        """What the variables may be after these statements; None if the end is not reached."""
        for each in statements:
            match each:
                case ast.Return(value):
                    self._returned |= self._of(value, known) if value else UNKNOWN
                    return None
                case ast.Raise():
                    return None
                case ast.Break() | ast.Continue():
                    self._left.append(known)
                    return None
                case ast.If(test, body, orelse):
                    self._of(test, known)
                    ends = [self._run(body, dict(known)), self._run(orelse, dict(known))]
                    reached = [end for end in ends if end is not None]
                    if not reached:
                        return None
                    known = _joined(reached)
                case ast.For() | ast.While():
                    known = self._loop(each, known)
                case ast.Assign(targets, value):
                    for target in targets:
                        self._assign(target, value, known, each)
                case ast.AugAssign(ast.Name(name), _, value):
                    self._of(value, known)
                    known[name] = UNKNOWN  # a number, whatever it was before
                case _:
                    self._of_parts(each, known)
        return known

    def _loop(self, loop: ast.For | ast.While, known: Variables) -> Variables:
        outer, before = self._left, None
        while known != before:
            before, self._left, inside = known, [], dict(known)
            if isinstance(loop, ast.For):
                self._bind(loop.target, loop.iter, inside)
            else:
                self._of(loop.test, inside)
            after = self._run(loop.body, inside)
            known = _joined([known, *([] if after is None else [after]), *self._left])
        self._left = outer
        return self._run(loop.orelse, known) or known

    def _assign(
        self, target: ast.expr, value: ast.expr, known: Variables, statement: ast.stmt
    ) -> None:
        found = self._of(value, known)
        match target, value:
            case ast.Name(name), _:
                known[name] = found
            case ast.Tuple(parts), ast.Tuple(values) if len(parts) == len(values):
                for part, each in zip(parts, values, strict=True):
                    self._assign(part, each, known, statement)
            case ast.Tuple(parts), _:
                known |= {each.id: UNKNOWN for each in parts if isinstance(each, ast.Name)}
            case _:
                self._expect(self._of(target, known), target, value, found, statement)

    def _bind(self, target: ast.expr, items: ast.expr, known: Variables) -> None:
        """Give the variables of a loop what they may be."""
        found = self._items(items, known)
        match target, items:
            case ast.Name(name), _:
                known[name] = found
            case ast.Tuple(parts), ast.Call(ast.Name("enumerate" | "zip" as how), through):
                sources = through if how == "zip" else [ast.Tuple([], ast.Load()), *through]
                for part, each in zip(parts, sources, strict=False):
                    if isinstance(part, ast.Name):
                        known[part.id] = self._items(each, known)

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
            case ast.NamedExpr(ast.Name(name), value):
                known[name] = self._of(value, known)
                return known[name]
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
            case ast.GeneratorExp(item, loops) | ast.ListComp(item, loops):
                inside = dict(known)
                for loop in loops:
                    self._bind(loop.target, loop.iter, inside)
                    for test in loop.ifs:
                        self._of(test, inside)
                return self._of(item, inside)
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
                    told = f"{ast.unparse(value)} is a number, and {name} takes one of {names}"
                    raise self._error(node, told)
                variables[name] = wanted
        where = place(self.function.__code__.co_filename, node.lineno)
        text = f"{shortened(ast.unparse(node), 60)} in {where}"
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
        shown = ast.unparse(of)
        for names in map(names_inside, wanted):
            for each in found if names is not None else ():
                others = names_inside(each)
                if isinstance(each, str):
                    try:
                        number_named(each, names, shown)
                    except ValueError as error:
                        raise self._error(at, str(error)) from None
                elif names and others and names != others:
                    raise self._error(at, other_names(shown, names, others, ast.unparse(value)))

    def _error(self, at: ast.AST, told: str) -> LabError:
        if self.called:
            told = f"{told} (the call is {self.called})"
        return error_at(self.function, at, told)


def _possible(layout: Any) -> Possible:
    return UNKNOWN if layout is None else Possible([layout])


def _joined(ends: Iterable[Variables]) -> Variables:
    """What the variables may be where several ways come together."""
    joined: Variables = {}
    for each in ends:
        for name, found in each.items():
            joined[name] = joined.get(name, UNKNOWN) | found
    return joined


def _joined_items(containers_or_arrays: Possible) -> Possible:
    """What an item of any of these may be."""
    return UNKNOWN.union(*(_possible(item_of(each)) for each in containers_or_arrays))


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int
