"""The lanes of a cluster: for each node its name and what it believes, its log, flags and notes."""

from dataclasses import replace

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, measures, type_size
from protocol_lab.drawing.cluster import Cluster, Entry, Flag, Lane, Text
from protocol_lab.drawing.cluster_picture.cards import draw_cards
from protocol_lab.drawing.cluster_picture.flights import (
    ON_ITS_WAY,
    Flights,
    draw_channel,
    draw_inboxes,
)
from protocol_lab.drawing.cluster_picture.grid import (
    BOX_GAP,
    MARGIN,
    NARROWEST_NOTE,
    ROOMY,
    WIDE_BOX,
    Band,
    Grid,
    badge_room,
    badge_width,
    close_part,
    draw_tag,
    draw_text,
    line_width,
    open_part,
    record_height,
    size_of,
    tag_width,
    text_room,
    words_width,
)
from protocol_lab.drawing.describe import entry_text
from protocol_lab.drawing.svg import Svg, text_width, wrap

# --- Lane heads -----------------------------------------------------------------------------------
#
# What a lane says, in rows above its log, as on a phone.


HEAD_GAP = 14

Row = list[list[Text]]
"""The lines of a lane that stand side by side."""


def heads_of(cluster: Cluster, width: float) -> list[list[Row]]:
    """For each lane the rows of what it says, with its notes."""
    return [_head(lane, width - 2 * BOX_GAP) for lane in cluster.lanes]


def _head(lane: Lane, width: float) -> list[Row]:
    """A lane's lines in rows, as many in each as there is room for. The first two leave room for
    the badge."""
    rows: list[Row] = [[]]
    end = 0.0
    for line in [*lane.lines, *([note] for note in lane.notes)]:
        said = [piece for piece in line if piece.text]
        for part in filter(None, divided(lane, said, width - badge_room())):
            own = line_width(lane, part)
            room = width - (badge_room() if len(rows) < 3 else 0)
            if rows[-1] and end + own > room:
                rows.append([])
                end = 0
            rows[-1].append(part)
            end += own + HEAD_GAP
    return rows


def divided(lane: Lane, line: list[Text], width: float) -> list[list[Text]]:
    """One of a lane's lines, or its pieces by themselves if they are too wide together."""
    if line_width(lane, line) <= width:
        return [line]
    return [[piece] for piece in line]


# --- Record boxes ---------------------------------------------------------------------------------
#
# The records of a log: a box for each that is here, or that was, with tags on its edge.


_RING = 2.4  # from the middle of its line to the box


def draw_entry(svg: Svg, grid: Grid, entry: Entry, y: float, cluster: Cluster) -> None:
    """A record at its place, or what is left of one that is gone."""
    x = grid.column(entry.offset)
    svg.open_group(entry_text(entry, cluster))
    if entry.is_here:
        _draw_record(svg, grid, entry, x, y)
    else:
        _draw_gap(svg, grid, entry, x, y, cluster.removed)
    svg.close_group()


def _draw_record(svg: Svg, grid: Grid, entry: Entry, x: float, y: float) -> None:
    border = {"stroke": palette.MUTED, "stroke_width": 1.2, "stroke_dasharray": "4 3"}
    if entry.committed:
        border = {"stroke": palette.INK, "stroke_width": 2}
    is_wrong = bool(entry.gone) and entry.mark != "changed"
    if is_wrong:
        border |= {"stroke": palette.BAD, "stroke_width": 2.4}
    svg.rect(x, y, grid.box, record_height(), rx=7, fill=palette.shade(entry.shade), **border)
    middle = x + grid.box / 2
    detail = _detail(grid, entry)
    if entry.is_ticked and not is_wrong:
        detail = f"{detail} ✓".strip()
    size = measures().label + (2 if grid.box >= ROOMY and not current().large else 0)
    if text_width(entry.label, size, bold=True) > grid.box - 6:
        size = type_size()
    centre = y + record_height() / 2
    name_at = centre - 2 if detail else centre + 5
    svg.text(middle, name_at, entry.label, size=size, bold=True, text_anchor="middle")
    svg.text(middle, centre + 13, detail, text_anchor="middle")
    if is_wrong:
        _draw_tag(svg, grid, x, y, f"{entry.word} {entry.gone}", entry.word)
    elif entry.mark:
        _draw_ring(svg, grid, x, y, is_late=entry.mark in ("committed", "known"))


def _draw_ring(svg: Svg, grid: Grid, x: float, y: float, is_late: bool) -> None:
    """Around what has changed just now. is_late: it appears once the watermark has moved."""
    if is_late:
        svg.raw('<g class="lab-late">')
    size = grid.box + 2 * _RING, record_height() + 2 * _RING
    svg.rect(x - _RING, y - _RING, *size, rx=9, fill="none", stroke=palette.CHANGED, stroke_width=3)
    if is_late:
        svg.raw("</g>")


