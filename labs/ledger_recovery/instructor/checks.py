"""How the lab ledger_recovery is graded: its parts, their trials, and hidden properties."""

from protocol_lab import HOLDS
from protocol_lab.grading.labs import Part

CHANGES = {
    "add_entry": "stored[{entry}] acks[{entry}]",
    "fence": "fenced recovery.fenced",
    "begin_reading": "recovery.phase recovery.next",
    "read_entry": "fenced recovery.fenced recovery.having recovery.lacking",
    "restore": "stored recovery.next recovery.having recovery.lacking",
    "close": "metadata last recovery",
}

SAFE = ("confirmed_is_kept", "entries_are_durable", "acks_are_true", "answers_are_true")

PARTS = (
    Part(
        name="store and fence",
        points=30,
        lines=22,
        minutes=20,
        writes=("add_entry", "fence"),
        trials=({"bookies": 2, "ack_quorum": 1, "entries": 1, "crashes": 1}, {"entries": 1}),
        invariants=("acks_are_true", "fenced_bookies_store_nothing", "nobody_else_is_fenced"),
        reaches=("all_is_stored", "all_are_fenced"),
    ),
    Part(
        name="recover",
        points=45,
        lines=26,
        minutes=35,
        writes=("may_begin", "read_entry", "may_restore", "may_close"),
        trials=(
            {"bookies": 2, "ack_quorum": 1, "entries": 1},
            {"bookies": 3, "ack_quorum": 3, "entries": 1},
            {"bookies": 2, "ack_quorum": 2, "entries": 2},
            {"bookies": 3, "ack_quorum": 2, "entries": 1, "crashes": 1},
        ),
        invariants=SAFE,
        reaches=("everything_is_recovered", "nothing_is_recovered"),
    ),
    Part(
        name="recovery ends",
        points=25,
        lines=0,
        minutes=15,
        writes=(),
        trials=({"bookies": 3, "ack_quorum": 2, "entries": 1, "crashes": 1},),
        properties=("recovery_ends",),
    ),
)


def acks_are_true(s, c):
    """Whoever has acknowledged an entry has stored it, and it was sent."""
    for entry in range(1, c.entries + 1):
        if s.acks[entry] & ~s.stored[entry] != 0:
            return "a bookie has acknowledged an entry that it has not stored"
        if entry > s.sent and s.stored[entry] != 0:
            return "a bookie has stored an entry that nobody has sent"
    return HOLDS


def nobody_else_is_fenced(s, c):
    """The recovery takes only those for fenced that are."""
    return HOLDS if s.recovery.fenced & ~s.fenced == 0 else "a bookie is not fenced"


def answers_are_true(s, c):
    """A bookie has an entry if it has answered so."""
    for bookie in s.recovery.having:
        if s.recovery.next > c.entries or bookie not in s.stored[s.recovery.next]:
            return "an answer was noted that the bookie did not give"
    return HOLDS


def fenced_bookies_store_nothing(before, after, c):
    """A fenced bookie stores nothing for the writer, and stays fenced."""
    if before.fenced & ~after.fenced != 0:
        return "a bookie is no longer fenced"
    for entry in range(1, c.entries + 1):
        if after.acks[entry] & ~before.acks[entry] & before.fenced != 0:
            return "a fenced bookie has stored an entry for the writer"
    return HOLDS


def all_is_stored(s, c):
    """All bookies have all entries."""
    return all(len(s.stored[entry]) == c.bookies for entry in range(1, c.entries + 1))


def all_are_fenced(s, c):
    """All bookies are fenced."""
    return len(s.recovery.fenced) == c.bookies


def nothing_is_recovered(s, c):
    """The ledger is closed without the last entry, which the writer has sent."""
    return s.metadata == "closed" and s.sent == c.entries and s.last < c.entries
