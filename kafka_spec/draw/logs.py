"""The pictures of the two helper specs: logs without a protocol, and a counter."""

from kafka_spec.draw.shared import Log, Shown, alarms, compared, entries_of, views
from protocol_lab.drawing import Cluster, Entry, Lane, Text, draw_cluster
from protocol_lab.spec import Model
from protocol_lab.views import view

MOST_IDS = 12


def draw_logs(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """One log a replica. Nothing is ever committed here, so every border is dashed."""
    s, old = views(model, row, previous)
    lanes = [
        Lane(
            lines=[
                [Text(f"Replica {r}", bold=True)],
                [
                    compared(
                        s, old, lambda at, r=r: at.logs[r].end_offset, "muted", name="end offset "
                    )
                ],
            ],
            entries=entries_of(_log(s, r), old and _log(old, r), (), (), {}),
        )
        for r in range(1, model.constants.replicas + 1)
    ]
    return draw_cluster(
        Cluster(
            title=title or model.spec.name,
            show_title=title is not None,
            lanes=lanes,
            alarms=alarms(model, row),
            columns=model.constants.log_size,
            legend="hatched: truncated just now · highlighted: changed just now",
        )
    )


def logs_label(model: Model, row: bytes) -> str:
    """All logs in one short line a replica, as the node of a state graph."""
    s = view(model.layout, row)
    return "\n".join(
        f"{r}: {' '.join(_letter(each) for each in _numbers(s, r)) or '–'}"
        for r in range(1, model.constants.replicas + 1)
    )


def _numbers(s, r: int) -> list[int]:
    return [s.logs[r].records[offset] for offset in range(s.logs[r].end_offset)]


def _log(s, r: int) -> Log:
    return [Shown(f"record {_letter(number)}", shade=number) for number in _numbers(s, r)]


def _letter(number: int) -> str:
    """Records have no content but being different: a, b, c, ..., and numbers after z."""
    return chr(ord("a") + number - 1) if number <= 26 else str(number)


def draw_id_sequence(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """The ids that are taken, the latest of them where there are many, and the next one."""
    s, old = views(model, row, previous)
    last = model.constants.max_id
    first = max(0, min(s.next_id, last + 1) - MOST_IDS + 1)
    taken_before = s.next_id if old is None else old.next_id
    taken = [
        Entry(
            k - first,
            f"id {k}",
            "taken",
            "taken",
            shade=0,
            committed=True,
            mark="new" if k >= taken_before else "",
        )
        for k in range(first, s.next_id)
    ]
    lane = Lane(
        lines=[
            [Text("Ids", bold=True)],
            [compared(s, old, lambda at: _next(at.next_id, last))],
            [Text(f"from 0 to {last}", "muted")],
        ],
        entries=taken,
        empty="none taken yet",
    )
    return draw_cluster(
        Cluster(
            title=title or model.spec.name,
            show_title=title is not None,
            lanes=[lane],
            alarms=alarms(model, row),
            columns=min(last + 1, MOST_IDS),
            axis="",
        )
    )


def _next(number: int, last: int) -> str:
    return f"next is {number}" if number <= last else "all are taken"
