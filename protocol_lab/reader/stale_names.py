"""Rejects names for parts of the state that are read after that part was assigned.

    old = s.box[p]                  no copy: another name for s.box[p]
    s.box[p] = Parcel(weight=1)
    if old.weight == 0: ...         reads the new parcel

Numbers are copied; a struct, sequence or bag that is read is a place in the state. So in TLA+ terms
`old` would be `box'[p]`. The same goes for two fields that are swapped in one line or with a third
name, and for an item of a bag or sequence whose items have moved since. All paths through the code
are followed, into what it calls and back. Two slots of an array may be the same unless their
indices are different numbers.

Also rejects a field that is assigned otherwise than by a statement of its own, as in
`for s.turn in range(3)`: compiled code would store it without checking that the number fits.
"""

import ast
from collections.abc import Callable
from typing import NamedTuple

from protocol_lab.model import containers, node_sets
from protocol_lab.reader.dataflow import Flow
from protocol_lab.reader.reading import assignments, loop_sources, names_assigned, readable, reading
from protocol_lab.reader.source_code import code_text, error_at, is_plain, names_read

_MOVE_ITEMS = (
    *(containers.add, containers.add_once, containers.take),
    *(containers.remove_at, containers.pop_first, containers.truncate),
)
"""The functions (container, ...) after which an item may be at another place, or gone."""

_HELPERS = (containers.__name__, node_sets.__name__)

_STATES = ("s", "a", "before", "after")
"""The parameters that stand for the same in every function."""

_SOME_ITEM = "[...]"

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


Places = frozenset[Place]
Aliases = dict[str, Places]
"""What each variable may be another name for."""


class StaleNames:
    """Follows functions, each once for what it is given.

    is_place: do these steps, the first of which is a parameter of this function, lead to what is
    known to be a struct, sequence, bag or array?
    """

    def __init__(self, is_place: Callable[[Callable, list[str]], bool]):
        self._is_place = is_place
        self._owners: dict[str, Callable] = {}  # by the first steps of places
        self._results: dict[tuple, tuple[Places, Places]] = {}

    def refuse(self, function: Callable) -> None:
        """Raise LabError if the function, or one that it calls, uses such a name."""
        _refuse_other_assignments(function)
        given = {}
        for name in reading(function).parameters:
            first = name if name in _STATES else f"{name} of {function.__qualname__}"
            self._owners[first] = function
            given[name] = Places([Place((first,), name)])
        self.follow(function, given)

    def is_place(self, place: Place) -> bool:
        """Is it known to be more than a number, of which the variable would be a copy?"""
        first, *further = place.steps
        return self._is_place(self._owners[first], [first.partition(" ")[0], *further])

    def follow(self, function: Callable, given: Aliases) -> tuple[Places, Places]:
        """(the places that a call may return, those that it may change)."""
        key = (function, *given.items())
        if key not in self._results:
            self._results[key] = Places(), Places()  # what calls itself is never compiled
            if any(readable([function])):
                flow = _Aliases(self, function)
                flow.block(reading(function).apart.body, given)
                self._results[key] = flow.results, flow.changes
        return self._results[key]


