"""What is claimed of 4.13: invariants, the bound, and situations."""

from bookkeeper_spec.properties import (
    count_lost_fencing,
    count_lost_writes,
    is_ledger_of_its_type,
    is_set_of_bookies,
    is_writer_of_its_type,
    within_lost_messages,
)
from bookkeeper_spec.v4_13.model import *
from protocol_lab import *


def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c) or not is_set_of_bookies(c, s.b_fenced):
        return "a value of the metadata or of a bookie is out of range"
    if not is_writer_of_its_type(c, s.w1) or not is_writer_of_its_type(c, s.w2):
        return "a value of a client is out of range"
    return HOLDS


def only_valid_fragments(s: State, c: Constants):
    """Nobody had to begin a fragment before an existing one."""
    if s.w1.status == "invalid" or s.w2.status == "invalid":
        return "a client would have to begin a fragment before an existing one"
    return HOLDS


def no_divergence_between_writer_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, it has every entry that w1 has acknowledged."""
    if s.meta_status == "closed" and s.w1.lac > s.meta_last_entry:
        return "w1 has acknowledged an entry that the closed ledger does not have"
    return HOLDS


def no_stuck_lac(s: State, c: Constants):
    """w2's LAC rises with what it writes back: an extra, false unless `count_from_lac` is on."""
    next_entry = s.w2.lac + 1
    if next_entry <= c.send_limit and len(s.w2.confirmed[next_entry]) >= c.ack_quorum:
        return "an entry that was written back is confirmed, and w2's LAC does not rise"
    return HOLDS


# --- Liveness ------------------------------------------------------------------------------------


def ledger_is_closed(s: State, c: Constants):
    """The ledger is closed, and w1 knows."""
    return s.meta_status == "closed" and s.w1.status == "closed"


def liveness():
    """w1 eventually closes the ledger. The original claims it under weak fairness of Next.

    It is false: lost messages may stop the ledger, and nobody tells w1 of a recovery.
    """
    return always_eventually(ledger_is_closed)


# --- The bound on a search: how many messages are lost at a time ----------------------------------


def count_lost_reads(messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return len(messages.no_such_entry.lost) + sum(
        len(reads.requests.lost) + sum(len(answer.lost) for answer in reads.responses)
        for reads in messages.reads
    )


def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = count_lost_fencing(s.messages) + count_lost_reads(s.messages)
    for adds in s.messages.adds:
        lost += count_lost_writes(adds)
    return within_lost_messages(c, lost)


# --- Situations ----------------------------------------------------------------------------------


def recovery_closes_the_ledger(s: State, c: Constants) -> bool:
    """A recovery closes the ledger."""
    return s.w2.status == "closed"


def w2_reads_while_a_bookie_is_not_fenced(s: State, c: Constants) -> bool:
    """w2 reads while a bookie of the last fragment is not fenced."""
    return (
        s.w2.recovery_phase == PENDING_READ_RESPONSE
        and s.w2.curr_fragment.ensemble & ~s.b_fenced != 0
    )


def w1_has_acknowledged_what_w2_has_not_read(s: State, c: Constants) -> bool:
    """w1 has acknowledged an entry beyond those that w2 has read, and w2 reads no further."""
    return s.w2.recovery_phase == WRITE and s.w1.lac > s.w2.lap


def a_stored_entry_is_cut_off(s: State, c: Constants) -> bool:
    """The ledger is closed before an entry that some bookie stores."""
    return s.meta_status == "closed" and any(
        has_entry(s, bookie, entry)
        for bookie in range(1, c.bookies + 1)
        for entry in range(s.meta_last_entry + 1, c.send_limit + 1)
    )
