"""The six moments of a compaction on a time line: what is where, and what a crash leaves behind."""

from collections.abc import Sequence

from protocol_lab.drawing import Cluster, Entry, Lane, Text, draw_cluster
from protocol_lab.model.layout import NONE
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.traces.walk import Walk
from pulsar_spec.exercises.crash_points import existing, left_behind

SHADES = {"L1": 1, "L2": 2}

STEPS = ("read", "write", "context", "horizon", "cursor", "delete")
"""What the compactor does next, in a word, in the order of its states."""


def draw_crash_windows(model: Model) -> str:
    """A second compaction as SVG, a column for each moment in which the broker may crash.

    The lanes say which ledgers are on disk, what memory and cursor name, and what is left behind
    for ever if the broker crashes in this moment.
    """
    rows = _second_compaction(model)
    states = [view(model.layout, row) for row in rows]
    reads = [s.compacted_topic_context for s in states]
    named = [s.cursor.compacted_topic_context for s in states]
    lanes = [
        _lane("Next step", "what the compactor does", STEPS),
        *(
            _lane(
                f"Ledger {ledger}",
                "on disk",
                [_label(ledger) if ledger in existing(s) else "" for s in states],
                [read == ledger for read in reads],
            )
            for ledger in (1, 2)
        ),
        _lane("Memory", "what consumers read", [_label(each) for each in reads]),
        _lane("Cursor", "on disk", [_label(each) for each in named]),
        _lane(
            "A crash here",
            "leaves behind",
            [", ".join(_label(each) for each in sorted(left_behind(model, row))) for row in rows],
        ),
    ]
    return draw_cluster(
        Cluster(
            title="A second compaction, from left to right",
            lanes=lanes,
            columns=len(STEPS),
            axis="moment",
            first=1,
            ticked="read by consumers",
            legend="✓ solid border: consumers read it · L1: the old ledger · L2: the new one",
        )
    )


def _second_compaction(model: Model) -> list[bytes]:
    """The states in which the compactor is about to take each step of its second compaction."""
    walk = Walk.begin(model)
    compactor = [each.name for each in model.spec.actions if each.name.startswith("compactor_")]
    walk.take("producer(input_key=1, input_value=1)")
    for name in compactor:
        walk.take(f"{name}()")
    walk.take("producer(input_key=1, input_value=1)")
    rows = []
    for name in compactor:
        rows.append(walk.row)
        walk.take(f"{name}()")
    return rows


def _lane(name: str, what: str, labels: Sequence[str], ticks: Sequence[bool] = ()) -> Lane:
    return Lane(
        lines=[[Text(name, bold=True)], [Text(what, "muted")]],
        entries=[
            Entry(k, label, shade=SHADES.get(label), committed=ticks[k] if ticks else None)
            for k, label in enumerate(labels)
            if label
        ],
        empty="nothing",
    )


def _label(ledger: int) -> str:
    return f"L{ledger}" if ledger != NONE else ""
