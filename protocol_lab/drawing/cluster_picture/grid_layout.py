"""Finds the grid of a cluster's picture. Widths are measured first, so that nothing overlaps, with
any number of nodes.
"""

from dataclasses import replace
from math import inf

from protocol_lab.drawing.arrangement import current, kept_height, kept_width, measures
from protocol_lab.drawing.cluster import Cluster
from protocol_lab.drawing.cluster_picture.cards import message_width
from protocol_lab.drawing.cluster_picture.flights import channel_width, flights_of, inbox_width
from protocol_lab.drawing.cluster_picture.grid import (
    BOX_GAP,
    CROPPED,
    MARGIN,
    Grid,
    badge_room,
    box_width,
    flag_width,
    lane_text_width,
    record_height,
    value_width,
    words_width,
)
from protocol_lab.drawing.cluster_picture.lanes import heads_of

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
