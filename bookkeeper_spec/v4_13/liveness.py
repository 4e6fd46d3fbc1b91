"""Liveness: w1 eventually closes the ledger, which is false."""

from bookkeeper_spec.model.ledger import CLOSED
from bookkeeper_spec.v4_13.model import Constants, State
from protocol_lab import always_eventually


def ledger_is_closed(s: State, c: Constants):
    """The ledger is closed, and w1 knows."""
    return s.meta_status == CLOSED and s.w1.status == CLOSED


def liveness():
    """The ledger is closed by w1 in the end. The original claims it under weak fairness of Next.

    It is false: messages that are lost may stop the ledger, and after a recovery w1 is never told.
    """
    return always_eventually(ledger_is_closed)
