"""Liveness: the ledger is eventually closed."""

from bookkeeper_spec.model.ledger import CLOSED
from protocol_lab import always_eventually


def ledger_is_closed(s, c) -> bool:
    """The ledger is closed, and a client knows."""
    return s.meta_status == CLOSED and any(
        s.clients[client].status == CLOSED for client in range(1, c.clients + 1)
    )


def liveness():
    """The ledger is closed in the end. The original means to claim it under weak fairness of Next.

    As it is written there it can't be evaluated. It is false: who has lost messages may stop.
    """
    return always_eventually(ledger_is_closed)
