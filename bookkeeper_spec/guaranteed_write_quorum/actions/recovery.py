"""Recovery: it begins after the highest LAFR, and its writes carry both marks."""

from bookkeeper_spec.actions.recovery import (
    hear_of_fence,
    its_write_ensemble,
    recovery_start,
    write_back,
)
from bookkeeper_spec.guaranteed_write_quorum.actions.adding import receive_add_confirmed_response
from bookkeeper_spec.guaranteed_write_quorum.model import Constants, SomeMark, State, stamp_of
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import IN_RECOVERY, Bookie, SomeEntry
from protocol_lab import TAKEN, Subset


def client_receives_fencing_read_lafr_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lafr: SomeMark
):
    """A recovery hears that a bookie is fenced, and begins after the highest LAFR so far."""
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[lafr], bookie)
    if len(reason) != 0:
        return reason
    start = recovery_start(mine, lafr)
    mine.lafr = max(mine.lafr, start)
    mine.lac = max(mine.lac, start)
    mine.lap = max(mine.lap, start)
    return TAKEN


def client_writes_back_entry(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    return write_back(s, c, client, stamp_of(c, s.clients[client]), lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return receive_add_confirmed_response(s, c, client, bookie, entry)
