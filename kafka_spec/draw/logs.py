"""The pictures of both helper specs: logs without a protocol, and a counter."""

from kafka_spec.draw.shared import Log, Shown, States, entries_of
from protocol_lab.drawing import Entry, Lane, Text
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import view

MOST_IDS = 12


def draw_logs(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """One log a replica. Nothing is ever committed here, so every border is dashed."""
    states = States(model, row, previous)
    lanes = [
        Lane(
            lines=[
                [Text(f"Replica {r}", bold=True)],
                [states.text(lambda at, r=r: at.logs[r].end_offset, "muted", name="end offset ")],
            ],
            entries=entries_of(
                _log(states.s, r), states.before(lambda at, r=r: _log(at, r)), (), (), {}
            ),
        )
        for r in range(1, states.c.replicas + 1)
    ]
    return states.draw(
        title,
        lanes=lanes,
        columns=states.c.log_size,
        legend="hatched: truncated just now · highlighted: changed just now",
    )


def logs_label(model: Model, row: bytes) -> str:
    """The records of each log, a line a replica, – for an empty one: a node of a state graph."""
    s = view(model.layout, row)
    return "\n".join(
        " ".join(map(str, _numbers(s, r))) or "–" for r in range(1, model.constants.replicas + 1)
    )


def _numbers(s, r: int) -> list[int]:
    return [s.logs[r].records[offset] for offset in range(s.logs[r].end_offset)]


def _log(s, r: int) -> Log:
    return [Shown(f"rec {number}", shade=number) for number in _numbers(s, r)]


def draw_id_sequence(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """The ids that are taken (of many only the latest), and the next one."""
    states = States(model, row, previous)
    upcoming, last = states.s.next_id, states.c.max_id
    first = max(0, min(upcoming, last + 1) - MOST_IDS + 1)
    before = states.before(lambda at: at.next_id)
    taken = [
        Entry(
            k - first,
            f"id {k}",
            "taken",
            "taken",
            shade=0,
            committed=True,
            mark="new" if before is not None and k >= before else "",
        )
        for k in range(first, upcoming)
    ]
    lane = Lane(
        lines=[
            [Text("Ids", bold=True)],
            [states.text(lambda at: _next(at.next_id, last))],
            [Text(f"from 0 to {last}", "muted")],
        ],
        entries=taken,
        empty="none taken yet",
    )
    return states.draw(title, lanes=[lane], columns=min(last + 1, MOST_IDS), axis="")


def _next(number: int, last: int) -> str:
    return f"next is {number}" if number <= last else "all are taken"
