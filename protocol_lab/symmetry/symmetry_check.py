"""Checks a symmetry declaration on sampled transitions.

Symmetry reduction is sound only if renaming nodes changes nothing: the same actions lead from a
renamed state to the renamed successors, and every property has the same value in both. A wrong
declaration would silently hide states, so every search under symmetry begins with this check.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, permutations, product
from typing import Any

from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.evaluation import evaluated, keeping_results, kept
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, StructLayout
from protocol_lab.model.node_sets import as_mask, members
from protocol_lab.model.spec import Model, Property
from protocol_lab.model.state_view import read, view, write
from protocol_lab.model.transitions import (
    Attempt,
    evaluate_step,
    fails,
    initial,
    is_inside,
    is_true,
    successors,
)

# --- Permutations ---------------------------------------------------------------------------------
#
# Permutes nodes in a state: the row of the same state with its nodes renamed.
#
# A renaming gives, for each kind of node, the new name of every node: names["replicas"][2] == 3
# says that replica 2 becomes replica 3. The declared types say where nodes occur: items of arrays
# by node are moved, nodes and sets of nodes are rewritten, bags are sorted again.
#
# It is the reference for `state_identity`, slower and simpler: it tries all renamings.


Names = Mapping[str, Sequence[int]]


def renamed(layout: StructLayout, row: bytes, names: Names) -> bytes:
    """The row with its nodes renamed."""
    after = bytearray(row)
    _rename(layout, row, 0, after, 0, names)
    return bytes(after)


def all_renamings(model: Model) -> Iterator[Names]:
    """Every renaming of the symmetric nodes, the identity included."""
    kinds = [each.kind for each in model.spec.symmetries]
    for chosen in product(*(_orders(model, k) for k in range(len(kinds)))):
        yield dict(zip(kinds, chosen, strict=True))


def exchanges(model: Model) -> list[Names]:
    """The exchanges of two neighbours, which together generate every renaming."""
    identity = {
        each.kind: range(getattr(model.constants, each.kind) + 1) for each in model.spec.symmetries
    }
    found = []
    for each in model.spec.symmetries:
        for one, other in pairwise(members(each.alike(model.constants))):
            names = list(identity[each.kind])
            names[one], names[other] = other, one
            found.append({**identity, each.kind: names})
    return found


def smallest_name(model: Model, row: bytes) -> bytes:
    """The smallest row, by bytes, of all states that this one can become by renaming."""
    return min(renamed(model.layout, row, names) for names in all_renamings(model))


def erased(model: Model, row: bytes) -> bytes:
    """The state with what the declared view erases set to zero."""
    left = bytearray(row)
    evaluated(model.spec.erase, view(model.layout, left), model.constants)
    return bytes(left)


def _orders(model: Model, at: int) -> Iterator[Sequence[int]]:
    symmetry = model.spec.symmetries[at]
    alike = list(members(symmetry.alike(model.constants)))
    for order in permutations(alike):
        names = list(range(getattr(model.constants, symmetry.kind) + 1))
        for old, new in zip(alike, order, strict=True):
            names[old] = new
        yield names


def _rename(layout: Any, row: bytes, at: int, after: bytearray, there: int, names: Names) -> None:
    """Write what stands at row[at:] renamed to after[there:]."""
    part = after[there : there + layout.size] = row[at : at + layout.size]
    if not any(part) or not _kinds_in(layout) & names.keys():
        return  # no node occurs in it: what is not in use is zero, and NONE stays NONE
    match layout:
        case IntegerLayout(kind="node", nodes=kind):
            write(layout, after, there, names[kind][read(layout, row, at, "")], "node")
        case IntegerLayout(nodes=kind):
            before = members(read(layout, row, at, ""))
            write(layout, after, there, as_mask(names[kind][each] for each in before), "nodes")
        case ArrayLayout(item, _, kind):
            moved = dict(enumerate(names.get(kind, ())))
            for k in range(layout.first, layout.end):
                to = there + layout.offset(moved.get(k, k))
                _rename(item, row, at + layout.offset(k), after, to, names)
        case StructLayout():
            for name, part in layout.fields.items():
                offset = layout.offsets[name]
                _rename(part, row, at + offset, after, there + offset, names)
            if layout.kind == "bag":
                _sort(layout, after, there)


@cache
def _kinds_in(layout: Any) -> frozenset[str]:
    """The kinds of nodes that occur in a part of a state, as values or as indices."""
    match layout:
        case IntegerLayout(nodes=kind):
            return frozenset({kind} - {""})
        case ArrayLayout(item, _, kind):
            return _kinds_in(item) | {kind} - {""}
    return frozenset().union(*map(_kinds_in, layout.fields.values()))


def _sort(layout: StructLayout, data: bytearray, at: int) -> None:
    size, items = layout.fields["size"], layout.fields["items"]
    count = read(size, data, at + layout.offsets["size"], "")
    first, width = at + layout.offsets["items"], items.item.size
    found = [bytes(data[k : k + width]) for k in range(first, first + count * width, width)]
    if isinstance(items.item, IntegerLayout):
        found.sort(key=lambda each: read(items.item, each, 0, ""))
    else:
        found.sort()  # records are kept in the order of their bytes
    data[first : first + count * width] = b"".join(found)


# --- Symmetry check -------------------------------------------------------------------------------


SAMPLED, STEPS = 150, 25
"""How many states are sampled, and the length of the random walks that find them."""

_passed: set[tuple] = set()


def check_alike(
    model: Model,
    properties: Iterable[Property] = (),
    conditions: Iterable[Callable[..., Any]] = (),
) -> None:
    """Exchange nodes that are declared symmetric, in sampled states, once for these functions.

    properties, conditions: what to evaluate besides the spec's expected situations and
    constraints; a condition is true or false. Raises LabError, naming what distinguishes the nodes.
    """
    spec = model.spec
    judged = [*properties, *spec.expected, *spec.constraints]
    functions = [each.function for each in [*spec.inits, *spec.actions, *judged]]
    key = (spec.name, *functions, *conditions, tuple(model.constants), tuple(spec.symmetries))
    if key in _passed:
        return
    try:
        starts = [each.row for each in initial(model)]
    except EvaluationError:
        return  # the search ends there as well, or begins again with more storage
    with keeping_results():  # a state is looked at once for each exchange, and often meets itself
        _Trial(model, judged, list(conditions)).run(starts)
    _passed.add(key)


class _Trial:
    """Compares sampled states with the same states after exchanging two nodes."""

    def __init__(self, model: Model, judged: list[Property], conditions: list[Callable]):
        self.model, self.conditions = model, conditions
        self.steps = [each for each in judged if each in model.spec.step_invariants]
        self.properties = [each for each in judged if each not in self.steps]

    def run(self, starts: list[bytes]) -> None:
        every = exchanges(self.model)
        if not every:
            return
        states = self._sample(starts)
        for names in every:
            if {renamed(self.model.layout, row, names) for row in starts} != {*starts}:
                raise self._told_apart(names, "the initial states differ")
            for row, ahead in states.items():
                self._compare(row, ahead, names)

    def _sample(self, starts: list[bytes]) -> dict[bytes, list[Attempt] | None]:
        """States with their successors, on random walks over states that were not sampled before.

        So a model of fewer states than SAMPLED is sampled whole, and a mistake in it is found.
        """
        chance, found, waiting = random.Random(0), {}, dict.fromkeys(starts)
        while waiting and len(found) < SAMPLED:
            row = chance.choice([*waiting])
            for _ in range(STEPS):
                waiting.pop(row, None)
                found[row] = self._successors(row)
                fresh = [each.row for each in found[row] or [] if each.row not in found]
                waiting.update(dict.fromkeys(fresh))
                if not fresh or len(found) == SAMPLED:
                    break
                row = chance.choice(fresh)
        return found

    def _successors(self, row: bytes) -> list[Attempt] | None:
        """The steps from a state, none from one outside the constraints; None where a step, or
        whether it is inside, can't be computed."""
        model = self.model

        def compute() -> list[Attempt] | None:
            try:
                return list(successors(model, row)) if is_inside(model, row) else []
            except EvaluationError:
                return None

        return kept((successors, row), compute)

    def _compare(self, row: bytes, ahead: list[Attempt] | None, names: Names) -> None:
        model, other = self.model, renamed(self.model.layout, row, names)
        for each in self.properties:
            here, there = (_answer(fails, model, of, each) for of in (row, other))
            if here != there:
                raise self._told_apart(names, f"{each.name} changes its answer")
        for each in self.conditions:
            here, there = (_answer(is_true, model, of, each) for of in (row, other))
            if here != there:
                raise self._told_apart(names, f"the condition {each.__name__!r} changes its value")
        if model.spec.erase is not None and erased(model, other) != renamed(
            model.layout, erased(model, row), names
        ):
            raise self._told_apart(names, "the view erases something else")
        self._compare_steps(row, ahead, other, names)

    def _compare_steps(
        self, row: bytes, ahead: list[Attempt] | None, other: bytes, names: Names
    ) -> None:
        model, found = self.model, self._successors(other)
        if ahead is None or found is None:
            if ahead is not found:
                raise self._told_apart(names, "a step can be computed in only one of the two")
            return
        expected = Counter(
            (each.action.name, renamed(model.layout, each.row, names), each.multiplicity)
            for each in ahead
        )
        there = Counter((each.action.name, each.row, each.multiplicity) for each in found)
        if expected != there:
            action = next(iter((expected - there) + (there - expected)))[0]
            raise self._told_apart(names, f"{action} leads to other states")
        for each in ahead:
            after = renamed(model.layout, each.row, names)
            for step in self.steps:
                answer = _answer(evaluate_step, model, row, each.row, step.function)
                if answer != _answer(evaluate_step, model, other, after, step.function):
                    raise self._told_apart(names, f"{step.name} changes its answer")

    def _told_apart(self, names: Names, how: str) -> LabError:
        kind, one, other = next(
            (kind, node, to)
            for kind, new in names.items()
            for node, to in enumerate(new)
            if node != to
        )
        return LabError(
            f"{self.model.spec.name} declares its {kind} symmetric, but tells {one} and {other}"
            f" apart: when they change places in a state, {how}. Search without symmetry, or"
            " correct the spec."
        )


def _answer(ask: Callable[..., Any], *about: Any) -> bool | None:
    """Whether something is true of a state or step; None where it can't be computed."""
    try:
        return bool(ask(*about))
    except EvaluationError:
        return None
