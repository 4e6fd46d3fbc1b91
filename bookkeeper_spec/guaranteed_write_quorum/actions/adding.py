"""A ledger's creator: it sends LAC and LAFR, and closes the ledger only when nothing is pending."""

from bookkeeper_spec.actions.adding import (
    drop_pending_ops,
    its_ensemble,
    max_contiguous_confirmed_entry,
    note_confirmation,
    send_next_entry,
    why_not_add,
)
from bookkeeper_spec.actions.metadata import close_ledger, why_not_change_metadata
from bookkeeper_spec.guaranteed_write_quorum.model import Constants, State, stamp_of
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import OPEN, Bookie, SomeEntry
from protocol_lab import TAKEN, Subset


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC and LAFR, to its current ensemble."""
    mine = s.clients[client]
    reason = why_not_add(c, mine)
    if len(reason) != 0:
        return reason
    adds = s.messages[client].adds
    return send_next_entry(c, mine, adds, mine.lap + 1, stamp_of(c, mine), lost)


def receive_add_confirmed_response(s, c, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is fully replicated."""
    mine = s.clients[client]
    reason = note_confirmation(mine, s.messages[client].adds, bookie, entry)
    if len(reason) != 0:
        return reason
    lac = max_contiguous_confirmed_entry(c, mine, mine.lac, c.ack_quorum)
    lafr = max_contiguous_confirmed_entry(c, mine, mine.lafr, c.write_quorum)
    mine.lac = max(mine.lac, lac)
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    return TAKEN


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: on an ack quorum, its caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The creator closes the ledger at its LAC, once everything is on a write quorum."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    if mine.pending_add_ops.size != 0:
        return "not everything is on a write quorum, as far as the client knows"
    close_ledger(s, mine, mine.lac)
    return TAKEN
