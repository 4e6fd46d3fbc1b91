"""Follows values through functions and calls: finds out what each expression is, and refuses values
that are not what they seem.

Compiled code has numbers only, and a number does not say whether it is a name or a set of nodes. So
what each is has to be followed: from the state `s`, the constants `c` and the parameters, field by
field and variable by variable. What is refused:

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
    is_struct,
    number_named,
    other_names,
)
from protocol_lab.reader.layouts_in_code import SET_OF_NODES, Layouts, common, item_of
from protocol_lab.reader.named_values import TAKE_ITEMS, names_inside
from protocol_lab.reader.reading import loop_sources, names_assigned, readable, reading
from protocol_lab.reader.side_effects import Flow
from protocol_lab.reader.source_code import HELPERS, code_text, error_at, is_plain, names_read

_MOVE_ITEMS = (
    *(containers.add, containers.add_once, containers.take),
    *(containers.remove_at, containers.pop_first, containers.truncate),
)
"""The functions (container, ...) after which an item may be at another place, or gone."""

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
"""What a value may be: layouts, texts, places, UNASSIGNED, and ANYTHING."""

Variables = dict[str, Possible]

ANYTHING, UNASSIGNED = ("anything",), ("no value",)
UNKNOWN, _NO_VALUE, _NOTHING = Possible([ANYTHING]), Possible([UNASSIGNED]), Possible()
_A_SET = Possible([SET_OF_NODES])


class ValueFlow:
    """Follows functions of one model's state. Each is followed once for what it is given."""

    def __init__(self, known: Layouts):
        self.known = known
        self._bodies: dict[tuple, Body] = {}

    def follow_entry(self, function: Callable, tree: ast.FunctionDef | None = None) -> "Body":
        """Follow an action, property or the like, whose parameters say by name and annotation what
        they are. Raises LabError."""
        given = {}
        for name in signature(function).parameters:
            found = _possible(self.known.of_parameter(function, name))
            given[name] = _without_copies(found | {Place((name,), name)})
        return self.follow(function, given, tree=tree)

    def follow(
        self,
        function: Callable,
        given: Variables,
        called: str = "",
        tree: ast.FunctionDef | None = None,
    ) -> "Body":
        """The function, followed with what it is given. Raises LabError.

        called: the call and its place, for messages. tree: a copy of the function's own, to be
        followed in its place.
        """
        key = function, tuple(given.items())
        if tree is None and key in self._bodies:
            return self._bodies[key]
        body = Body(self, function, called)
        if tree is None:
            self._bodies[key] = body
        if any(readable([function])):
            code = reading(function)
            body.own = code.variables
            variables = dict.fromkeys(body.own.difference(code.parameters), _NO_VALUE)
            body.block((tree or code.apart).body, variables | given)
        else:
            body.result = UNKNOWN
        return body


