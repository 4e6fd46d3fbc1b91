"""Checks a symmetry declaration on sampled transitions.

Symmetry reduction is sound only if renaming nodes changes nothing: the same actions lead from a
renamed state to the renamed successors, and every property has the same value in both. A wrong
declaration would silently hide states, so every search under symmetry begins with this check.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.evaluation import keeping_results, kept
from protocol_lab.model.spec import Model, Property
from protocol_lab.model.transitions import (
    Attempt,
    evaluate_step,
    fails,
    initial,
    is_inside,
    is_true,
    successors,
)
from protocol_lab.symmetry.permutations import Names, erased, exchanges, renamed

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
