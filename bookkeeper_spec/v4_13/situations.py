"""Situations worth finding in `bookkeeper.v4_13`."""

from bookkeeper_spec.model.ledger import CLOSED, has_entry
from bookkeeper_spec.v4_13.model import PENDING_READ_RESPONSE, WRITE, Constants, State


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
    return s.meta_status == CLOSED and any(
        has_entry(s, bookie, entry)
        for bookie in range(1, c.bookies + 1)
        for entry in range(s.meta_last_entry + 1, c.send_limit + 1)
    )
