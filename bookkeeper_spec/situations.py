"""Situations worth finding in `bookkeeper.protocol`."""

from bookkeeper_spec.model.clients import NO_ENTRY
from bookkeeper_spec.model.constants import Constants
from bookkeeper_spec.model.ledger import IN_RECOVERY, last_fragment
from bookkeeper_spec.model.state import State


def two_clients_recover_at_once(s: State, c: Constants) -> bool:
    """Two clients recover the ledger at the same time."""
    return sum(1 for k in range(1, c.clients + 1) if s.clients[k].status == IN_RECOVERY) > 1


def an_acknowledged_entry_was_not_read_yet(s: State, c: Constants) -> bool:
    """A recovery is under way, and has not read an entry that the writer has acknowledged."""
    return any(
        s.clients[k].status == IN_RECOVERY
        and s.clients[k].last_recoverable_entry == NO_ENTRY
        and s.clients[k].lap < s.clients[other].lac
        for k in range(1, c.clients + 1)
        for other in range(1, c.clients + 1)
        if s.clients[other].recovery_phase == 0
    )


def a_recovery_has_an_ensemble_of_its_own(s: State, c: Constants) -> bool:
    """A recovery has replaced a bookie, and the metadata do not know."""
    return any(
        s.clients[k].status == IN_RECOVERY
        and s.clients[k].curr_fragment.ensemble != last_fragment(s.meta_fragments).ensemble
        for k in range(1, c.clients + 1)
    )