def _draw_gap(svg: Svg, grid: Grid, entry: Entry, x: float, y: float, removed: str) -> None:
    """A record that is not here any more: a hatched box with the word for that and the record's
    text."""
    is_lost = entry.mark == "lost"
    word = f"✗ {entry.word}" if is_lost else removed if grid.box >= WIDE_BOX else "gone"
    tone, paper = (palette.BAD, palette.BAD_PAPER) if is_lost else (palette.MUTED, palette.PAPER)
    border = {"stroke_width": 2.4} if is_lost else {"stroke_width": 1.5, "stroke_dasharray": "2 3"}
    svg.rect(x, y, grid.box, record_height(), rx=7, fill=paper, stroke=tone, **border)
    if not is_lost:
        svg.hatch(x + 1, y + 1, grid.box - 2, record_height() - 2)
    middle, pitch = x + grid.box / 2, 15 if current().large else 16
    lines = [
        (word, {"bold": True, "fill": tone}),
        (f"{entry.label} {entry.short}".strip(), {"text_decoration": "line-through"}),
    ]
    for k, (text, look) in enumerate(lines):
        width = min(grid.box - 4, words_width(text, bold=not k) + 4)
        top = y + record_height() / 2 + 1 - pitch * (1 - k)
        svg.rect(middle - width / 2, top, width, pitch - 1, rx=3, fill=paper)
        svg.text(middle, top + pitch - 4, text, text_anchor="middle", **look)


def _detail(grid: Grid, entry: Entry) -> str:
    room = grid.box - 8 - (14 if entry.is_ticked else 0)
    return entry.detail if words_width(entry.detail) <= room else entry.short


def _draw_tag(svg: Svg, grid: Grid, x: float, y: float, text: str, short: str) -> None:
    """A small red label on the upper edge of a box."""
    if tag_width(text) > grid.box + BOX_GAP:
        text = short
    width = tag_width(text)
    left = x + grid.box + 3 - width if width < grid.box else x + (grid.box - width) / 2
    # Higher where the record's name is close below it.
    draw_tag(svg, left, y - (10 if current().large else 11), text, palette.BAD)


# --- Lanes ----------------------------------------------------------------------------------------


def draw_lanes(svg: Svg, grid: Grid, cluster: Cluster, flights: Flights, y: float) -> float:
    """The axis, the lanes, the line across them, the clients beside them, and the messages that
    have a place among these."""
    for offset in range(grid.columns) if cluster.axis else ():
        number = cluster.first + offset
        name = f"{cluster.axis} {number}" if offset == 0 else str(number)
        middle = grid.column(offset) + grid.box / 2
        svg.text(middle, y + 9, name, fill=palette.MUTED, text_anchor="middle")
    if any(flights.here):
        svg.text(grid.inbox + 6, y + 9, ON_ITS_WAY, fill=palette.MUTED)
    axis = 15 if current().dense else 17
    top = y + (axis if cluster.axis or cluster.cards else 0)
    bands = []
    bottom = top - measures().gap
    for height, records in zip(grid.lane_heights, grid.record_tops):
        begin = bottom + measures().gap
        bands.append(Band(begin, height, begin + records, grid.head))
        bottom = bands[-1].bottom
    for lane, band in zip(cluster.lanes, bands):
        _draw_lane_paper(svg, grid, lane, band)  # below all that moves between lanes
    heads = heads_of(cluster, grid.right - grid.left) if grid.head else [[] for _ in bands]
    for lane, band, head in zip(cluster.lanes, bands, heads):
        _draw_lane(svg, grid, cluster, lane, band, head)
    draw_inboxes(svg, cluster, flights.here, bands, grid)
    end = top if current().below else draw_cards(svg, grid, cluster, top, bottom)
    draw_channel(svg, cluster, flights.left, bands, (MARGIN + cluster.card_width, grid.left))
    draw_channel(svg, cluster, flights.right, bands, (grid.cards, grid.right))
    if cluster.line:
        x = grid.boundary(cluster.line.offset)
        open_part(svg, "line", kind="mark")
        parts = (
            [(each.log, each.bottom) for each in bands] if grid.head else [(top - 4, bottom + 8)]
        )
        for first, last in parts:
            svg.line(x, first, x, last, stroke=palette.INK, stroke_width=2.2)
        label = replace(cluster.line.label, was=None)  # the line itself moves
        width = text_room(label, type_size())
        most = grid.width - MARGIN if end <= bottom + measures().gap else grid.right
        left = x + 5 if x + 5 + width <= most else max(grid.left, x - 5 - width)
        draw_text(svg, left, bottom + 15, label, type_size())
        close_part(svg)
    return max(
        bottom + (20 if cluster.line else 6 if current().large else 10),
        end + (5 if current().dense else 10),
    )


