"""Pictures of states as SVG text: self-contained, and readable where nothing runs.

A spec's package describes one state as a `Cluster` (lanes, records, bars of values, messages,
clients) and `draw_cluster` draws it. Nothing here knows any protocol. Nothing depends on the
browser's fonts, styles or ids, so that many pictures fit on one page, in light and dark themes, and
in files.

    cluster          what one picture shows, as plain values
    arrangement      how a picture uses its room, in a file or on a screen
    cluster_picture  finds the place of everything in a `Cluster`, and draws it
    logs             replicated logs as boxes, and texts about nodes
    changes          `drawing_of`: a picture with its differences from another state marked
    describe         the picture in one paragraph, for screen readers
    state_table      a state as tables of its variables, with what differs marked; as SVG, too
    pictures         the picture of a state: the spec's own drawing, or the table; strips of them;
                     every format to which a walk can be exported
    svg              writes SVG: shapes, text, and how wide text will be
    palette          the colours, in light and dark
"""

from protocol_lab.drawing.changes import drawing_of
from protocol_lab.drawing.cluster import (
    Bar,
    Card,
    Cluster,
    Entry,
    Flag,
    Lane,
    Message,
    Messages,
    Text,
    Value,
)
from protocol_lab.drawing.cluster_picture.placement import draw_cluster
from protocol_lab.drawing.logs import (
    Log,
    Shown,
    bounds_left,
    difference,
    entries_of,
    list_text,
    membership,
    named,
    or_none,
    set_text,
)
from protocol_lab.explain.wording import letter

__all__ = [
    "Bar",
    "Card",
    "Cluster",
    "Entry",
    "Flag",
    "Lane",
    "Log",
    "Message",
    "Messages",
    "Shown",
    "Text",
    "Value",
    "bounds_left",
    "difference",
    "draw_cluster",
    "drawing_of",
    "entries_of",
    "letter",
    "list_text",
    "membership",
    "named",
    "or_none",
    "set_text",
]
