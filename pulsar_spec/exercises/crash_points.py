"""What a crash does, by the moment in which it comes: counted over all reachable states.

For every state in which the broker may crash, it crashes there, and the next compaction runs to its
end. What is then on disk and not in use stays there forever.
"""

from typing import TYPE_CHECKING, Any

from protocol_lab.explore import explore
from protocol_lab.model.layout import NONE
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import attempt, choices
from pulsar_spec.model import NULL_KEY, CompactorState

if TYPE_CHECKING:
    import pandas as pd

PERSISTED = "compactor_in_phase_two_delete_ledger"
"""In this state the cursor names the new ledger, so that the compaction is not lost."""

COLUMNS = (
    "crashes",
    "compaction lost",
    "consumers taken back",
    "served twice before it",
    "served twice after it",
    "messages lost",
    "ledger left behind",
)


def crash_points(model: Model) -> "pd.DataFrame":
    """A row for each state of the compactor in which the broker crashes; the columns are COLUMNS.

    `crashes` counts the reachable states in which it may, and which leave room for one more
    compaction; the others say in how many of these that happened: the work of a compaction is lost;
    consumers get an older ledger or horizon than before; a message without a key is served from the
    ledger and from the topic, before the crash or after it; a key's latest message can't be had any
    more; and after the next compaction a ledger is on disk that nobody uses.
    """
    import pandas as pd

    rows = explore(model, invariants=[]).states
    found = [each for row in rows if (each := _crash(model, row.tobytes())) is not None]
    columns: Any = ["crash before", *COLUMNS]  # a list, as pandas takes it
    counts: Any = pd.DataFrame(found, columns=columns).groupby("crash before").sum()
    order = [name.removeprefix("compactor_in_") for name in CompactorState.names]
    return counts.reindex([name for name in order if name in counts.index]).astype(int)


def _crash(model: Model, row: bytes) -> tuple | None:
    """One line of the table before it is added up; None if the broker can't crash here."""
    moments = _after_a_crash(model, row)
    if moments is None:
        return None
    before, after, later = (view(model.layout, each) for each in (row, *moments))
    return (
        CompactorState.names[before.compactor_state].removeprefix("compactor_in_"),
        1,
        before.compactor_state not in (PERSISTED, "compactor_in_phase_one"),
        _served(after) != _served(before),
        bool(served_twice(before)),
        bool(served_twice(after)),
        bool(lost_messages(after)),
        len(_unused(later)) > 0,
    )


def left_behind(model: Model, row: bytes) -> set[int]:
    """The ledgers that nobody uses after a crash in this state and the next compaction."""
    moments = _after_a_crash(model, row)
    return _unused(view(model.layout, moments[1])) if moments else set()


def _after_a_crash(model: Model, row: bytes) -> tuple[bytes, bytes] | None:
    """The state after a crash, and the one after the next compaction; None if there are none."""
    crash = next(each for each in model.spec.actions if each.name.startswith("broker_crash"))
    crashed = _taken(model, row, crash)
    rested = crashed and _next_compaction(model, crashed)
    return (crashed, rested) if crashed and rested else None


def _unused(s) -> set[int]:
    return existing(s) - {s.compacted_topic_context}


def _served(s) -> tuple[int, int]:
    return s.compacted_topic_context, s.compaction_horizon


def _taken(model: Model, row: bytes, action: Action) -> bytes | None:
    """The state after an action without parameters, or None if it refuses."""
    [args] = choices(model, row, action)
    return attempt(model, row, action, args).row


def _next_compaction(model: Model, row: bytes) -> bytes | None:
    """The state after the compactor's next steps until it rests; None if it gets stuck."""
    steps = [each for each in model.spec.actions if each.name.startswith("compactor_")]
    while True:
        ahead = filter(None, (_taken(model, row, each) for each in steps))
        row = next(ahead, b"")
        if not row:
            return None
        if not view(model.layout, row).phase_one_result.read_position:
            return row


def existing(s) -> set[int]:
    """The compacted ledgers on disk."""
    return {k for k in range(1, len(s.compacted_ledgers) + 1) if s.compacted_ledgers[k].exists}


def in_context(s) -> list:
    """The messages of the context's ledger; none if there is no context."""
    if s.compacted_topic_context == NONE:
        return []
    return list(s.compacted_ledgers[s.compacted_topic_context].messages)


def served_twice(s) -> set[int]:
    """The ids of messages without a key that are in the context's ledger and after the horizon."""
    return {
        each.id for each in in_context(s) if each.key == NULL_KEY and each.id > s.compaction_horizon
    }


def lost_messages(s) -> set[int]:
    """The ids of each key's latest message, if consumers get it from nowhere."""
    kept = {each.id for each in in_context(s)}
    latest = {}
    for message in s.messages:
        if message.key != NULL_KEY:
            latest[message.key] = message.id
    return {each for each in latest.values() if each <= s.compaction_horizon and each not in kept}
