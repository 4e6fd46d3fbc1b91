"""The sequence diagram of a walk: messages between participants, and local events.

Time runs downwards, with a row for each step; a message is a line from its sending to its arrival,
which slants if that took several steps. The events come from `traces.events`.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, text_width, wrap
from protocol_lab.explain.wording import spec_title, words
from protocol_lab.traces.events import (
    AT_ONCE,
    CRASH,
    DELIVERED,
    EVERYBODY,
    LOST,
    RESTART,
    SENT,
    Arrow,
    Event,
    Note,
    events,
    lifelines,
)
from protocol_lab.traces.walk import Moment, Walk

MOST_ROWS = 30
WIDTH, MARGIN = 700, 12
STEPS = 212  # the column of the steps' names
NARROWEST = 96  # between two lifelines
LINE, EVENT, HEAD = 16, 29, 34
SMALL = 13
LEGEND = "● sent · ▶ arrives · ✗ lost · ○ still under way · dashed lifeline: crashed"


@dataclass
class _Origin:
    """Where a message was sent: its place, and whether its end is known."""

    arrow: Arrow
    row: int
    y: float
    is_done: bool = False


@dataclass(frozen=True)
class _Line:
    """The line of a message, as far as it has come; `end` is an event's kind or "under way"."""

    arrow: Arrow
    start: float
    stop: float
    end: str
    rows: int


@dataclass
class _Row:
    """One step with its events, each with its height in the picture."""

    moment: Moment
    told: list[Event]
    top: float = 0
    height: float = 0
    name: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def places(self) -> Iterator[tuple[Event, float]]:
        """Each event with the height of its line."""
        y = self.top + 21
        for each in self.told:
            yield each, y
            y += _height(each)

    @property
    def height_of_events(self) -> float:
        return sum(map(_height, self.told)) + 8


def _height(event: Event) -> float:
    """The height that an event needs; an arrival has its label below the arrow."""
    return EVENT + (8 if isinstance(event, Arrow) and event.kind == DELIVERED else 0)


def sequence_diagram(
    walk: Walk,
    watched: Collection[str] | None = None,
    *,
    named: bool = False,
) -> str:
    """The steps up to the current one as SVG text; of long walks the last MOST_ROWS.

    watched: the invariants whose first violation is marked (None: the default ones). Each row is a
    group with `data-depth`, the state that its step led to, and the class "lab-moment". named: each
    head of a lifeline is a part with the name "head", which a page keeps in view. Raises LabError
    if the spec's own `events` fails.
    """
    return _Diagram(walk, watched, named).draw()


