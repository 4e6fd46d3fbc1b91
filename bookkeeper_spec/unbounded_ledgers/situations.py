"""Situations worth finding in `bookkeeper.unbounded_ledgers`."""

from bookkeeper_spec.model.ledger import OPEN
from bookkeeper_spec.unbounded_ledgers.model import Constants, State
from protocol_lab import size


def two_terms_write_at_once(s: State, c: Constants) -> bool:
    """Two clients believe that they are the writer: only one has the term of the metadata."""
    return sum(1 for k in range(1, c.clients + 1) if s.clients[k].status == OPEN) > 1


def an_id_has_two_data(s: State, c: Constants) -> bool:
    """Two bookies store different data under the same id, which is allowed beyond their LACs."""
    for entry in range(1, c.send_limit + 1):
        data = 0
        for bookie in range(1, c.bookies + 1):
            data |= s.b_entries[bookie].data[entry]
        if size(data) > 1:
            return True
    return False
