"""Invariants over time: one row for each invariant, one cell for each state of the walk."""

from collections.abc import Collection
from dataclasses import dataclass

from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, wrap
from protocol_lab.explain.wording import spec_title, words
from protocol_lab.traces.scenarios import split_caption
from protocol_lab.traces.walk import Moment, Standing, Walk

MOST_STATES = 40
WIDTH, MARGIN, NAMES = 760, 12, 250
HIGH, HEAD, LINE = 22, 24, 16
SIZE = 13
SIGNS = {"holds": "✓", "fails": "✗", "none": "–"}
LEGEND = "✓ holds · ✗ fails · – not applicable: it compares a state with the one before"


@dataclass(frozen=True)
class Track:
    """One invariant along a branch: `reasons` has a text for each state.

    "" where it holds, the reason where it fails, None where it does not apply.
    """

    name: str
    reasons: list[str | None]

    @property
    def first_failure(self) -> int | None:
        """The number of the first state that breaks it, from 1."""
        return next((k for k, reason in enumerate(self.reasons, 1) if reason), None)


def tracks(walk: Walk, watched: Collection[str] | None = None) -> list[Track]:
    """The invariants of these names (None: the default ones) in every state of the branch."""
    standings = [{each.name: each for each in walk.standings(moment)} for moment in walk.path]
    model = walk.model
    return [
        Track(each.name, [_reason(found.get(each.name)) for found in standings])
        for each in model.spec.invariants + model.spec.step_invariants
        if (each.by_default if watched is None else each.name in watched)
    ]


def _reason(standing: Standing | None) -> str | None:
    return None if standing is None else standing.reason


