"""Places everything in a `Cluster`, and draws it as SVG.

From the top: title, information bars, the axis of offsets, one lane for each node (name, log,
notes) with clients beside them, alarms, messages, legend. In a narrow picture a lane's name and
notes stand above its log. Lanes do not move when messages come and go.
"""

from dataclasses import replace

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import (
    current,
    keeping,
    kept_height,
    kept_width,
    measures,
    type_size,
)
from protocol_lab.drawing.cluster import Bar, Card, Cluster, Lane, Messages, Text, Value
from protocol_lab.drawing.cluster_picture.cards import draw_all_messages, draw_cards_below
from protocol_lab.drawing.cluster_picture.flights import flights_of, without_flights
from protocol_lab.drawing.cluster_picture.grid import (
    CROPPED,
    MARGIN,
    Grid,
    highlight,
    lane_text_width,
    line_width,
    value_width,
    words_width,
)
from protocol_lab.drawing.cluster_picture.grid_layout import grid_of
from protocol_lab.drawing.cluster_picture.lanes import divided, draw_lanes
from protocol_lab.drawing.describe import describe
from protocol_lab.drawing.svg import Svg, total_width, wrap

_BAR_GAP = 4


def draw_cluster(cluster: Cluster) -> str:
    """The picture as SVG text, with a title and a text alternative."""
    told = describe(cluster)
    if current().dense:
        cluster = joined(cluster)
    svg, grid, flights = Svg(type_size()), grid_of(cluster), flights_of(cluster)
    y: float = MARGIN
    if cluster.show_title and cluster.title:
        for line in wrap(cluster.title, grid.width - 2 * MARGIN, 15, bold=True):
            svg.text(MARGIN, y + 13, line, size=15, bold=True)
            y += 21
        y += 5
    for row in _bar_rows(cluster.bars if current().bars else [], grid):
        y = _draw_bars(svg, grid, row, y) + 4
    y += 1
    y = draw_lanes(svg, grid, cluster, flights, y)
    cluster = without_flights(cluster, flights)
    if cluster.cards and current().below:
        y = draw_cards_below(svg, grid, cluster, y) + 8
    y = draw_all_messages(svg, grid, cluster.messages, y)
    for alarm in cluster.alarms if current().alarms else ():
        y = _draw_alarm(svg, grid, alarm, y + 4)
    height = y + (0 if current().dense else 4)
    return svg.document(
        grid.width, height, cluster.title, told, inset=CROPPED, legend=cluster.legend
    )


def _draw_bars(svg: Svg, grid: Grid, row: list[Bar], y: float) -> float:
    """Bars side by side, as wide as the picture. Returns where they end."""
    room = grid.width - 2 * MARGIN - _BAR_GAP * (len(row) - 1)
    spare = (room - sum(map(_bar_width, row))) / len(row)
    x, ends = float(MARGIN), []
    for bar in row:
        width = _bar_width(bar) + spare
        ends.append(_draw_bar(svg, x, width, bar, y))
        x += width + _BAR_GAP
    return max(ends)


def _bar_rows(bars: list[Bar], grid: Grid) -> list[list[Bar]]:
    """The bars below each other; for an audience those side by side for which there is room."""
    rows: list[list[Bar]] = []
    room = grid.width - 2 * MARGIN
    for bar in bars:
        both = [*rows[-1], bar] if rows and current().large else []
        if both and total_width(map(_bar_width, both), _BAR_GAP) <= room:
            rows[-1] = both
        else:
            rows.append([bar])
    return rows


def _bar_width(bar: Bar) -> float:
    """The width of a bar whose values stand in one row."""
    name = 12 + words_width(bar.name, bold=True) + 16
    return name + sum(room + 16 for room in _rooms(bar)) - 8


def _rooms(bar: Bar) -> list[float]:
    """The width that each value has in its row."""
    return [
        kept_width(f"{bar.name} {k} {value.label}", value_width(value))
        for k, value in enumerate(bar.values)
    ]


