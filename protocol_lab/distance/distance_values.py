"""Distances as values: exact, or lower bounds that say so."""

from dataclasses import dataclass

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


def from_here(
    after: list[Distance], is_broken: bool, is_outside: bool, one_does_not_fit: bool
) -> Distance:
    """The distance of a state: one step more than after the nearest step.

    is_broken: a violation is here; is_outside: the state is outside the spec's constraint;
    one_does_not_fit: a step leads to a state that can't be stored, so nothing is known of it.
    """
    if is_broken:
        return Distance(EXACT)
    exact = [each.steps for each in after if each.kind == EXACT]
    clear = [each.steps for each in after if each.kind == MORE] + [-1] * one_does_not_fit
    if exact and (not clear or min(exact) <= min(clear) + 1):
        return Distance(EXACT, min(exact) + 1)
    if clear:
        return Distance(MORE, min(clear) + 1)
    nothing_searched = is_outside and any(each.kind == UNKNOWN for each in after)
    return Distance(UNKNOWN if nothing_searched else NEVER)
