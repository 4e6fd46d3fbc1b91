"""Follows values through functions and calls, and refuses those that are not what they seem.

A variable has no value:

    if s.leader != NONE:
        epoch = s.epoch[s.leader]
    s.known = epoch               on the other path, epoch has no value: Python fails there only,
                                  and compiled code reads whatever its place holds

A variable is a part of the state, which was assigned since:

    old = s.box[p]                no copy: another name for s.box[p]
    s.box[p] = Parcel(weight=1)
    if old.weight == 0: ...       reads the new parcel; in TLA+ terms `old` would be `box'[p]`

A variable is a record that the function has made, and that is gone: compiled code has one place for
it, which ends with the function, and which the next turn of a loop uses again:

    note = Note(text=1)           can be stored or compared, but not returned

A value has a name, and is used as one that has others:

    def put(s, mood):
        s.mode = mood             called as put(s, s.hunger): compiled code would store its number

A function is followed once for each combination of what its callers give it, and its result goes on
in the caller. All paths are followed; that two conditions agree is not looked at. Two slots of an
array may be the same unless their indices are different numbers.
"""

import ast
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any, NamedTuple

from protocol_lab.errors import LabError, place, shortened
from protocol_lab.model import containers, node_sets
from protocol_lab.model.layout import (
    ArrayLayout,
    IntegerLayout,
    Named,
    Struct,
    StructLayout,
    number_named,
    other_names,
)
from protocol_lab.reader.layouts_in_code import Layouts, item_of
from protocol_lab.reader.named_values import TAKE_ITEMS, names_inside
from protocol_lab.reader.reading import loop_sources, names_assigned, readable, reading
from protocol_lab.reader.side_effects import Flow
from protocol_lab.reader.source_code import code_text, error_at, is_plain, names_read
from protocol_lab.reader.unsupported_syntax import refuse_other_assignments

_MOVE_ITEMS = (
    *(containers.add, containers.add_once, containers.take),
    *(containers.remove_at, containers.pop_first, containers.truncate),
)
"""The functions (container, ...) after which an item may be at another place, or gone."""

_HELPERS = (containers.__name__, node_sets.__name__)

_SOME_ITEM = "[...]"

_MADE = "made by "

_DEEPEST = 12
"""Longer ways into a state are not followed; no state is nested as deep."""


class Place(NamedTuple):
    """A part of the state: a parameter of the function that is followed first, and the steps from
    there, as in ("s", ".box", "[1]").

    text: how the code writes it. changed: what has changed it since; "" for nothing.
    """

    steps: tuple[str, ...]
    text: str
    changed: str = ""

    def part(self, step: str, text: str) -> "Place":
        """A field or item of this place, as the code writes it."""
        return Place((*self.steps, step)[:_DEEPEST], text, self.changed)

    def after(self, changed: "Place", line: int) -> "Place":
        """The same place after another one was changed, which it may be, or be a part of."""
        same = all(map(_may_be_one, self.steps, changed.steps))
        if self.changed or len(self.steps) < len(changed.steps) or not same:
            return self
        is_slot = changed.text.endswith("]") and not self.text.startswith(changed.text)
        perhaps = ", which may be the same" if is_slot else ""
        return self._replace(changed=f"line {line} has changed {changed.text}{perhaps}")


def _may_be_one(step: str, other: str) -> bool:
    """May two steps from one place lead to the same? Not to two fields, or two numbered slots."""
    return step == other or (_SOME_ITEM in (step, other) and step[0] == other[0])


Possible = frozenset
"""What a value may be: layouts, texts, places, and UNASSIGNED. Empty if nothing is known of it."""

Variables = dict[str, Possible]

UNKNOWN: Possible = Possible()
UNASSIGNED = ("no value",)
_NO_VALUE = Possible([UNASSIGNED])


class ValueFlow:
    """Follows functions of one model's state. Each is followed once for what it is given."""

    def __init__(self, known: Layouts):
        self.known = known
        self._results: dict[tuple, tuple[Possible, Possible]] = {}

    def follow_entry(self, function: Callable) -> None:
        """Follow an action, property or the like, whose parameters say by name and annotation what
        they are. Raises LabError."""
        given = {}
        for name in signature(function).parameters:
            found = _possible(self.known.of_parameter(function, name))
            given[name] = _without_copies(found | {Place((name,), name)})
        self.follow(function, given, "")

    def follow(self, function: Callable, given: Variables, called: str) -> tuple[Possible, ...]:
        """(what a call gives, the places that it may change). called: the call and its place, for
        messages. Raises LabError."""
        key = (function, tuple(given.items()))
        if key not in self._results:
            self._results[key] = UNKNOWN, UNKNOWN  # what calls itself is never compiled
            if any(readable([function])):
                refuse_other_assignments(function)
                body, code = _Body(self, function, called), reading(function)
                own = code.variables.difference(code.parameters)
                body.block(code.apart.body, dict.fromkeys(own, _NO_VALUE) | given)
                self._results[key] = body.result, body.changes
        return self._results[key]


