"""Compares two walks side by side: the steps they share, and how their states differ.

The walks are two branches of one walk, or a learner's walk and a shortest one. They are shown at
the same number of steps after the last state that they have in common; the shorter one stays at its
end.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from protocol_lab.drawing import palette
from protocol_lab.drawing.film import film_strip, place
from protocol_lab.drawing.pictures import caption, picture
from protocol_lab.drawing.state_table import Line, state_table
from protocol_lab.drawing.svg import Svg, wrap
from protocol_lab.errors import LabError, quoted
from protocol_lab.spec.spec import Model
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

    @property
    def pictures(self) -> tuple[str, str]:
        """Both states as SVG texts, without marks, which would show differences from other
        states."""
        return picture(self.model, self.left.row), picture(self.model, self.right.row)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        sides = zip(self.names, (self.left, self.right), self.pictures)
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
            "steps": [
                [each and {"text": each.text, "kind": each.kind} for each in pair]
                for pair in self.steps
            ],
            "differences": [
                {
                    "name": line.name,
                    "value": [
                        {"text": each.text, "mark": each.mark, "was": each.was}
                        for each in line.value
                    ],
                }
                for line in self.differences
            ],
        }


def comparison(
    model: Model,
    left: Sequence[Moment],
    right: Sequence[Moment],
    step: int | None = None,
    *,
    names: tuple[str, str] = ("left", "right"),
) -> Comparison:
    """Compare two walks, each given as its moments from the start.

    step: how many steps after the fork (0 is the last common state; None: the end). Raises
    LabError if a walk has no moment, or if the states are not of this model.
    """
    if not left or not right:
        raise LabError("A comparison needs two walks, each with at least its initial state.")
    if any(len(each.row) != model.layout.size for each in (left[0], right[0])):
        raise LabError("These walks have states of different models; compare walks of one model.")
    fork = _fork(left, right)
    last = max(len(left), len(right)) - fork
    step = last if step is None else max(0, min(step, last))
    here = [side[max(0, min(fork + step, len(side)) - 1)] for side in (left, right)]
    return Comparison(
        model,
        *here,
        names,
        fork,
        step,
        last,
        _aligned(left, right, fork),
        [line for line in state_table(model, here[1].row, here[0].row) if line.differs],
    )


def compare_branches(walk: Walk, left: str, right: str, step: int | None = None) -> Comparison:
    """Compare two branches of a walk. Raises LabError for an unknown name."""
    for name in (left, right):
        if name not in walk.branches:
            known = ", ".join(walk.branches)
            raise LabError(f"There is no branch {quoted(name)}; there are {known}.")
    paths = (walk.branches[name].path() for name in (left, right))
    return comparison(walk.model, *paths, step, names=(left, right))


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


# --- As a picture ------------------------------------------------------------------------------

_SIGNS = {SHARED: "=", SAME: "=", ELSEWHERE: "↕", ONLY_HERE: "≠"}
_LEGEND = "= the same step on both sides · ↕ the other side takes it elsewhere · ≠ only here"
_WIDTH, _MARGIN, _ROW = 1000, 14, 17


def draw_comparison(compared: Comparison) -> str:
    """Both pictures and their steps side by side, and the differences, as SVG text."""
    captions = [
        f"{name}: state {moment.depth}, {_ahead(compared, moment)}"
        for name, moment in zip(compared.names, (compared.left, compared.right))
    ]
    title = f"{compared.names[0]} and {compared.names[1]}, {_ahead(compared, None)}"
    strip = film_strip(compared.pictures, captions, columns=2, width=_WIDTH, title=title)
    svg = Svg()
    y = place(svg, ElementTree.fromstring(strip), 0, 0, _WIDTH)
    y = _draw_steps(svg, compared, y)
    y = _draw_differences(svg, compared, y + _MARGIN)
    return svg.document(_WIDTH, y + _MARGIN, title, _description(compared))


def _ahead(compared: Comparison, moment: Moment | None) -> str:
    after = compared.step if moment is None else moment.depth - compared.fork
    return f"{after} step{'' if after == 1 else 's'} after the fork"


def _draw_steps(svg: Svg, compared: Comparison, y: float) -> float:
    half = (_WIDTH - 2 * _MARGIN - 40) / 2
    svg.text(_MARGIN, y + 12, _LEGEND, size=11, fill=palette.MUTED)
    y += 24
    for k, pair in enumerate(compared.steps, 2):
        texts = [
            wrap(f"{_SIGNS[each.kind]} {each.text}", half - 12, 11) if each else ["(has ended)"]
            for each in pair
        ]
        height = _ROW * max(map(len, texts))
        if k == compared.fork + compared.step:
            svg.rect(_MARGIN, y - 3, _WIDTH - 2 * _MARGIN, height, rx=4, fill=palette.HERE)
        svg.text(_MARGIN + 26, y + 10, str(k), size=11, fill=palette.MUTED, text_anchor="end")
        for side, (each, lines) in enumerate(zip(pair, texts)):
            is_common = each is None or each.kind in (SHARED, SAME)
            for n, line in enumerate(lines):
                x = _MARGIN + 40 + side * half
                fill = palette.MUTED if is_common else palette.INK
                svg.text(x, y + 10 + _ROW * n, line, size=11, fill=fill)
        y += height
    return y


def _draw_differences(svg: Svg, compared: Comparison, y: float) -> float:
    left, right = compared.names
    head = f"What differs ({left} → {right})" if compared.differences else "The states are equal."
    svg.text(_MARGIN, y + 12, head, bold=True)
    y += 24
    for line in compared.differences:
        text = f"{line.name}: {''.join(piece.spoken for piece in line.value)}"
        for part in wrap(text, _WIDTH - 2 * _MARGIN, 11):
            svg.text(_MARGIN, y + 10, part, size=11)
            y += _ROW
    return y


def _description(compared: Comparison) -> str:
    left, right = compared.names
    shared = f"The first {compared.fork} states are common."
    lines = [
        f"{each.name} {''.join(p.spoken for p in each.value)}" for each in compared.differences
    ]
    return f"{shared} {left} against {right}: {'; '.join(lines) or 'no difference'}."
