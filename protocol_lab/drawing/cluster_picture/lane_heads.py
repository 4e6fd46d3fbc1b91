"""What a lane says, in rows above its log, as on a phone."""

from protocol_lab.drawing.cluster import Cluster, Lane, Text
from protocol_lab.drawing.cluster_picture.grid import BOX_GAP, badge_room
from protocol_lab.drawing.cluster_picture.picture_text import line_width

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
