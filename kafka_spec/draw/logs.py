"""The pictures of both helper specs: logs without a protocol, and a counter."""

from protocol_lab.drawing import (
    Cluster,
    Entry,
    Lane,
    Log,
    Shown,
    Text,
    drawing_of,
    entries_of,
    letter,
    named,
)
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view

MOST_IDS = 12


def describe_logs(s, c) -> Cluster:
    """One log a replica. Nothing is ever committed here, so every border is dashed."""
    return Cluster(
        lanes=[
            Lane(
                lines=[
                    [Text(f"Broker {r}", bold=True)],
                    [named("end offset", s.logs[r].end_offset, "muted")],
                ],
                entries=entries_of(_log(s, r)),
            )
            for r in range(1, c.replicas + 1)
        ],
        columns=c.log_size,
        legend="hatched: truncated just now · highlighted: changed just now",
    )


draw_logs = drawing_of(describe_logs)


def logs_label(model: Model, row: bytes) -> str:
    """The records of each log, a line a replica, – for an empty one: a node of a state graph."""
    s = view(model.layout, row)
    return "\n".join(
        " ".join(letter(each) for each in _numbers(s, r)) or "–"
        for r in range(1, model.constants.replicas + 1)
    )


def _numbers(s, r: int) -> list[int]:
    return [s.logs[r].records[offset] for offset in range(s.logs[r].end_offset)]


def _log(s, r: int) -> Log:
    return [Shown(letter(number), shade=number) for number in _numbers(s, r)]


def describe_ids(s, c) -> Cluster:
    """The ids that are taken (of many only the latest), and the next one."""
    first = max(0, min(s.next_id, c.max_id + 1) - MOST_IDS + 1)
    lane = Lane(
        lines=[
            [Text("Ids", bold=True)],
            [_next(s.next_id, c.max_id)],
            [Text(f"from 0 to {c.max_id}", "muted")],
        ],
        entries=[
            Entry(k - first, f"id {k}", "taken", "taken", shade=0, committed=True)
            for k in range(first, s.next_id)
        ],
        empty="none taken yet",
    )
    return Cluster(lanes=[lane], columns=min(c.max_id + 1, MOST_IDS), axis="", first=first)


draw_id_sequence = drawing_of(describe_ids)


def _next(number: int, last: int) -> Text:
    return Text(f"next is {number}" if number <= last else "all are taken")