class _Diagram:
    def __init__(self, walk: Walk, watched: Collection[str] | None, named: bool):
        self.walk = walk
        self.named = named
        moments = walk.moment.path()[1:]
        self.rows = [
            _Row(each, events(walk.model, each.previous.row, each.step, each.row))
            for each in moments
        ]
        names = lifelines(walk.model, [event for row in self.rows for event in row.told])
        self.hidden = max(0, len(self.rows) - MOST_ROWS)
        room = WIDTH - MARGIN - STEPS - MARGIN
        pitch = max(NARROWEST, room / len(names))
        self.width = round(MARGIN + STEPS + pitch * len(names) + MARGIN)
        self.x = {name: MARGIN + STEPS + pitch * (k + 0.5) for k, name in enumerate(names)}
        self.pitch = pitch
        self.top = MARGIN + HEAD + 8 + (20 if self.hidden else 0)
        self._mark_broken(watched)
        self.bottom = self._place_rows()

    def _mark_broken(self, watched: Collection[str] | None) -> None:
        """Note at each row which watched invariants it breaks that held before."""
        known: set[str] = set()
        for row in self.rows[self.hidden :]:
            standings = self.walk.standings(row.moment)
            broken = [
                each.name
                for each in standings
                if not each.holds and (each.by_default if watched is None else each.name in watched)
            ]
            row.broken = [name for name in broken if name not in known]
            known = set(broken)

    def _place_rows(self) -> float:
        y = self.top
        for row in self.rows[: self.hidden]:
            row.top = y - 40  # messages that were sent there come in from above
        for row in self.rows[self.hidden :]:
            row.name = wrap(words(row.moment.step.action), STEPS - 50, SMALL)
            row.broken = [
                line for name in row.broken for line in wrap(f"✗ {words(name)}", STEPS - 50, SMALL)
            ]
            lines = len(row.name) + len(row.broken)
            row.top, row.height = y, max(LINE * lines + 12, row.height_of_events)
            y += row.height
        return y

    def draw(self) -> str:
        svg = Svg(SMALL)
        lines = list(self._lines())
        self._draw_bands(svg)
        self._draw_lifelines(svg)
        for line in lines:
            self._draw_line(svg, line)
        for row in self.rows[self.hidden :]:
            self._draw_step(svg, row)
            for event, y in row.places():
                if isinstance(event, Note):
                    self._draw_note(svg, event, y)
        for line in lines:
            self._draw_marks(svg, line)
        y = self._draw_foot(svg)
        title = f"{spec_title(self.walk.model.spec.name)}: sequence diagram so far"
        return svg.document(self.width, y, title, self._description())

    # --- What became of each message ---------------------------------------------------------

    def _lines(self) -> Iterator[_Line]:
        """The visible line of every message; a message that is kept may arrive several times."""
        sent: dict[Any, list[_Origin]] = {}
        for k, row in enumerate(self.rows):
            for event, y in row.places():
                if not isinstance(event, Arrow):
                    continue
                if event.kind == SENT:
                    sent.setdefault(event.identity, []).append(_Origin(event, k, y))
                    continue
                origin = None if event.kind == AT_ONCE else _origin(sent, event)
                if k >= self.hidden:
                    start = origin.y if origin else y
                    yield _Line(event, start, y, event.kind, k - origin.row if origin else 0)
        for origin in (each for origins in sent.values() for each in origins):
            end = "under way" if not origin.is_done and origin.arrow.dest != EVERYBODY else SENT
            if end == "under way" or origin.row >= self.hidden:
                stop = self.bottom + 6 if end == "under way" else origin.y
                yield _Line(origin.arrow, origin.y, stop, end, len(self.rows) - origin.row)
                if end == "under way" and origin.row >= self.hidden:
                    yield _Line(origin.arrow, origin.y, origin.y, SENT, 0)

    # --- Drawing -----------------------------------------------------------------------------

    def _draw_bands(self, svg: Svg) -> None:
        for k, row in enumerate(self.rows[self.hidden :]):
            if row.moment is self.walk.moment:
                svg.rect(4, row.top, self.width - 8, row.height, rx=5, fill=palette.HERE)
            elif k:
                svg.line(MARGIN, row.top, self.width - MARGIN, row.top, stroke=palette.GRID)

    def _draw_lifelines(self, svg: Svg) -> None:
        for name, x in self.x.items():
            lines = wrap(name, self.pitch - 12, SMALL, bold=True)
            if self.named:
                svg.open_part("head")
            left, width = x - self.pitch / 2 + 5, self.pitch - 10
            svg.rect(left, MARGIN, width, HEAD, rx=5, fill=palette.PANEL, stroke=palette.LINE)
            first = MARGIN + HEAD / 2 + 4 - 7 * (len(lines) - 1)
            for k, line in enumerate(lines):
                svg.text(x, first + 14 * k, line, bold=True, text_anchor="middle")
            if self.named:
                svg.close_group()
            start, is_down = MARGIN + HEAD, False
            for kind, y in [*self._failures(name), ("", self.bottom + 8)]:
                y = max(y, self.top)
                dashes = {"stroke_dasharray": "2 5"} if is_down else {}
                svg.line(x, start, x, y, stroke=palette.MUTED, stroke_width=1.2, **dashes)
                start, is_down = y, kind == CRASH

    def _failures(self, name: str) -> Iterator[tuple[str, float]]:
        for row in self.rows:
            for event, y in row.places():
                if isinstance(event, Note) and event.at == name and event.kind in (CRASH, RESTART):
                    yield event.kind, y

    def _draw_step(self, svg: Svg, row: _Row) -> None:
        moment = row.moment
        svg.open_group(
            f"state {moment.depth}: {moment.step.text}",
            **{"class": "lab-moment", "data_depth": moment.depth},
        )
        svg.rect(4, row.top, STEPS - 8, row.height, fill="transparent")
        is_here = moment is self.walk.moment
        number = f"▶ {moment.depth}" if is_here else str(moment.depth)
        tone, y = palette.ACCENT if is_here else palette.MUTED, row.top + 19
        svg.text(MARGIN + 30, y, number, bold=is_here, fill=tone, text_anchor="end")
        for k, line in enumerate([*row.name, *row.broken]):
            broken = k >= len(row.name)
            tone = palette.BAD if broken else palette.INK
            svg.text(MARGIN + 38, y + LINE * k, line, bold=broken, fill=tone)
        svg.close_group()

    def _draw_note(self, svg: Svg, note: Note, y: float) -> None:
        mark, is_crash = {CRASH: "✗ ", RESTART: "↻ "}.get(note.kind, ""), note.kind == CRASH
        text = mark + note.text
        width = text_width(text, SMALL, bold=is_crash) + 12
        middle = self._middle() if note.at == EVERYBODY else self.x[note.at]
        left = self._clamped(middle - width / 2, width)
        tone = {CRASH: palette.BAD, RESTART: palette.GOOD}.get(note.kind, palette.MUTED)
        svg.rect(left, y - 11, width, 21, rx=10, fill=palette.PANEL, stroke=tone)
        ink, middle = tone if is_crash else palette.INK, left + width / 2
        svg.text(middle, y + 4, text, bold=is_crash, fill=ink, text_anchor="middle")

    def _draw_line(self, svg: Svg, line: _Line) -> None:
        if line.end == SENT:
            return
        (x1, y1), (x2, y2) = self._ends(line)
        clipped = max(y1, self.top - 4)
        if clipped > y1 and y2 > y1:
            x1 += (x2 - x1) * (clipped - y1) / (y2 - y1)
        look = {
            LOST: {"stroke": palette.BAD, "stroke_dasharray": "6 4"},
            "under way": {"stroke": palette.MUTED, "stroke_dasharray": "2 4"},
        }.get(line.end, {"stroke": palette.ACCENT})
        svg.line(x1, clipped, x2, y2, stroke_width=1.5, **look)

    def _ends(self, line: _Line) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where a message's line begins and ends; for a lost one, or one under way, it ends before
        the receiver."""
        x1, x2 = self.x[line.arrow.source], self.x[line.arrow.dest]
        part = {LOST: 0.6, "under way": 0.5}.get(line.end, 1.0)
        return (x1, line.start), (x1 + part * (x2 - x1), line.stop)

    def _draw_marks(self, svg: Svg, line: _Line) -> None:
        """The mark at the end of a line, and the message's label."""
        arrow, y = line.arrow, line.stop
        if line.end == SENT:
            x = self.x[arrow.source]
            svg.circle(x, y, 3.5, fill=palette.ACCENT)
            towards = self.x.get(arrow.dest, self._middle())
            self._label(svg, arrow.label, x, towards, y)
            return
        (x1, y1), (x2, _) = self._ends(line)
        if line.end == "under way":
            svg.circle(x2, y, 4, fill=palette.PAPER, stroke=palette.MUTED, stroke_width=1.5)
            return
        if line.end == LOST:
            cross = f"M{x2 - 5:g} {y - 5:g}l10 10m0 -10l-10 10"
            svg.path(cross, stroke=palette.BAD, stroke_width=2.4, fill="none")
            if line.start == line.stop:
                svg.circle(x1, y, 3.5, fill=palette.BAD)
            words_there = "lost" if line.rows in range(1, 3) else f"lost: {arrow.label}"
            self._label(svg, words_there, x2, x2 + (x2 - x1), y, fill=palette.BAD, bold=True)
            return
        _arrowhead(svg, x1, y1, x2, y)
        if line.end == AT_ONCE:
            self._text(svg, arrow.label, (x1 + x2) / 2, y - 5, "middle")
        elif line.rows not in range(1, 3):
            # Its sending is far away, or not visible. A slanting line comes from above.
            below = y + 18 if line.start < y else y
            self._label(svg, arrow.label, x2, x1, below, fill=palette.MUTED)

    def _label(self, svg: Svg, text: str, x: float, towards: float, y: float, **style: Any) -> None:
        """A label beside a place, on the side of its line."""
        anchor, shift = ("start", 9) if towards >= x else ("end", -9)
        self._text(svg, text, x + shift, y - 5, anchor, **style)

    def _text(
        self, svg: Svg, text: str, x: float, y: float, anchor: str, *, bold: bool = False, **style
    ) -> None:
        """A text on a strip of paper, over the lines that pass there, kept inside the picture."""
        width = text_width(text, SMALL, bold)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
        shift = self._clamped(left, width) - left
        paper = palette.HERE if self.rows and y > self.rows[-1].top else palette.PAPER
        svg.rect(left + shift - 2, y - SMALL + 1, width + 4, SMALL + 3, fill=paper)
        svg.text(x + shift, y, text, bold=bold, text_anchor=anchor, **style)

    def _clamped(self, left: float, width: float) -> float:
        return max(MARGIN + STEPS - 8, min(left, self.width - 6 - width))

    def _middle(self) -> float:
        return sum(self.x.values()) / len(self.x)

    def _draw_foot(self, svg: Svg) -> float:
        y = self.bottom + 30
        if self.hidden:
            # The first one shown leads to state hidden + 2.
            above = f"states 1 to {self.hidden + 1} are above, not shown"
            svg.text(MARGIN, MARGIN + HEAD + 18, above, fill=palette.MUTED)
        ahead = len(self.walk.path) - self.walk.moment.depth
        lines = ["Nothing has happened yet."] if not self.rows else []
        if ahead > 0:
            lines.append(f"{ahead} more step{'s' if ahead > 1 else ''} ahead on this branch.")
        for text in [*lines, LEGEND]:
            svg.text(MARGIN, y, text, fill=palette.MUTED)
            y += 16
        return y

    def _description(self) -> str:
        """The diagram as sentences, for screen readers."""
        parts = []
        for row in self.rows[self.hidden :]:
            told = ", ".join(_spoken(event) for event in row.told)
            parts.append(f"{row.moment.depth}. {words(row.moment.step.action)}: {told}.")
        return " ".join(parts) or "Nothing has happened yet."