class _Aliases(Flow[Aliases]):
    """One function, followed with what one call gives it."""

    def __init__(self, followed: StaleNames, function: Callable):
        super().__init__()
        self.followed, self.function, self.values = followed, function, names_read(function)
        self.results, self.changes = Places(), Places()

    def meet(self, paths: list[Aliases]) -> Aliases:
        names = dict.fromkeys(name for each in paths for name in each)
        return {name: Places().union(*(each.get(name, ()) for each in paths)) for name in names}

    def returned(self, node: ast.Return, known: Aliases) -> None:
        self.results |= self._given(node.value, known, self.read(node.value, known))

    def bound(self, loop: ast.For | ast.comprehension, known: Aliases) -> Aliases:
        return known | {name: self._items(of, known) for name, of in loop_sources(loop)}

    def simple(self, node: ast.stmt, known: Aliases) -> Aliases:
        before = known
        in_order = [node.value, *node.targets] if isinstance(node, ast.Assign) else [node]
        for each in in_order:
            known = self.read(each, known)
        match node:
            case ast.Assign([ast.Attribute() | ast.Subscript() as target]):
                return self._changed(self._places(target, known), node, known)
        given = {
            target.id: self._given(value, before, known)
            for target, value in assignments(node)
            if isinstance(target, ast.Name)
        }
        return known | dict.fromkeys(names_assigned(node), Places()) | given

    def read(self, node: ast.AST | None, known: Aliases) -> Aliases:
        match node:
            case None | ast.Lambda():
                return known
            case ast.Attribute(ast.Name(name)) | ast.Subscript(ast.Name(name)):
                self._use(name, node, known)
            case ast.Name(name, ast.Load()):
                if any(map(self.followed.is_place, _changed(name, known))):
                    self._use(name, node, known)
            case ast.comprehension():
                known = self.bound(node, self.read(node.iter, known))
        children = [
            each for each in ast.iter_child_nodes(node) if each is not getattr(node, "iter", 0)
        ]
        loops = [each for each in children if isinstance(each, ast.comprehension)]
        for child in (*loops, *(each for each in children if each not in loops)):
            known = self.read(child, known)
        return self._called(node, known) if isinstance(node, ast.Call) else known

    def _use(self, name: str, node: ast.expr, known: Aliases) -> None:
        for each in _changed(name, known):
            told = (
                f"{code_text(name)} is another name for {each.text}, no copy of it, and"
                f" {each.changed}: read what you need before that line, or write {each.text} if you"
                " mean what is there now"
            )
            raise error_at(self.function, node, told)

    def _places(self, node: ast.expr | None, known: Aliases) -> Places:
        """The parts of the state that an expression may be."""
        match node:
            case ast.Name(name):
                return known.get(name, Places())
            case ast.Attribute(value, "items"):
                return self._places(value, known)
            case ast.Attribute(value, name):
                return self._parts(value, f".{name}", node, known)
            case ast.Subscript(value, index):
                return self._parts(value, self._step(index), node, known)
            case ast.IfExp(_, body, orelse):
                return self._places(body, known) | self._places(orelse, known)
            case ast.Call(ast.Name(name), [container]) if self.values.get(name) is containers.last:
                return self._items(container, known)
            case ast.Call():
                return self._result(node, known)[0]
        return Places()

    def _given(self, node: ast.expr | None, before: Aliases, after: Aliases) -> Places:
        """The parts of the state that an evaluated expression gave: a call was made before what it
        changed."""
        return self._places(node, before if isinstance(node, ast.Call) else after)

    def _parts(self, value: ast.expr, step: str, node: ast.expr, known: Aliases) -> Places:
        return Places(each.part(step, code_text(node)) for each in self._places(value, known))

    def _items(self, node: ast.expr, known: Aliases) -> Places:
        text = f"{code_text(node)}{_SOME_ITEM}"
        return Places(each.part(_SOME_ITEM, text) for each in self._places(node, known))

    def _step(self, index: ast.expr) -> str:
        match index:
            case ast.Constant(int() as number):
                return f"[{number}]"
            case ast.Name(name) if type(self.values.get(name)) is int:
                return f"[{self.values[name]}]"
        return _SOME_ITEM

    def _called(self, node: ast.Call, known: Aliases) -> Aliases:
        return self._changed(self._result(node, known)[1], node, known)

    def _result(self, node: ast.Call, known: Aliases) -> tuple[Places, Places]:
        """(the places that a call may return, those that it may change)."""
        called = self.values.get(node.func.id) if isinstance(node.func, ast.Name) else None
        match node.args:
            case [container, *_] if called in _MOVE_ITEMS:
                text = f"{code_text(container)}.items"
                return Places(), self._parts(container, _SOME_ITEM, ast.Name(text), known)
            case [items, index] if called is containers.erase:
                return Places(), self._places(ast.Subscript(items, index), known)
        if not is_plain(called) or called.__module__ in _HELPERS or not any(readable([called])):
            return Places(), Places()
        arguments = dict(zip(reading(called).parameters, node.args, strict=False))
        arguments |= {each.arg: each.value for each in node.keywords if each.arg}
        given = {name: self._places(each, known) for name, each in arguments.items()}
        return self.followed.follow(called, given)

    def _changed(self, places: Places, node: ast.stmt | ast.expr, known: Aliases) -> Aliases:
        """What is known after these places were changed."""
        self.changes |= places
        for changed in sorted(places):
            known = {
                name: Places(each.after(changed, node.lineno) for each in aliases)
                for name, aliases in known.items()
            }
        return known


def _changed(name: str, known: Aliases) -> list[Place]:
    """What a variable is another name for and was changed since."""
    return sorted(each for each in known.get(name, ()) if each.changed)


def _refuse_other_assignments(function: Callable) -> None:
    """Raise LabError for a field or slot that is assigned otherwise than alone, by `=` or `+=`."""
    for node in ast.walk(reading(function).as_written):
        match node:
            case ast.Assign([ast.Attribute() | ast.Subscript()]):
                continue
            case ast.Assign(targets):
                shown, told = node, "assign one field at a time"
            case ast.AnnAssign(target):
                shown, targets, told = node, [target], "leave the type out"
            case ast.For(target) | ast.comprehension(target):
                shown, targets = target, [target]
                told = "let the loop have a variable of its own, and assign the field in its body"
            case _:
                continue
        if any(_is_assigned_place(each) for target in targets for each in ast.walk(target)):
            raise error_at(function, shown, told)


def _is_assigned_place(node: ast.AST) -> bool:
    """Is it a field or slot that is assigned here, not only read?"""
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
