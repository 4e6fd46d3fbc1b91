"""Invariants of `bookkeeper.v4_13`, and what must be reachable."""

from bookkeeper_spec.model.ledger import CLOSED, INVALID
from bookkeeper_spec.properties import is_ledger_of_its_type, is_writer_of_its_type
from bookkeeper_spec.v4_13.model import Constants, State
from protocol_lab import HOLDS, size


def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c):
        return "a value of the metadata or of a bookie is out of range"
    if not is_writer_of_its_type(c, s.w1) or not is_writer_of_its_type(c, s.w2):
        return "a value of a client is out of range"
    return HOLDS


def only_valid_fragments(s: State, c: Constants):
    """Nobody had to begin a fragment before an existing one."""
    if s.w1.status == INVALID or s.w2.status == INVALID:
        return "a client would have to begin a fragment before an existing one"
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
    """A recovery closes the ledger."""
    return HOLDS if s.w2.status == CLOSED else "w2 has not closed the ledger"