def invariants_strip(walk: Walk, watched: Collection[str] | None = None) -> str:
    """The whole branch, states ahead included, as SVG text; of a long one the part around the
    current state.

    Each column is a group of the class "lab-moment" with `data-depth`, the number of its state; the
    names of the invariants are a part that can be kept in view.
    """
    rows = tracks(walk, watched)
    path = walk.path
    first = max(0, min(walk.moment.depth - MOST_STATES // 2, len(path) - MOST_STATES))
    shown = range(first, min(first + MOST_STATES, len(path)))
    cell = min(30.0, (WIDTH - NAMES - MARGIN) / len(shown))
    svg = Svg(SIZE)
    top = MARGIN + HEAD + 14
    labels = [_label(row) for row in rows]
    heights = [max(HIGH, LINE * len(lines)) + 8 for lines in labels]
    tops = [top + sum(heights[:k]) for k in range(len(heights))]
    bottom = top + sum(heights)
    for k in shown:
        x = NAMES + (k - first) * cell
        _draw_column(svg, walk, path[k], [(row, y) for row, y in zip(rows, tops)], x, cell)
    here = NAMES + (walk.moment.depth - 1 - first) * cell
    svg.rect(
        here,
        MARGIN,
        cell,
        bottom - MARGIN,
        rx=4,
        fill="none",
        stroke=palette.ACCENT,
        stroke_width=2,
    )
    has_slides = _draw_head(svg, path, shown, cell)
    svg.open_part("names")
    svg.rect(0, 0, NAMES - 2, bottom, fill=palette.PAPER)  # over columns that are scrolled below it
    svg.text(MARGIN, MARGIN + 12, "state", fill=palette.MUTED)
    if has_slides:
        svg.text(MARGIN, MARGIN + 27, "slide", fill=palette.MUTED)
    for lines, y in zip(labels, tops):
        for k, (line, fill) in enumerate(lines):
            svg.text(MARGIN, y + 14 + LINE * k, line, bold=fill == palette.INK, fill=fill)
    svg.close_group()
    y = bottom + 18
    for line in _foot(walk, rows, shown):
        svg.text(MARGIN, y, line, fill=palette.MUTED)
        y += 17
    title = f"{spec_title(walk.model.spec.name)}: invariants over time"
    return svg.document(WIDTH, y, title, _description(walk, rows))


def _label(row: Track) -> list[tuple[str, str]]:
    """The invariant's name, and where it fails first, in lines with their colours."""
    room = NAMES - MARGIN - 10
    lines = [(line, palette.INK) for line in wrap(words(row.name), room, SIZE, bold=True)]
    if row.first_failure:
        text = f"✗ first fails in state {row.first_failure}"
        lines += [(line, palette.BAD) for line in wrap(text, room, SIZE)]
    return lines


def _draw_column(
    svg: Svg, walk: Walk, moment: Moment, rows: list[tuple[Track, float]], x: float, cell: float
) -> None:
    step = moment.step.text if moment.step else "the initial state"
    reasons = [row.reasons[moment.depth - 1] for row, _ in rows]
    tooltip = [f"state {moment.depth}: {step}", *(f"✗ {reason}" for reason in reasons if reason)]
    svg.open_group("\n".join(tooltip), **{"class": "lab-moment", "data_depth": moment.depth})
    svg.rect(x, MARGIN, cell, rows[-1][1] + HIGH - MARGIN if rows else HEAD, fill="transparent")
    for (row, y), reason in zip(rows, reasons):
        kind = "none" if reason is None else "fails" if reason else "holds"
        _draw_cell(svg, kind, x, y, cell, row.first_failure == moment.depth)
    svg.close_group()


def _draw_cell(svg: Svg, kind: str, x: float, y: float, cell: float, is_first: bool) -> None:
    """A flat bar with a tick, a full square with a cross, or a dash, which differ even without
    colours."""
    gap = min(1.5, cell / 10)
    middle = y + HIGH / 2
    if kind == "fails":
        svg.rect(x + gap, y, cell - 2 * gap, HIGH, rx=2, fill=palette.BAD)
    elif kind == "holds":
        svg.rect(x + gap, y + 4, cell - 2 * gap, HIGH - 8, rx=3, fill=palette.PANEL)
    size = min(13.0, cell * 0.85)
    fill = {"fails": palette.PAPER, "holds": palette.GOOD, "none": palette.MUTED}[kind]
    svg.text(
        x + cell / 2,
        middle + size * 0.36,
        SIGNS[kind],
        size=size,
        bold=is_first,
        fill=fill,
        text_anchor="middle",
    )


def _draw_head(svg: Svg, path: list[Moment], shown: range, cell: float) -> bool:
    """Above the cells the numbers of the states, where there is room, and the slides. Returns
    whether there are any slides."""
    every = next(step for step in (1, 2, 5, 10) if cell * step >= 20 or step == 10)
    slides = [split_caption(path[k].caption)[0] for k in shown]
    free, last = 0.0, ""
    for k, slide in zip(shown, slides):
        middle = NAMES + (k - shown.start + 0.5) * cell
        if (k + 1) % every == 0 or k == 0:
            svg.text(middle, MARGIN + 12, str(k + 1), fill=palette.MUTED, text_anchor="middle")
        width = 8.5 * len(slide)
        if slide and slide != last and middle - width / 2 >= free:
            svg.text(middle, MARGIN + 27, slide, fill=palette.ACCENT, text_anchor="middle")
            free = middle + width / 2
        last = slide or last
    return any(slides)


def _foot(walk: Walk, rows: list[Track], shown: range) -> list[str]:
    lines = [] if rows else ["No invariant is watched."]
    if len(shown) < len(walk.path):
        lines.append(f"states {shown.start + 1} to {shown.stop} of {len(walk.path)}")
    return [*lines, LEGEND]


def _description(walk: Walk, rows: list[Track]) -> str:
    return " ".join(
        f"{words(row.name)} "
        + (
            f"first fails in state {row.first_failure}: {row.reasons[row.first_failure - 1]}."
            if row.first_failure
            else f"holds in all {len(walk.path)} states."
        )
        for row in rows
    )
