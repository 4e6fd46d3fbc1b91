"""Compares two walks side by side: the steps they share, and how their states differ.

The walks are two branches of one walk, such as a learner's and a shortest one. They are shown at
the same number of steps after the last state that they have in common; the shorter one stays at its
end.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from protocol_lab.drawing.pictures import caption, fitted, picture, size_of
from protocol_lab.drawing.state_table import Line, state_table
from protocol_lab.errors import LabError, quoted
from protocol_lab.model.spec import Model
from protocol_lab.traces.walk import Moment, Walk

SHARED, SAME, ELSEWHERE, ONLY_HERE = "shared", "same", "elsewhere", "only here"


@dataclass(frozen=True)
class SideStep:
    """One step of one side. kind: "shared" before the fork; after it "same" if the other side
    takes the same step at the same place, "elsewhere" if at another one, or "only here"."""

    text: str
    kind: str


@dataclass(frozen=True)
class Comparison:
    """Two walks at `step` steps after their fork.

    left, right: the moments shown. fork: the number of the last common state, from 1. steps: for
    each number of steps from the start, those of the left and the right side; None where one has
    ended. differences: the lines of the state table that differ, for the right state compared with
    the left. last: the largest `step` that shows anything new.
    """

    model: Model
    left: Moment
    right: Moment
    names: tuple[str, str]
    fork: int
    step: int
    last: int
    steps: list[tuple[SideStep | None, SideStep | None]]
    differences: list[Line]

    def pictures(self, room: int) -> list[str]:
        """Both states as SVG texts, beside each other in a room of this width, or below each other
        if that is too narrow. Without marks, which would show differences from other states."""
        draws = [partial(picture, self.model, each.row) for each in (self.left, self.right)]
        beside = fitted(draws, room // 2, alone=True)
        is_narrow = max(size_of(each)[0] for each in beside) > room // 2
        return fitted(draws, room, alone=True) if is_narrow else beside

    def to_json(self, room: int) -> dict[str, Any]:
        """All of it as plain values."""
        sides = zip(self.names, (self.left, self.right), self.pictures(room))
        return {
            "sides": [
                {
                    "name": name,
                    "depth": moment.depth,
                    "caption": caption(self.model, moment),
                    "picture": svg,
                }
                for name, moment, svg in sides
            ],
            "fork": self.fork,
            "step": self.step,
            "last": self.last,
            "equal": self.left.row == self.right.row,
            "steps": [[each and asdict(each) for each in pair] for pair in self.steps],
            "differences": [asdict(each) for each in self.differences],
        }


def compare_branches(walk: Walk, left: str, right: str, step: int | None = None) -> Comparison:
    """Compare two branches of a walk.

    step: how many steps after the fork (0 is the last common state; None: the end). Raises LabError
    for an unknown name.
    """
    for name in (left, right):
        if name not in walk.branches:
            known = ", ".join(walk.branches)
            raise LabError(f"There is no branch {quoted(name)}; there are {known}.")
    sides = [walk.branches[name].path() for name in (left, right)]
    fork = _fork(*sides)
    last = max(map(len, sides)) - fork
    step = last if step is None else max(0, min(step, last))
    here = [side[max(0, min(fork + step, len(side)) - 1)] for side in sides]
    lines = state_table(walk.model, here[1].row, here[0].row)
    differences = [line for line in lines if line.differs]
    steps = _aligned(*sides, fork)
    return Comparison(walk.model, *here, (left, right), fork, step, last, steps, differences)


def _fork(left: Sequence[Moment], right: Sequence[Moment]) -> int:
    """How many states from the start on are the same, by the same steps; 0 if not even the first.

    A state that is reached by different steps does not count as common, since a learner sees
    different paths.
    """
    count = 0
    for one, other in zip(left, right):
        if one.row != other.row or _text(one) != _text(other):
            break
        count += 1
    return count


def _text(moment: Moment) -> str:
    return moment.step.text if moment.step else ""


def _aligned(
    left: Sequence[Moment], right: Sequence[Moment], fork: int
) -> list[tuple[SideStep | None, SideStep | None]]:
    # Before the fork both have the same; the first moment has no step.
    first = max(fork, 1)
    later = [Counter(_text(each) for each in side[first:]) for side in (left, right)]

    def side_step(k: int, side: int) -> SideStep | None:
        mine, others = (left, right) if side == 0 else (right, left)
        if k >= len(mine):
            return None
        text = _text(mine[k])
        if k < first:
            return SideStep(text, SHARED)
        if k < len(others) and _text(others[k]) == text:
            return SideStep(text, SAME)
        return SideStep(text, ELSEWHERE if later[1 - side][text] else ONLY_HERE)

    return [(side_step(k, 0), side_step(k, 1)) for k in range(1, max(len(left), len(right)))]
