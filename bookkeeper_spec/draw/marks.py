"""One client's log with its marks: what was sent, acknowledged, and fully replicated.

For `bookkeeper.guaranteed_write_quorum`, whose clients keep a LAFR beside their LAC and LAP.
"""

from typing import Any

from bookkeeper_spec.draw.traffic import entry_name
from protocol_lab import size
from protocol_lab.drawing import Cluster, Flag, Lane, Text, draw_cluster
from protocol_lab.drawing.cluster import Entry


def draw_marks(s: Any, c: Any, client: int) -> str:
    """The log of a client as SVG: who has confirmed each entry, and where its marks stand."""
    mine = s.clients[client]
    marks: dict[int, list[str]] = {}
    for name, last in (("LAFR", mine.lafr), ("LAC", mine.lac), ("LAP", mine.lap)):
        marks.setdefault(last, []).append(name)
    lane = Lane(
        lines=[
            [Text(f"c{client}'s log", bold=True)],
            [Text(f"write quorum {c.write_quorum}, ack quorum {c.ack_quorum}", "muted")],
        ],
        entries=[
            Entry(
                entry - 1,
                entry_name(entry),
                f"{size(mine.confirmed[entry])} of {c.write_quorum}",
                f"{size(mine.confirmed[entry])} of {c.write_quorum}",
                committed=entry <= mine.lac,
            )
            for entry in range(1, mine.lap + 1)
        ],
        flags=[Flag(last, Text(" · ".join(names), bold=True)) for last, names in marks.items()],
        empty="nothing sent yet",
    )
    return draw_cluster(
        Cluster(
            title="One log, three marks",
            lanes=[lane],
            columns=c.send_limit,
            axis="entry",
            ticked="acknowledged",
            legend="LAFR: up to here on a write quorum · LAC: acknowledged up to here"
            " · LAP: sent up to here",
        )
    )
