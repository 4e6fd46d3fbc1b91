"""The dense arrangement of a cluster: what can share a line does."""

from dataclasses import replace

from protocol_lab.drawing.arrangement import current
from protocol_lab.drawing.cluster import Card, Cluster, Lane, Text
from protocol_lab.drawing.cluster_picture.grid import CROPPED
from protocol_lab.drawing.cluster_picture.grid_layout import grid_of
from protocol_lab.drawing.cluster_picture.lane_heads import divided
from protocol_lab.drawing.cluster_picture.picture_text import lane_text_width, line_width
from protocol_lab.drawing.svg import text_width


def joined(cluster: Cluster) -> Cluster:
    """The cluster with short lines joined, without groups that have no message, and with as many
    messages as the arrangement lists. Where the picture is too wide lines are divided instead."""
    room = max([cluster.lane_width, *map(lane_text_width, cluster.lanes)])
    if current().width:
        room -= max(0, grid_of(cluster).width - current().width - 2 * CROPPED)
    most = current().listed
    return replace(
        cluster,
        lanes=[_dense_lane(lane, room) for lane in cluster.lanes],
        lane_width=min(cluster.lane_width, room),
        cards=[_dense_card(card, cluster.card_width) for card in cluster.cards],
        messages=[
            replace(each, limit=min(each.limit, most or each.limit))
            for each in cluster.messages
            if each.items
        ],
    )


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
        if alike and text_width(both, 11.5) <= width - 20:
            lines[-1] = replace(line, text=both)
        else:
            lines.append(line)
    return replace(card, lines=lines)
