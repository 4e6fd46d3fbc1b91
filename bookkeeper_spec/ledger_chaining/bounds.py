"""Bounds on a search: how many ledgers are created."""

from bookkeeper_spec.ledger_chaining.model import Constants, State
from protocol_lab import HOLDS


def ledger_limit(s: State, c: Constants):
    """How far to look: no ledger is created once the next id has reached the limit."""
    if s.md_next_lid < c.ledger_limit:
        return HOLDS
    return "the next ledger id has reached ledger_limit"