class Body(Flow[Variables]):
    """The body of one function, followed with what one call gives it: what it returns, and the
    places that it may change.

    known: what each variable may be at the point of the code that is looked at. given: what calls
    of plain functions give them. written: the texts that the name of a collection stands for.
    """

    def __init__(self, flow: ValueFlow, function: Callable, called: str):
        super().__init__()
        self.flow, self.layouts, self.function, self.called = flow, flow.known, function, called
        self.values, self.known, self.own = names_read(function), {}, frozenset()
        self.result = self.changes = _NOTHING
        self.given: dict[ast.Call, Variables] = {}
        self.written: dict[ast.expr, list[ast.Constant]] = {}
        self._seen: dict[ast.AST, Possible] = {}  # what each expression was when it was evaluated
        self._wanted: dict[ast.expr, Possible] = {}  # what each was stored in or compared with

    # --- What was found --------------------------------------------------------------------------

    def layout(self, node: ast.expr) -> Any:
        """The layout of an expression's value; None if it can't be inferred."""
        if node not in self._seen and isinstance(node, ast.Subscript):
            return item_of(self.layout(node.value))
        return _layout_in(self._seen.get(node, UNKNOWN))

    def is_set(self, node: ast.expr) -> bool:
        """Is the expression known to be a set of nodes?"""
        return _is_set(self._seen.get(node, UNKNOWN))

    def number(self, text: ast.expr) -> int | None:
        """The number that a text stands for where it is; None if it names no value there."""
        names = names_inside(_layout_in(self._wanted.get(text, UNKNOWN)))
        found = [each for each in self._seen.get(text, ()) if isinstance(each, str)]
        return names.index(found[0]) if names and len(found) == 1 else None

    # --- Statements ------------------------------------------------------------------------------

    def meet(self, paths: list[Variables]) -> Variables:
        """What each variable may be where several paths meet."""
        names = dict.fromkeys(name for each in paths for name in each)
        return {name: _NOTHING.union(*(each.get(name, ()) for each in paths)) for name in names}

    def returned(self, node: ast.Return, known: Variables) -> None:
        """Note what is returned. Raises LabError for what can't be."""
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
        """Evaluate an expression, or those of a statement."""
        self.known = known
        if isinstance(node, ast.expr):
            self.of(node)
        elif node is not None:
            self._parts(node)
        return self.known

    def simple(self, node: ast.stmt, known: Variables) -> Variables:
        """Follow an assignment, or another statement that has no others inside."""
        self.known = known
        match node:
            case ast.Assign(targets, value):
                if len(targets) > 1 or not isinstance(targets[0], ast.Attribute | ast.Subscript):
                    self._expect_variables(node, targets, "assign one field at a time")
                self.of(value)
                for target in targets:
                    self._assign(target, value, node)
            case ast.AnnAssign(target, _, value):
                self._expect_variables(node, [target], "leave the type out")
                if value is not None:
                    self.of(value)
                    self._assign(target, value, node)
            case ast.AugAssign(ast.Name(name) as target, op, value):
                self._know(name, self.of(ast.BinOp(target, op, value)))
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
        told = "let the loop have a variable of its own, and assign the field in its body"
        self._expect_variables(loop.target, [loop.target], told)
        drawn = {name: self._items(of) or UNKNOWN for name, of in loop_sources(loop)}
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
            case ast.Name("c"):
                return Possible([self.layouts.constants])
            case ast.Name(name):
                found = self.values.get(name)
                return Possible([found]) if isinstance(found, str) else UNKNOWN
            case ast.Attribute(_, name):
                owners = self._owner(node)
                return _without_copies(self._field(owners, name) | self._place_of(node))
            case ast.Subscript(_, index):
                owners = self._owner(node)
                self.of(index)
                return _without_copies(_items_of(owners) | self._place_of(node))
            case ast.IfExp(test, body, orelse):
                self.of(test)
                return self.of(body) | self.of(orelse)
            case ast.BoolOp(_, values):
                return _NOTHING.union(*[self.of(each) for each in values])
            case ast.BinOp(left, op, right):
                sides = [self.of(left), self.of(right)]
                is_of_sets = isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor)
                return _A_SET if is_of_sets and any(map(_is_set, sides)) else UNKNOWN
            case ast.NamedExpr():
                raise error_at(self.function, node, "assign in a line of its own, and then ask")
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
        by_name = self.layouts.fields.get(name)
        fields = [getattr(each, "fields", {}).get(name, by_name) for each in _layouts(owners)]
        return _NOTHING.union(*map(_possible, fields or [by_name]))

    def _place_of(self, node: ast.expr) -> Possible:
        """The parts of the state that a field or item, whose owner was evaluated, may be."""
        match node:
            case ast.Attribute(value, "items"):
                return _places(self._seen[value])
            case ast.Attribute(value, name):
                return _part(self._seen[value], f".{name}", code_text(node))
            case ast.Subscript(value, index):
                return _part(self._seen[value], self._step(index), code_text(node))
        return _NOTHING

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
                return _NOTHING.union(*(self._seen[each] for each in parts))
            case ast.GeneratorExp(item) | ast.ListComp(item) | ast.SetComp(item):
                return self._seen[item]
            case ast.Name(name) if name not in self.known:
                found = self.values.get(name)
                if isinstance(found, tuple | list | set | frozenset):
                    return Possible(e if isinstance(e, str) else ANYTHING for e in found)
            case ast.Call(ast.Name(name)) if self.values.get(name) is node_sets.subsets:
                return _A_SET
        found = self._seen[node]
        places = _part(found, _SOME_ITEM, f"{code_text(node)}{_SOME_ITEM}")
        return _without_copies(_items_of(found) | places)

    def _compare(self, node: ast.Compare) -> None:
        self._parts(node)
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            of_left, beside = self._seen[left], [(right, self._seen[right])]
            if isinstance(op, ast.In | ast.NotIn):
                written = getattr(right, "elts", None) or self._texts_in(right)
                beside = [(each, self._seen[each]) for each in written]
                beside = beside or [(right, self._items(right))]
            if isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                for each, of_each in beside:
                    self._expect(of_left, left, each, of_each, node)
                    self._expect(of_each, each, left, of_left, node)

    def _texts_in(self, node: ast.expr) -> list[ast.Constant]:
        """The items of a global collection of texts; [] for anything else."""
        name = node.id if isinstance(node, ast.Name) and node.id not in self.known else ""
        found = self.values.get(name)
        if not isinstance(found, tuple | list | set | frozenset):
            return []
        if node not in self.written and any(isinstance(each, str) for each in found):
            self.written[node] = [ast.copy_location(ast.Constant(each), node) for each in found]
            self._parts(ast.Tuple(self.written[node]))
        return self.written.get(node, [])

    # --- Calls -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Possible:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        called = None if name in self.known else self.values.get(name)
        self._parts(node)
        given = [self._seen.get(each, UNKNOWN) for each in node.args]
        named = {each.arg: self.of(each.value) for each in node.keywords}
        if name in ("min", "max") and called is None:
            given = [self._items(node.args[0])] if len(given) == 1 else given
            return _layouts(_NOTHING.union(*given, *named.values()))
        if is_struct(called):
            return self._record(called, node, named)
        if called in TAKE_ITEMS and len(given) == 2:
            self._expect(_items_of(given[0]), *node.args, given[1], node)
        result = UNKNOWN
        if called in (containers.last, containers.pop_first) and len(given) == 1:
            result = self._items(node.args[0])
            if called is containers.pop_first:
                result = _layouts(result) | self._made(node)
        elif getattr(called, "__module__", "") in HELPERS:
            result = self._declared(called, UNKNOWN)
        elif is_plain(called):
            return self._call_plain(called, node)
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

    def _call_plain(self, called: Callable, node: ast.Call) -> Possible:
        parameters = signature(called).parameters
        written = dict(zip(parameters, node.args, strict=False))
        written |= {each.arg: each.value for each in node.keywords}
        variables = {}
        for name, each in parameters.items():
            variables[name] = Possible([each.default]) if isinstance(each.default, str) else UNKNOWN
            if name in written:
                variables[name] = self._passed(name, each.annotation, written[name], node)
        self.given[node] = variables
        where = place(self.function.__code__.co_filename, node.lineno)
        text = f"{shortened(code_text(node), 60)} in {where}"
        body = self.flow.follow(called, variables, text)
        self._change(body.changes, node)
        return self._declared(called, body.result)

    def _passed(self, name: str, declared: Any, value: ast.expr, node: ast.Call) -> Possible:
        """What a parameter, declared so, may be where it is given this value."""
        wanted, found = self.layouts.of_annotation(declared), self._seen[value]
        if isinstance(declared, Named):
            self._expect(_possible(wanted), name, value, found, node)
            if any(names_inside(one) == () for one in found) or _is_number(value):
                names = ", ".join(declared.names)
                told = f"{code_text(value)} is a number, and {name} takes one of {names}"
                raise self._error(node, told)
        return _as_declared(wanted, found)

    def _declared(self, called: Callable, result: Possible) -> Possible:
        """What a call gives, if its function returned this: what it declares, if it does."""
        declared = getattr(called, "__annotations__", {}).get("return")
        return _as_declared(self.layouts.of_annotation(declared), result)

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

    def _expect_variables(self, node: ast.AST, targets: list[ast.expr], told: str) -> None:
        """Raise LabError for a field or slot that is assigned otherwise than alone, by `=` or `+=`:
        compiled code would store it without checking that the number fits."""
        inside = [each for target in targets for each in ast.walk(target)]
        places = [each for each in inside if isinstance(each, ast.Attribute | ast.Subscript)]
        if any(isinstance(each.ctx, ast.Store) for each in places):
            raise error_at(self.function, node, told)

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
        parts = (value.body, value.orelse) if isinstance(value, ast.IfExp) else None
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else parts
        if parts is not None:
            for each in parts:
                self._expect(wanted, of, each, self._seen[each], at)
            return
        self._wanted[value] = self._wanted.get(value, _NOTHING) | wanted
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


