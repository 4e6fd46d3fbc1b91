"""Bounds on a search: how many ledgers are created."""

from bookkeeper_spec.ledger_chaining.model import Constants, State
from protocol_lab import HOLDS


def ledger_limit(s: State, c: Constants):
    """How far to look: states whose next ledger id has reached the limit are not expanded."""
    if s.md_next_lid < c.ledger_limit:
        return HOLDS
    return "the next ledger id has reached ledger_limit"
