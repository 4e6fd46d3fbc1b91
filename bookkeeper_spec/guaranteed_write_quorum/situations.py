"""Situations worth finding in `bookkeeper.guaranteed_write_quorum`."""

from bookkeeper_spec.actions.replacing import failed_bookies
from bookkeeper_spec.guaranteed_write_quorum.model import Constants, State, is_pinned
from bookkeeper_spec.model.ledger import OPEN
from protocol_lab import members


def an_acknowledged_entry_is_not_fully_replicated(s: State, c: Constants) -> bool:
    """An entry is acknowledged, and not on a write quorum yet."""
    return any(
        s.clients[k].status == OPEN and s.clients[k].lafr < s.clients[k].lac
        for k in range(1, c.clients + 1)
    )


def a_bookie_is_pinned(s: State, c: Constants) -> bool:
    """A bookie that timed out can't be replaced, since it has confirmed an acknowledged entry."""
    return any(
        s.clients[k].status == OPEN and is_pinned(s.clients[k], bookie)
        for k in range(1, c.clients + 1)
        for bookie in members(failed_bookies(s, c, k))
    )
