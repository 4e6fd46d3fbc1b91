"""What clients do differently from `bookkeeper.protocol`, apart from reads and ensemble changes.

None of it has to do with limbo: the original was written from the protocol of 4.13. Where it asks
whether an earlier message is under way, it does not distinguish between several recoveries.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import (
    its_ensemble,
    receive_confirmation,
    send_next_entry,
    withdraw,
)
from bookkeeper_spec.actions.metadata import close_ledger
from bookkeeper_spec.actions.recovery import (
    last_ensemble,
    start_recovery,
    why_not_end_recovery,
    write_back_next_entry,
)
from bookkeeper_spec.actions.replacing import client_resends_pending_add_op, its_new_bookies
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import IN_RECOVERY, OPEN, Bookie, Ledger, SomeEntry
from bookkeeper_spec.model.messages import is_earliest_answer
from bookkeeper_spec.v4_13.actions.reading_first import its_write_ensemble
from bookkeeper_spec.v4_13.model import WRITE
from bookkeeper_spec.with_limbo.model import same_kind
from protocol_lab import TAKEN, Subset

# --- The creator ---------------------------------------------------------------------------------


def client_sends_add_entry_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, whatever is unconfirmed, to its current ensemble."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    return send_next_entry(c, mine, s.messages[client].adds, mine.lap + 1, mine.lac, lost)


def client_sends_pending_add_op(
    s: Ledger, c: NamedTuple, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookie."""
    return client_resends_pending_add_op(s, c, client, entry, lost)


def client_closes_ledger_fail(s: Ledger, c: NamedTuple, client: Client):
    """The creator tries to close the ledger, but somebody has changed it: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status == OPEN:
        return "the client has no open ledger, or nobody recovers it"
    if mine.meta_version == s.meta_version:
        return "the client knows the latest metadata"
    withdraw(mine)
    return TAKEN


# --- Recoveries ----------------------------------------------------------------------------------


def client_starts_recovery(s: Ledger, c: NamedTuple, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs."""
    return start_recovery(s, client, lost)


def write_ensemble(s, client) -> int:
    """The bookies to which a recovery writes entries back."""
    return its_write_ensemble(s.clients[client])


def client_writes_back_entry(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.recovery_phase != WRITE:
        return "the recovery has not read all there is"
    return write_back_next_entry(c, mine, s.messages[client].adds, mine.lac, lost)


def recovery_client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_answer(adds, entry, bookie):
            return "an answer about an earlier entry is under way from this bookie"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def recovery_client_closes_ledger(s: Ledger, c: NamedTuple, client: Client):
    """All that was read is written back: the recovery closes the ledger at its LAC."""
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.recovery_phase == WRITE)
    if len(reason) != 0:
        return reason
    if mine.fragments != s.meta_fragments and not c.close_with_own_fragments:
        return "the recovery has changed the ensemble (the original can't close then)"
    s.meta_fragments = mine.fragments
    close_ledger(s, mine, mine.lac)
    return TAKEN