def _draw_bar(svg: Svg, left: float, width: float, bar: Bar, y: float) -> float:
    """Labelled values from left to right."""
    start = left + 12 + words_width(bar.name, bold=True) + 16
    rows: list[list] = [[]]
    x = start
    for value, room in zip(bar.values, _rooms(bar)):
        label = words_width(value.label) + 6 if value.label else 0
        if (rows[-1] or current().stacked) and x + room > left + width - 8:
            x = left + 12 if current().stacked else start
            rows.append([])
        rows[-1].append((x, label, value))
        x += room + 16
    pitch = measures().bar
    height = pitch * kept_height(f"rows of {bar.name} at {width:.0f}", len(rows)) + 2
    svg.rect(left, y, width, height, rx=8, fill=palette.PANEL, stroke=palette.LINE)
    first = y + (15 if current().dense else 19)
    svg.text(left + 12, first, bar.name, bold=True)
    for k, row in enumerate(rows):
        for x, label, value in row:
            _draw_value(svg, x, first + pitch * k, label, value)
    return y + height


def _draw_value(svg: Svg, x: float, y: float, label: float, value: Value) -> None:
    """A value after its label, highlighted if it changed."""
    svg.text(x, y, value.label, fill=palette.MUTED)
    now, left = value.value, x + label
    if now.was is not None:
        own = words_width(now.text, bold=True)
        highlight(svg, left - 4, y - 13, own + 8, 18, now)
    svg.text(left, y, now.text, bold=True, fill=palette.TONES[now.tone])


def _draw_alarm(svg: Svg, grid: Grid, alarm: str, y: float) -> float:
    lines = wrap(f"✗ {alarm}", grid.width - 2 * MARGIN - 24, type_size())
    height = 12 + 17 * len(lines)
    svg.rect(
        MARGIN,
        y,
        grid.width - 2 * MARGIN,
        height,
        rx=6,
        fill=palette.BAD_PAPER,
        stroke=palette.BAD,
        stroke_width=1.4,
    )
    for k, line in enumerate(lines):
        svg.text(MARGIN + 12, y + 19 + 17 * k, line, fill=palette.BAD)
    return y + height


_SHARED = 0.6
"""Of the picture's width, what clients below the lanes have at least."""

_NARROWEST_CARD = 150
"""Clients' cards beside the lanes of a picture that is too wide are made no narrower."""


def joined(cluster: Cluster) -> Cluster:
    """The cluster with short lines joined, without groups that have no message, and with as many
    messages as the arrangement lists. Where the picture is too wide lines are divided instead."""
    messages = [_listed(each) for each in cluster.messages if each.items]
    if current().large:
        cluster = replace(cluster, messages=messages)
    room = max([cluster.lane_width, *map(lane_text_width, cluster.lanes)])
    card = cluster.card_width
    if current().below and cluster.cards:  # messages may be beside them
        card = max(card, _SHARED * current().width / len(cluster.cards))
    if current().width:
        with keeping(None):  # nothing is drawn at these
            excess = max(0, grid_of(cluster).width - current().width - 2 * CROPPED)
        if current().large and cluster.cards and not current().below:  # they share it
            gives = min(excess / 2, max(0, card - _NARROWEST_CARD))
            card, excess = card - gives, excess - gives
        room -= excess
    return replace(
        cluster,
        lanes=[_dense_lane(lane, room) for lane in cluster.lanes],
        cards=[_dense_card(each, card) for each in cluster.cards],
        card_width=card,
        messages=messages,
    )


def _listed(group: Messages) -> Messages:
    """The group with as many messages as the arrangement lists; for an audience these are the new
    ones and, if there is room, those that have an effect."""
    most = current().listed or group.limit
    if not current().large or len(group.items) <= most:
        return replace(group, limit=min(group.limit, most))
    new = sum(each.mark == "new" for each in group.items)
    most = max(new, min(group.limit, most))
    chosen = sorted(group.items, key=lambda each: (each.mark == "new", not each.faded))[-most:]
    others = [each for each in group.items if each not in chosen]
    listed = [each for each in group.items if each in chosen]
    return replace(group, items=others + listed, limit=len(listed), folded="more")


def _dense_lane(lane: Lane, room: float) -> Lane:
    """The lane with as much in each line as there is room for."""
    parts = [part for line in lane.lines for part in divided(lane, line, room)]
    lines = [parts[0]]
    for part in parts[1:]:
        both = [*lines[-1], *part]
        if line_width(lane, both) <= room:
            lines[-1] = both
        else:
            lines.append(part)
    return replace(lane, lines=lines)


def _dense_card(card: Card, width: float) -> Card:
    lines: list[Text] = []
    for line in card.lines:
        both = f"{lines[-1].text} · {line.text}" if lines else ""
        alike = lines and lines[-1].tone == line.tone and lines[-1].was is line.was is None
        if alike and words_width(both) <= width - 20:
            lines[-1] = replace(line, text=both)
        else:
            lines.append(line)
    return replace(card, lines=lines)
