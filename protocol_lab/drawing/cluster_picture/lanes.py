"""The lanes of a cluster: for each node its name and what it believes, its log, flags and notes."""

from dataclasses import replace

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, measures, type_size
from protocol_lab.drawing.cluster import Cluster, Flag, Lane
from protocol_lab.drawing.cluster_picture.client_cards import draw_cards
from protocol_lab.drawing.cluster_picture.flights import (
    ON_ITS_WAY,
    Flights,
    draw_channel,
    draw_inboxes,
)
from protocol_lab.drawing.cluster_picture.grid import (
    MARGIN,
    NARROWEST_NOTE,
    Band,
    Grid,
    record_height,
)
from protocol_lab.drawing.cluster_picture.lane_heads import HEAD_GAP, Row, heads_of
from protocol_lab.drawing.cluster_picture.picture_text import (
    badge_width,
    close_part,
    draw_text,
    open_part,
    size_of,
    text_room,
)
from protocol_lab.drawing.cluster_picture.record_boxes import draw_entry
from protocol_lab.drawing.svg import Svg, wrap


def draw_lanes(svg: Svg, grid: Grid, cluster: Cluster, flights: Flights, y: float) -> float:
    """The axis, the lanes, the line across them, the clients beside them, and the messages that
    have a place among these."""
    for offset in range(grid.columns) if cluster.axis else ():
        number = cluster.first + offset
        name = f"{cluster.axis} {number}" if offset == 0 else str(number)
        middle = grid.column(offset) + grid.box / 2
        svg.text(middle, y + 9, name, size=type_size(), fill=palette.MUTED, text_anchor="middle")
    if any(flights.here):
        svg.text(grid.inbox + 6, y + 9, ON_ITS_WAY, size=type_size(), fill=palette.MUTED)
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
        most = (grid.aside or grid.width) - MARGIN if end <= bottom + measures().gap else grid.right
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
        svg.text(grid.logs + 4, middle + 4, lane.empty, size=type_size(), fill=palette.MUTED)
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
        svg.text(x, first + 15 * k, line, size=type_size(), fill=palette.TONES[tone])


def _draw_badge(svg: Svg, badge: str, x: float, y: float) -> None:
    crown = f"M{x} {y + 9}l3 -14 6.5 7.5 5.5 -11.5 5.5 11.5 6.5 -7.5 3 14z"
    if badge == "crown":
        svg.path(crown, fill=palette.ACCENT)
    elif badge == "ghost":
        svg.path(
            crown, fill="none", stroke=palette.MUTED, stroke_width=1.6, stroke_linejoin="round"
        )
    elif badge == "dead":
        svg.path(
            f"M{x + 6} {y - 9}l18 18m0 -18l-18 18",
            stroke=palette.MUTED,
            stroke_width=3.5,
            stroke_linecap="round",
        )


def _draw_flag(svg: Svg, grid: Grid, flag: Flag, band: Band) -> None:
    x, foot = grid.boundary(flag.offset), band.bottom - 4
    svg.line(x, band.log + 6, x, foot, stroke=palette.INK, stroke_width=2.2)
    draw_text(svg, x + 4, foot - 2, flag.label, type_size())
