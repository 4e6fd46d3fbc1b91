"""Distances as values: exact, or lower bounds that say so."""

from collections.abc import Iterable
from dataclasses import dataclass

from protocol_lab.errors import EvaluationError
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import evaluate, evaluate_step, is_inside, needed_attempts
from protocol_lab.quantities import counted

EXACT, MORE, NEVER, UNKNOWN = "exact", "more", "never", "unknown"
ALL_STATES, FROM_HERE = "all states", "search from here"


@dataclass(frozen=True)
class Distance:
    """The fewest steps to a violation.

    `kind`: EXACT: `steps` steps, including the violating one; MORE than `steps`; NEVER: everything
    reachable was seen; UNKNOWN: the state is outside the spec's constraint, where nothing is
    searched.
    """

    kind: str
    steps: int = 0

    @property
    def text(self) -> str:
        """In words: "here", "5 steps", "more than 9 steps", "none can be reached"."""
        steps = counted(self.steps, "step")
        return {
            EXACT: steps if self.steps else "here",
            MORE: f"more than {steps}",
            NEVER: "none can be reached",
            UNKNOWN: "outside the constraint",
        }[self.kind]


@dataclass(frozen=True)
class Near:
    """The answer for one state.

    here: from the state. after: after each possible step, in the order of `attempts`; 0 for a step
    that violates. how: ALL_STATES or FROM_HERE. states: how many were searched. seconds: how long
    it took, without compiling.
    """

    here: Distance
    after: list[Distance]
    how: str
    states: int
    seconds: float

    @property
    def note(self) -> str:
        """How the answer was found, and how far the search looked, in one sentence."""
        if self.how == ALL_STATES:
            return f"All {self.states:,} states were explored, and searched backwards."
        return f"{self.states:,} states from here were searched, in {self.seconds:.1f} s."


@dataclass(frozen=True)
class FirstSteps:
    """The possible steps of a state, and what is known of them without a search.

    rows: the states after them. known: the distance after each; None where it has to be searched.
    is_broken: a violation is here. is_outside: the state is outside the spec's constraint.
    one_is_cut: a step leads to a state that can't be stored or judged, so nothing is known of it.
    """

    rows: list[bytes]
    known: list[Distance | None]
    is_broken: bool
    is_outside: bool
    one_is_cut: bool

    @property
    def unknown(self) -> list[bytes]:
        """The states after steps whose distance has to be searched."""
        return [row for row, each in zip(self.rows, self.known, strict=True) if each is None]

    def answer(self, searched: Iterable[Distance], how: str, states: int, seconds: float) -> Near:
        """The answer, given the distances of the `unknown` states."""
        found = iter(searched)
        after = [next(found) if each is None else each for each in self.known]
        return Near(self._here(after), after, how, states, seconds)

    def _here(self, after: list[Distance]) -> Distance:
        """One step more than after the nearest step."""
        if self.is_broken:
            return Distance(EXACT)
        exact = [each.steps for each in after if each.kind == EXACT]
        clear = [each.steps for each in after if each.kind == MORE] + [-1] * self.one_is_cut
        if exact and (not clear or min(exact) <= min(clear) + 1):
            return Distance(EXACT, min(exact) + 1)
        if clear:
            return Distance(MORE, min(clear) + 1)
        nothing_searched = self.is_outside and any(each.kind == UNKNOWN for each in after)
        return Distance(UNKNOWN if nothing_searched else NEVER)


def first_steps(model: Model, row: bytes, names: list[str]) -> FirstSteps:
    """The possible steps of a state, in plain Python; names: the invariants in question."""
    states, steps = model.choose(names)

    def is_broken(after: bytes) -> bool:
        return any(evaluate(model, after, each.function) for each in states)

    def known(after: bytes) -> Distance | None:
        nonlocal one_is_cut
        try:
            if is_broken(after) or any(
                evaluate_step(model, row, after, each.function) for each in steps
            ):
                return Distance(EXACT)
            return None if is_inside(model, after) else Distance(UNKNOWN)
        except EvaluationError:
            one_is_cut = True
            return Distance(UNKNOWN)

    tried = list(needed_attempts(model, row))
    one_is_cut = any(each.over_capacity for each in tried)
    rows = [each.row for each in tried if each.taken]
    after = [known(each) for each in rows]
    return FirstSteps(rows, after, is_broken(row), not is_inside(model, row), one_is_cut)
