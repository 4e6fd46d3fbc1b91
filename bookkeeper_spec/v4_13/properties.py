"""Invariants of `bookkeeper.v4_13`, what must be reachable, and the bound on lost messages."""

from bookkeeper_spec.model.ledger import CLOSED, INVALID
from bookkeeper_spec.properties import (
    count_lost_of,
    count_lost_of_fencing,
    is_ledger_of_its_type,
    is_writer_of_its_type,
    within_lost_messages,
)
from bookkeeper_spec.v4_13.model import Constants, State
from protocol_lab import HOLDS, NO_LIMIT, size


def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c):
        return "the metadata or a bookie hold what they can't"
    if not is_writer_of_its_type(c, s.w1) or not is_writer_of_its_type(c, s.w2):
        return "a client holds what it can't"
    return HOLDS


def only_valid_fragments(s: State, c: Constants):
    """Nobody had to begin a fragment before one that there is."""
    if s.w1.status == INVALID or s.w2.status == INVALID:
        return "a client would have to begin a fragment before one that there is"
    return HOLDS


def no_divergence_between_writer_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, it has every entry that w1 has acknowledged."""
    if s.meta_status == CLOSED and s.w1.lac > s.meta_last_entry:
        return "w1 has acknowledged an entry that the closed ledger does not have"
    return HOLDS


def no_stuck_lac(s: State, c: Constants):
    """w2's LAC rises with what it writes back: an extra, false unless `count_from_lac` is on."""
    next_entry = s.w2.lac + 1
    if next_entry <= c.send_limit and size(s.w2.confirmed[next_entry]) >= c.ack_quorum:
        return "an entry that was written back is confirmed, and w2's LAC does not rise"
    return HOLDS


def recovery_closes_the_ledger(s: State, c: Constants):
    """A recovery comes to its end."""
    return HOLDS if s.w2.status == CLOSED else "w2 has not closed the ledger"


# --- Bounds --------------------------------------------------------------------------------------


def count_lost_reads(c, messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return size(messages.no_such_entry.lost) + sum(
        size(messages.reads[k].requests.lost)
        + sum(size(messages.reads[k].responses[data].lost) for data in range(c.send_limit))
        for k in range(c.send_limit + 1)
    )


def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = count_lost_of_fencing(s.messages) + count_lost_reads(c, s.messages)
    for k in range(2):
        lost += count_lost_of(c, s.messages.adds[k])
    return within_lost_messages(c, lost)
