"""Liveness: the ledger is eventually closed."""

from bookkeeper_spec.model.ledger import CLOSED
from protocol_lab import always_eventually


def ledger_is_closed(s, c) -> bool:
    """The ledger is closed, and a client knows."""
    return s.meta_status == CLOSED and any(
        s.clients[client].status == CLOSED for client in range(1, c.clients + 1)
    )


def liveness():
    """The ledger is eventually closed. The original means to claim it under weak fairness of Next.

    TLC can't evaluate it as written there. It is false: a client that lost messages may stop.
    """
    return always_eventually(ledger_is_closed)