class _Body(Flow[Variables]):
    """The body of one function, followed with what one call gives it.

    known: what each variable may be at the point of the code that is looked at.
    """

    def __init__(self, flow: ValueFlow, function: Callable, called: str):
        super().__init__()
        self.flow, self.layouts, self.function, self.called = flow, flow.known, function, called
        self.values, self.known = names_read(function), {}
        self.result = self.changes = UNKNOWN
        self._seen: dict[ast.AST, Possible] = {}  # what each expression was when it was evaluated

    # --- Statements ------------------------------------------------------------------------------

    def meet(self, paths: list[Variables]) -> Variables:
        names = dict.fromkeys(name for each in paths for name in each)
        return {name: UNKNOWN.union(*(each.get(name, ()) for each in paths)) for name in names}

    def returned(self, node: ast.Return, known: Variables) -> None:
        self.known = known
        found = UNKNOWN if node.value is None else self.of(node.value)
        declared = self.function.__annotations__.get("return")
        if isinstance(declared, Named):
            wanted = _possible(self.layouts.of_annotation(declared))
            self._expect(wanted, "the result", node.value, found, node)
        if _has_parts(found) and any(self._is_own(each) for each in _places(found)):
            told = "a new record, or a part of one, can be stored or compared, but not"
            raise error_at(self.function, node, f"{told} returned; make it where it is used")
        self.result |= found

    def read(self, node: ast.AST | None, known: Variables) -> Variables:
        self.known = known
        if isinstance(node, ast.expr):
            self.of(node)
        elif node is not None:
            self._parts(node)
        return self.known

    def simple(self, node: ast.stmt, known: Variables) -> Variables:
        self.known = known
        match node:
            case ast.AnnAssign(value=None):
                return known
            case ast.Assign() | ast.AnnAssign():
                self.of(node.value)
                for target in getattr(node, "targets", None) or [node.target]:
                    self._assign(target, node.value, node)
            case ast.AugAssign(ast.Name(name) as target, _, value):
                self.of(value)
                self._expect_value(target)
                self._know(name, UNKNOWN)  # a number, whatever it was before
            case _:
                return self.read(node, known)
        return self.known

    def _assign(self, target: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
        match target, value:
            case ast.Name(name), _:
                self._know(name, self._seen[value])
            case ast.Tuple(parts), ast.Tuple(values) if len(parts) == len(values):
                for part, each in zip(parts, values, strict=True):
                    self._assign(part, each, statement)
            case ast.Tuple(), _:
                for name in names_assigned(target):
                    self._know(name, UNKNOWN)
            case _:
                wanted = self.of(target)
                self._expect(wanted, target, value, self._seen[value], statement)
                self._change(self._place_of(target), statement)

    def _know(self, name: str, found: Possible) -> None:
        self.known = self.known | {name: found}

    def bound(self, loop: ast.For | ast.comprehension, known: Variables) -> Variables:
        """The variables of a loop may be what it goes through."""
        drawn = {name: self._items(of) for name, of in loop_sources(loop)}
        return known | dict.fromkeys(names_assigned(loop.target), UNKNOWN) | drawn

    # --- Expressions -----------------------------------------------------------------------------

    def of(self, node: ast.expr) -> Possible:
        """What an expression may be. Raises LabError for one that uses a value as another."""
        found = self._seen[node] = self._evaluated(node)
        return found

    def _evaluated(self, node: ast.expr) -> Possible:
        match node:
            case ast.Constant(str() as text):
                return Possible([text])
            case ast.Name(name) if name in self.known:
                self._expect_value(node)
                found = self.known[name]
                if _has_parts(found):
                    self._expect_unchanged(name, node)
                return found
            case ast.Name(name):
                found = self.values.get(name)
                return Possible([found]) if isinstance(found, str) else UNKNOWN
            case ast.Attribute(value, name):
                owners = self._owner(node)
                return _without_copies(self._field(owners, name) | self._place_of(node))
            case ast.Subscript(value, index):
                owners = self._owner(node)
                self.of(index)
                return _without_copies(_items_of(owners) | self._place_of(node))
            case ast.IfExp(test, body, orelse):
                self.of(test)
                return self.of(body) | self.of(orelse)
            case ast.BoolOp(_, values):
                return UNKNOWN.union(*[self.of(each) for each in values])
            case ast.NamedExpr(_, value):
                return self.of(value)
            case (
                ast.GeneratorExp(item, loops) | ast.ListComp(item, loops) | ast.SetComp(item, loops)
            ):
                for loop in loops:
                    self.of(loop.iter)
                    self.known = self.bound(loop, self.known)
                    for test in loop.ifs:
                        self.of(test)
                self.of(item)
            case ast.Compare():
                self._compare(node)
            case ast.Call():
                return self._call(node)
            case _:
                self._parts(node)
        return UNKNOWN

    def _parts(self, node: ast.AST) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.expr) and not isinstance(each, ast.Lambda):
                self.of(each)

    def _owner(self, node: ast.Attribute | ast.Subscript) -> Possible:
        if isinstance(node.value, ast.Name):
            self._expect_unchanged(node.value.id, node)
        return self.of(node.value)

    def _field(self, owners: Possible, name: str) -> Possible:
        structs = [each for each in owners if isinstance(each, StructLayout)]
        found = UNKNOWN.union(*(_possible(each.fields.get(name)) for each in structs))
        return found or _possible(self.layouts.fields.get(name))

    def _place_of(self, node: ast.expr) -> Possible:
        """The parts of the state that a field or item, whose owner was evaluated, may be."""
        match node:
            case ast.Attribute(value, "items"):
                return _places(self._seen[value])
            case ast.Attribute(value, name):
                return _part(self._seen[value], f".{name}", code_text(node))
            case ast.Subscript(value, index):
                return _part(self._seen[value], self._step(index), code_text(node))
        return UNKNOWN

    def _step(self, index: ast.expr) -> str:
        match index:
            case ast.Constant(int() as number):
                return f"[{number}]"
            case ast.Name(name) if type(self.values.get(name)) is int:
                return f"[{self.values[name]}]"
        return _SOME_ITEM

    def _items(self, node: ast.expr) -> Possible:
        """What a loop over an expression, which was evaluated, may give."""
        match node:
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                return UNKNOWN.union(*(self._seen[each] for each in parts))
            case ast.GeneratorExp(item) | ast.ListComp(item) | ast.SetComp(item):
                return self._seen[item]
            case ast.Name(name) if name not in self.known:
                found = self.values.get(name)
                if isinstance(found, tuple | list | set | frozenset):
                    return Possible(each for each in found if isinstance(each, str))
        found = self._seen[node]
        places = _part(found, _SOME_ITEM, f"{code_text(node)}{_SOME_ITEM}")
        return _without_copies(_items_of(found) | places)

    def _compare(self, node: ast.Compare) -> None:
        self._parts(node)
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            of_left, beside = self._seen[left], [(right, self._seen[right])]
            if isinstance(op, ast.In | ast.NotIn):
                written = getattr(right, "elts", None)
                beside = [(each, self._seen[each]) for each in written or ()]
                beside = beside or [(right, self._items(right))]
            if isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                for each, of_each in beside:
                    self._expect(of_left, left, each, of_each, node)
                    self._expect(of_each, each, left, of_left, node)

    # --- Calls -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Possible:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        called = None if name in self.known else self.values.get(name)
        self._parts(node)
        given = [self._seen.get(each, UNKNOWN) for each in node.args]
        named = {each.arg: self.of(each.value) for each in node.keywords}
        if name in ("min", "max", "sum", "any", "all") and called is None and len(given) == 1:
            return _layouts(self._items(node.args[0]))
        if isinstance(called, type) and issubclass(called, Struct):
            return self._record(called, node, named)
        if called in TAKE_ITEMS and len(given) == 2:
            self._expect(_items_of(given[0]), *node.args, given[1], node)
        result = UNKNOWN
        if called in (containers.last, containers.pop_first) and len(given) == 1:
            result = self._items(node.args[0])
            if called is containers.pop_first:
                result = _layouts(result) | self._made(node)
        elif name in ("min", "max"):
            result = _layouts(UNKNOWN.union(*given))
        elif is_plain(called) and called.__module__ not in _HELPERS:
            return self._call_plain(called, node, given, named)
        if called in _MOVE_ITEMS and given:
            text = f"{code_text(node.args[0])}.items"
            self._change(_part(given[0], _SOME_ITEM, text), node)
        elif called is containers.erase and len(given) == 2:
            erased = ast.Subscript(*node.args, ast.Load())
            self._change(self._place_of(erased), node)
        return result

    def _record(self, declared: type[Struct], node: ast.Call, named: Variables) -> Possible:
        layout = self.layouts.structs.get(declared)
        for each in node.keywords:
            if layout is not None and each.arg in layout.fields:
                wanted = _possible(layout.fields[each.arg])
                self._expect(wanted, each.arg, each.value, named[each.arg], node)
        return _possible(layout) | self._made(node)

    def _made(self, node: ast.Call) -> Possible:
        """The place of a new record: that of the record which was made here before."""
        site = f"{_MADE}{self.function.__qualname__}, {node.lineno}, {node.col_offset}"
        made = Possible([Place((site,), code_text(node))])
        self._change(made, node)
        return made

    def _is_own(self, place: Place) -> bool:
        return place.steps[0].startswith(f"{_MADE}{self.function.__qualname__},")

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
                wanted = _possible(self.layouts.of_annotation(declared))
                self._expect(wanted, name, value, each, node)
                if any(names_inside(one) == () for one in each) or _is_number(value):
                    names = ", ".join(declared.names)
                    told = f"{code_text(value)} is a number, and {name} takes one of {names}"
                    raise self._error(node, told)
                variables[name] = wanted
        where = place(self.function.__code__.co_filename, node.lineno)
        text = f"{shortened(code_text(node), 60)} in {where}"
        result, changes = self.flow.follow(called, variables, text)
        self._change(changes, node)
        return result

    def _change(self, places: Possible, node: ast.stmt | ast.expr) -> None:
        """These places get another value here."""
        self.changes |= places
        for changed in sorted(_places(places)):
            self.known = {
                name: Possible(
                    each.after(changed, node.lineno) if isinstance(each, Place) else each
                    for each in found
                )
                for name, found in self.known.items()
            }

    # --- What is expected ------------------------------------------------------------------------

    def _expect_value(self, node: ast.Name) -> None:
        if self.known.get(node.id, UNKNOWN) >= _NO_VALUE:
            told = "it has no value on some of the paths to this line: give it one before"
            raise error_at(self.function, node, told)

    def _expect_unchanged(self, name: str, node: ast.expr) -> None:
        for each in sorted(_places(self.known.get(name, UNKNOWN))):
            if each.changed and each.steps[0].startswith(_MADE) and not each.steps[1:]:
                told = (
                    f"{code_text(name)} was made in an earlier turn of the loop, and the next one"
                    " has its place: keep its fields, or store it in the state"
                )
                raise error_at(self.function, node, told)
            if each.changed:
                told = (
                    f"{code_text(name)} is another name for {each.text}, no copy of it, and"
                    f" {each.changed}: read what you need before that line, or write {each.text} if"
                    " you mean what is there now"
                )
                raise error_at(self.function, node, told)

    def _expect(
        self, wanted: Possible, of: ast.expr | str, value: ast.expr, found: Possible, at: ast.AST
    ) -> None:
        """Raise LabError if a value, found here, has names, and none or others are wanted."""
        if isinstance(value, ast.IfExp):
            for each in (value.body, value.orelse):
                self._expect(wanted, of, each, self._seen[each], at)
            return
        shown = code_text(of)
        for names in map(names_inside, wanted):
            for each in sorted(found, key=_as_text) if names is not None else ():
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


def _places(found: Iterable[Any]) -> Possible:
    return Possible(each for each in found if isinstance(each, Place))


def _has_parts(found: Possible) -> bool:
    """Is it known to be more than a number?"""
    return any(isinstance(each, StructLayout | ArrayLayout) for each in found)


def _layouts(found: Possible) -> Possible:
    return found - _places(found)


def _part(found: Possible, step: str, text: str) -> Possible:
    return Possible(each.part(step, text) for each in _places(found))


def _items_of(containers_or_arrays: Possible) -> Possible:
    """What an item of any of these may be."""
    return UNKNOWN.union(*(_possible(item_of(each)) for each in containers_or_arrays))


def _without_copies(found: Possible) -> Possible:
    """A number that is read is a copy, and no part of the state."""
    layouts = _layouts(found)
    return layouts if layouts and all(isinstance(e, IntegerLayout) for e in layouts) else found


def _as_text(each: Any) -> str:
    return each if isinstance(each, str) else str(names_inside(each))


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int