def _layout_in(found: Possible) -> Any:
    """The layout of a value that may be any of these; None if they differ or are not known."""
    layouts = [each for each in _layouts(found) if each is not UNASSIGNED]
    known = layouts and not any(isinstance(each, str | tuple) for each in layouts)
    return common(layouts) if known else None


def _is_set(found: Possible) -> bool:
    return getattr(_layout_in(found), "kind", "") == "nodes"


def _as_declared(layout: Any, found: Possible) -> Possible:
    """What a value may be that is declared with a layout, if it is."""
    return found if layout is None else _without_copies(_possible(layout) | _places(found))


def _part(found: Possible, step: str, text: str) -> Possible:
    return Possible(each.part(step, text) for each in _places(found))


def _items_of(containers_or_arrays: Possible) -> Possible:
    """What an item of any of these may be."""
    items = [_possible(item_of(each)) for each in _layouts(containers_or_arrays)]
    return _NOTHING.union(*items) if items else UNKNOWN


def _without_copies(found: Possible) -> Possible:
    """A number that is read is a copy, and no part of the state."""
    layouts = _layouts(found)
    known = layouts - UNKNOWN
    return layouts if known and all(isinstance(e, IntegerLayout) for e in known) else found


def _as_text(each: Any) -> str:
    return each if isinstance(each, str) else str(names_inside(each))


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int
