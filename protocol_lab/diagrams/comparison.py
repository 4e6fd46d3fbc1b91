"""Compares two walks side by side: the steps they share, and how their states differ.

The walks are two branches of one walk, such as a learner's and a shortest one. They are shown at
the same number of steps after the last state that they have in common; the shorter one stays at its
end.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from protocol_lab.drawing.pictures import caption, fitted, picture, size_of
from protocol_lab.drawing.state_table import state_table
from protocol_lab.model.spec import Model
from protocol_lab.traces.walk import Moment, Walk

SHARED, SAME, ELSEWHERE, ONLY_HERE = "shared", "same", "elsewhere", "only here"
"""The kinds of steps: before the fork; after it taken by the other side at the same place, at
another one, or not at all."""


def compare_branches(walk: Walk, left: str, right: str, step: int, room: int) -> dict[str, Any]:
    """Two branches of a walk, at so many steps after their fork, as plain values.

    sides: each name with the state, its caption, and a picture for a room of this width. fork: the
    number of the last common state, from 1. at: the steps after it, and last: the most that show
    anything new. equal: are both states the same? steps: for each number of steps from the start,
    the text and kind of that of each side; None where one has ended. differences: the lines of the
    state table that differ, for the right state compared with the left.
    """
    model, names = walk.model, (left, right)
    paths = [walk.branches[name].path() for name in names]
    fork = _fork(*paths)
    last = max(map(len, paths)) - fork
    at = max(0, min(step, last))
    here = [path[max(0, min(fork + at, len(path)) - 1)] for path in paths]
    sides = zip(names, here, _pictures(model, here, room))
    return {
        "sides": [
            {
                "name": name,
                "depth": moment.depth,
                "caption": caption(model, moment),
                "picture": svg,
            }
            for name, moment, svg in sides
        ],
        "fork": fork,
        "at": at,
        "last": last,
        "equal": here[0].row == here[1].row,
        "steps": _aligned(*paths, fork),
        "differences": [
            asdict(line) for line in state_table(model, here[1].row, here[0].row) if line.differs
        ],
    }


def _pictures(model: Model, moments: Sequence[Moment], room: int) -> list[str]:
    """States as SVG texts, beside each other in a room of this width, or below each other if that
    is too narrow. Without marks, which would show differences from other states."""
    draws = [partial(picture, model, each.row) for each in moments]
    beside = fitted(draws, room // 2, alone=True)
    is_narrow = max(size_of(each)[0] for each in beside) > room // 2
    return fitted(draws, room, alone=True) if is_narrow else beside


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
) -> list[tuple[dict[str, str] | None, ...]]:
    # Before the fork both have the same; the first moment has no step.
    first = max(fork, 1)
    later = [Counter(_text(each) for each in side[first:]) for side in (left, right)]

    def side_step(k: int, side: int) -> dict[str, str] | None:
        mine, others = (left, right) if side == 0 else (right, left)
        if k >= len(mine):
            return None
        text = _text(mine[k])
        if k < first:
            kind = SHARED
        elif k < len(others) and _text(others[k]) == text:
            kind = SAME
        else:
            kind = ELSEWHERE if later[1 - side][text] else ONLY_HERE
        return {"text": text, "kind": kind}

    return [(side_step(k, 0), side_step(k, 1)) for k in range(1, max(len(left), len(right)))]
