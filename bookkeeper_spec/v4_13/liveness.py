"""Liveness: w1 eventually closes the ledger, which is false."""

from bookkeeper_spec.model.ledger import CLOSED
from bookkeeper_spec.v4_13.model import Constants, State
from protocol_lab import always_eventually


def ledger_is_closed(s: State, c: Constants):
    """The ledger is closed, and w1 knows."""
    return s.meta_status == CLOSED and s.w1.status == CLOSED


def liveness():
    """w1 eventually closes the ledger. The original claims it under weak fairness of Next.

    It is false: lost messages may stop the ledger, and nobody tells w1 of a recovery.
    """
    return always_eventually(ledger_is_closed)
