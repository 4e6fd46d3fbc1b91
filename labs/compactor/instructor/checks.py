"""How the lab compactor is graded: its parts, their trials, and hidden properties."""

from protocol_lab import HOLDS, NONE
from protocol_lab.grading.labs import Part

CHANGES = {
    "begin": "compactor",
    "note": "compactor",
    "turn": "compactor ledgers[{slot}]",
    "copy": "compactor ledgers",
    "publish": "compactor current horizon",
    "delete_ledger": "ledgers[{slot}]",
}

SAFE = (
    "readers_see_the_latest",
    "the_current_ledger_exists",
    "ledgers_are_compact",
    "readers_are_left_alone",
)

PARTS = (
    Part(
        name="compact",
        points=40,
        lines=47,
        minutes=40,
        writes=("begin", "note", "turn", "copy", "publish"),
        trials=(
            {"keys": 1, "messages": 2, "ledgers": 3},
            {"keys": 2, "messages": 3, "ledgers": 1},
            {"keys": 2, "messages": 2, "ledgers": 2},
        ),
        invariants=SAFE,
        reaches=("everything_is_compacted",),
    ),
    Part(
        name="crash",
        points=15,
        lines=0,
        minutes=5,
        writes=(),
        trials=({"keys": 2, "messages": 2, "ledgers": 2, "crashes": 1},),
        invariants=SAFE,
        reaches=("everything_is_compacted_after_a_crash",),
    ),
    Part(
        name="delete",
        points=20,
        lines=9,
        minutes=10,
        writes=("delete_ledger",),
        trials=({"keys": 1, "messages": 2, "ledgers": 2, "crashes": 2},),
        invariants=SAFE,
        reaches=("everything_is_compacted_after_a_crash",),
        stays_possible=("everything_is_clean",),
    ),
    Part(
        name="compaction ends",
        points=25,
        lines=0,
        minutes=10,
        writes=(),
        trials=({"keys": 2, "messages": 2, "ledgers": 2, "crashes": 1},),
        properties=("compaction_ends",),
    ),
)


def ledgers_are_compact(s, c):
    """The current ledger has each key once, in the order of the topic, and only old messages."""
    if s.current == NONE:
        return HOLDS if s.horizon == 0 else "no ledger stands for what is before the horizon"
    offsets = s.ledgers[s.current].offsets
    for k in range(len(offsets)):
        if offsets[k] < 0 or offsets[k] >= s.horizon or s.horizon > len(s.topic):
            return "the ledger has what is not before the horizon"
        for j in range(k):
            if offsets[j] >= offsets[k]:
                return "the ledger is not in the order of the topic"
            if s.topic[offsets[j]] == s.topic[offsets[k]]:
                return "the ledger has a key twice"
    return HOLDS


def readers_are_left_alone(before, after, c):
    """The ledger that readers use does not change, and the horizon never goes back."""
    if after.horizon < before.horizon:
        return "the horizon goes back"
    if before.current == NONE or before.current != after.current:
        return HOLDS
    if before.ledgers[before.current] == after.ledgers[before.current]:
        return HOLDS
    return "a ledger changes that readers use"


def everything_is_compacted_after_a_crash(s, c):
    """All messages were sent and are compacted, and all crashes have happened."""
    return len(s.topic) == c.messages and s.horizon == c.messages and s.crashed == c.crashes


def everything_is_clean(s, c):
    """Everything is compacted, and no ledger exists but the current one."""
    return s.horizon == c.messages and not any(
        s.ledgers[slot].exists and slot != s.current for slot in range(1, c.ledgers + 1)
    )
