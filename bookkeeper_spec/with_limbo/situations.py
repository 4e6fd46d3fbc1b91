"""Situations worth finding in `bookkeeper.with_limbo`."""

from bookkeeper_spec.model.ledger import IN_RECOVERY
from bookkeeper_spec.with_limbo.model import Constants, State


def a_bookie_is_in_limbo(s: State, c: Constants) -> bool:
    """A bookie has crashed, and does not know any more what it had."""
    return s.b_limbo != 0


def a_recovery_hears_that_a_bookie_does_not_know(s: State, c: Constants) -> bool:
    """A recovery has an answer from a bookie in limbo, which is neither yes nor no."""
    return any(
        s.clients[k].status == IN_RECOVERY and s.clients[k].is_unknown != 0
        for k in range(1, c.clients + 1)
    )
