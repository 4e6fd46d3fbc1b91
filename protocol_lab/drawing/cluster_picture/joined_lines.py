"""The dense arrangement of a cluster: what can share a line does."""

from dataclasses import replace

from protocol_lab.drawing.arrangement import current, keeping
from protocol_lab.drawing.cluster import Card, Cluster, Lane, Messages, Text
from protocol_lab.drawing.cluster_picture.grid import (
    CROPPED,
    lane_text_width,
    line_width,
    words_width,
)
from protocol_lab.drawing.cluster_picture.grid_layout import grid_of
from protocol_lab.drawing.cluster_picture.lanes import divided

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
