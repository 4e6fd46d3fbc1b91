"""Places everything in a `Cluster`, and draws it as SVG.

From the top: information bars, the axis of offsets, one lane for each node (name, log,
notes) with clients beside them, alarms, messages, legend. In a narrow picture a lane's name and
notes stand above its log. Lanes do not move when messages come and go.
"""

from dataclasses import replace
from math import inf

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
from protocol_lab.drawing.cluster_picture.cards import (
    draw_all_messages,
    draw_cards_below,
    message_width,
)
from protocol_lab.drawing.cluster_picture.flights import (
    channel_width,
    flights_of,
    inbox_width,
    without_flights,
)
from protocol_lab.drawing.cluster_picture.grid import (
    BOX_GAP,
    CROPPED,
    MARGIN,
    Grid,
    badge_room,
    box_width,
    flag_width,
    highlight,
    lane_text_width,
    line_width,
    record_height,
    value_width,
    words_width,
)
from protocol_lab.drawing.cluster_picture.lanes import divided, draw_lanes, heads_of
from protocol_lab.drawing.describe import describe
from protocol_lab.drawing.svg import Svg, total_width, wrap

_MOST_WIDE_BOXES = 6
_NARROWEST = 720


def grid_of(cluster: Cluster) -> Grid:
    """The places of a picture in the current arrangement."""
    if current().stacked:
        return _stacked_grid(cluster)
    columns = _columns(cluster)
    box = box_width(columns > _MOST_WIDE_BOXES or current().narrow)
    names = kept_width("names", max(map(lane_text_width, cluster.lanes), default=0))
    flights, heights_and_tops = flights_of(cluster), _lane_heights(cluster)
    has_badges = any(lane.badge for lane in cluster.lanes)
    has_badges = kept_width("badges", has_badges) > 0
    left = MARGIN + _beside(cluster, channel_width(cluster, flights.left, "left"), True)
    words = left + badge_room(has_badges)
    logs = words + names + 8
    # A flag after the last column still has its label inside the lane.
    flags = [flag_width(lane) for lane in cluster.lanes]
    tail = kept_width("tail", max([12, *flags]))
    cards = _beside(cluster, channel_width(cluster, flights.right, "right"), False)
    inbox = logs + columns * (box + BOX_GAP) + tail
    narrowest = max(_narrowest(cluster), current().width + 2 * CROPPED)
    spare = narrowest - cards - MARGIN - inbox
    room = max(0, spare) if current().few_messages else inf
    messages = inbox_width(flights.here, heights_and_tops[0], room)
    right = inbox + max(messages, spare)
    heights, tops = heights_and_tops
    return Grid(
        columns,
        box,
        left,
        words,
        logs,
        inbox,
        right,
        right + cards - cluster.card_width,
        right + cards + MARGIN,
        heights,
        tops,
    )


def _beside(cluster: Cluster, channel: float, is_left: bool) -> float:
    """The width of the clients on one side, with what is between them and the lanes."""
    if current().below or not any(card.is_left is is_left for card in cluster.cards):
        return 0
    return cluster.card_width + max(12, channel)


def _stacked_grid(cluster: Cluster) -> Grid:
    """The columns where what lanes say stands above their logs. Messages have no arrows then."""
    columns = _columns(cluster)
    logs = MARGIN + BOX_GAP
    last = [
        flag_width(replace(lane, flags=[each]))
        for lane in cluster.lanes
        for each in lane.flags
        if each.offset == columns
    ]
    needed = [
        current().width + 2 * CROPPED,
        logs + columns * (box_width(True) + BOX_GAP) + max([0.0, *last]) + MARGIN,
        *(message_width(item) + 2 * MARGIN for group in cluster.messages for item in group.items),
        *(value_width(value) + 2 * MARGIN + 24 for bar in cluster.bars for value in bar.values),
    ]
    width = max(needed)
    right = width - MARGIN
    rows = [len(each) for each in heads_of(cluster, right - MARGIN)]
    head = measures().line * kept_height(f"head at {width:.0f}", max(rows, default=1)) + 6
    below = 17 if any(lane.flags for lane in cluster.lanes) else 6
    log = measures().above + record_height() + below
    heights = [head + log] * len(cluster.lanes)
    tops = [head + measures().above] * len(cluster.lanes)
    return Grid(
        columns,
        box_width(True),
        MARGIN,
        MARGIN + BOX_GAP,
        logs,
        right,
        right,
        right,
        width,
        heights,
        tops,
        head,
    )


def _columns(cluster: Cluster) -> int:
    """How many offsets have a place."""
    offsets = [entry.offset + 1 for lane in cluster.lanes for entry in lane.entries]
    offsets += [flag.offset for lane in cluster.lanes for flag in lane.flags]
    offsets += [cluster.line.offset] if cluster.line else []
    return int(kept_width("columns", max([cluster.columns, *offsets])))


def _lane_heights(cluster: Cluster) -> tuple[list[float], list[float]]:
    """How high the lanes are, and how far below their tops the records begin.

    All are equally high, but for those without words below their records, and for an audience those
    with fewer lines. The records are in the middle."""
    lines = [len(lane.lines) for lane in cluster.lanes]
    if not current().large:
        most = kept_height(f"lines at {current().width}", max(lines, default=1))
        lines = [most] * len(lines)
    alone = 3 if current().dense else 8
    below = [17 if lane.flags else alone for lane in cluster.lanes]
    logs = [
        measures().above + record_height() + kept_height(f"below {k}", under)
        for k, under in enumerate(below)
    ]
    heights = [
        max(log, measures().line * said + 6) + current().taller / 2
        for said, log in zip(lines, logs)
    ]
    spare = [height - log for height, log in zip(heights, logs)]
    return heights, [measures().above + each / 2 for each in spare]


def _narrowest(cluster: Cluster) -> float:
    """The width of a bar's longest value beside its name."""
    widest = [
        words_width(f"{bar.name} {value.label} {value.value.text}", bold=True) + 80
        for bar in cluster.bars
        for value in bar.values
    ]
    return min(_NARROWEST, max([460.0, *widest]))


_BAR_GAP = 4


def draw_cluster(cluster: Cluster) -> str:
    """The picture as SVG text, with a title and a text alternative."""
    told = describe(cluster)
    if current().dense:
        cluster = joined(cluster)
    svg, grid, flights = Svg(type_size()), grid_of(cluster), flights_of(cluster)
    y: float = MARGIN
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
    width, height = grid.width - 2 * MARGIN, 12 + 17 * len(lines)
    border = {"stroke": palette.BAD, "stroke_width": 1.4}
    svg.rect(MARGIN, y, width, height, rx=6, fill=palette.BAD_PAPER, **border)
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