def _draw_lane_paper(svg: Svg, grid: Grid, lane: Lane, band: Band) -> None:
    outline = {"stroke": palette.LINE, "stroke_width": 1}
    if lane.badge == "crown":
        outline = {"stroke": palette.ACCENT, "stroke_width": 1.8}
    if lane.badge == "ghost":
        outline = {"stroke": palette.MUTED, "stroke_width": 1.4, "stroke_dasharray": "6 4"}
    fill = palette.PANEL if lane.badge == "dead" else palette.PAPER
    width = grid.right - grid.left
    svg.rect(grid.left, band.top, width, band.height, rx=10, fill=fill, **outline)


def _draw_lane(
    svg: Svg, grid: Grid, cluster: Cluster, lane: Lane, band: Band, head: list["Row"]
) -> None:
    y = band.log
    if lane.badge:
        x, middle = (grid.right - 38, band.top + 14) if grid.head else (grid.left + 5, band.middle)
        if badge_width(lane):
            x, middle = grid.words, _first_line(lane, band) - 5
        name = lane.badge if lane.badge == "crown" else f"{lane.name} {lane.badge}"
        open_part(svg, name, kind="badge")
        _draw_badge(svg, lane.badge, x, middle)
        close_part(svg)
    if grid.head:
        _draw_head(svg, grid, lane, head, band.top + 16)
    else:
        _draw_lines(svg, grid, lane, band)
    for offset in range(grid.columns + 1):
        x = grid.boundary(offset)
        svg.line(x, y + 1, x, band.bottom - 1, stroke=palette.GRID)
    if lane.removed:
        cluster = replace(cluster, removed=lane.removed)
    for entry in lane.entries:
        kind = "record" if entry.is_here else "gap"
        same = f"{entry.offset} {entry.label} {entry.detail}"
        open_part(svg, f"{lane.name} {entry.offset}", kind=kind, same=same, lane=lane.name)
        draw_entry(svg, grid, entry, band.records, cluster)
        close_part(svg)
    used = max([entry.offset + 1 for entry in lane.entries], default=0)
    if not lane.entries and lane.empty:
        middle = band.records + record_height() / 2
        svg.text(grid.logs + 4, middle + 4, lane.empty, fill=palette.MUTED)
        used = 1
    for k, flag in enumerate(lane.flags):
        open_part(svg, f"{lane.name} flag {k}", kind="mark")
        _draw_flag(svg, grid, flag, band)
        close_part(svg)
    if not grid.head:
        _draw_notes(svg, grid, lane, grid.column(used) + 6, band.records)


def _draw_lines(svg: Svg, grid: Grid, lane: Lane, band: Band) -> None:
    """What a lane says, beside its log."""
    first = _first_line(lane, band)
    for k, pieces in enumerate(lane.lines):
        x: float = grid.words + (0 if k else badge_width(lane))
        for piece in (each for each in pieces if each.text):
            x = draw_text(svg, x, first + k * measures().line, piece, size_of(lane, piece)) + 8


def _first_line(lane: Lane, band: Band) -> float:
    return band.middle - measures().line * len(lane.lines) / 2 + 13


def _draw_head(svg: Svg, grid: Grid, lane: Lane, rows: list[Row], y: float) -> None:
    for row in rows:
        x: float = grid.words
        for pieces in row:
            for piece in pieces:
                x = draw_text(svg, x, y, piece, size_of(lane, piece)) + 8
            x += HEAD_GAP - 8
        y += measures().line


def _draw_notes(svg: Svg, grid: Grid, lane: Lane, x: float, y: float) -> None:
    """Beside the records, if there is room."""
    room = grid.inbox - x - 8
    if room < NARROWEST_NOTE:
        return
    lines = [
        (line, note.tone) for note in lane.notes for line in wrap(note.text, room, type_size())
    ]
    first = y + record_height() / 2 + 4 - 7.5 * (len(lines) - 1)
    for k, (line, tone) in enumerate(lines):
        svg.text(x, first + 15 * k, line, fill=palette.TONES[tone])


def _draw_badge(svg: Svg, badge: str, x: float, y: float) -> None:
    crown = f"M{x} {y + 9}l3 -14 6.5 7.5 5.5 -11.5 5.5 11.5 6.5 -7.5 3 14z"
    if badge == "crown":
        svg.path(crown, fill=palette.ACCENT)
    elif badge == "ghost":
        line = {"stroke": palette.MUTED, "stroke_width": 1.6, "stroke_linejoin": "round"}
        svg.path(crown, fill="none", **line)
    elif badge == "dead":
        line = {"stroke": palette.MUTED, "stroke_width": 3.5, "stroke_linecap": "round"}
        svg.path(f"M{x + 6} {y - 9}l18 18m0 -18l-18 18", **line)


def _draw_flag(svg: Svg, grid: Grid, flag: Flag, band: Band) -> None:
    x, foot = grid.boundary(flag.offset), band.bottom - 4
    svg.line(x, band.log + 6, x, foot, stroke=palette.INK, stroke_width=2.2)
    draw_text(svg, x + 4, foot - 2, flag.label, type_size())