def _origin(sent: dict[Any, list[_Origin]], arrow: Arrow) -> _Origin | None:
    """The sending that this arrival or loss belongs to: the first equal one whose end is not known
    yet."""
    origins = sent.get(arrow.identity, [])
    for each in origins:
        if not each.is_done:
            each.is_done = True
            return each
    return origins[-1] if origins else None


def _spoken(event: Event) -> str:
    if isinstance(event, Note):
        return f"{event.at} {event.text}".strip()
    verb = {SENT: "is sent", DELIVERED: "arrives", LOST: "is lost", AT_ONCE: "goes"}[event.kind]
    to = f" to {event.dest}" if event.dest != EVERYBODY else ""
    return f"{event.label} {verb} from {event.source}{to}"


def _arrowhead(svg: Svg, x1: float, y1: float, x2: float, y2: float) -> None:
    """A filled head at the end of a line, in the line's direction."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    back = (x2 - 9 * ux, y2 - 9 * uy)
    sides = [(back[0] - 4 * uy, back[1] + 4 * ux), (back[0] + 4 * uy, back[1] - 4 * ux)]
    points = "L".join(f"{x:.1f} {y:.1f}" for x, y in [(x2, y2), *sides])
    svg.path(f"M{points}z", fill=palette.ACCENT)
