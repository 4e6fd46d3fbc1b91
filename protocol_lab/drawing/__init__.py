"""Pictures of protocol states as SVG text: self-contained, and readable where nothing runs.

A spec package describes one state as a `Cluster` (lanes, records, bars of values, messages,
clients) and `draw_cluster` lays it out. `film_strip` puts pictures with captions into one. Nothing
here knows any protocol; nothing depends on the browser's fonts, styles or ids, so that many
pictures fit on one page, in light and dark themes, and in files.
"""

from protocol_lab.drawing.changes import drawing_of
from protocol_lab.drawing.cluster import (
    Bar,
    Card,
    Cluster,
    CutLink,
    Entry,
    Flag,
    Lane,
    Message,
    Messages,
    Text,
    Value,
)
from protocol_lab.drawing.film import film_strip
from protocol_lab.drawing.placement import draw_cluster

__all__ = [
    "Bar",
    "Card",
    "Cluster",
    "CutLink",
    "Entry",
    "Flag",
    "Lane",
    "Message",
    "Messages",
    "Text",
    "Value",
    "draw_cluster",
    "drawing_of",
    "film_strip",
]
