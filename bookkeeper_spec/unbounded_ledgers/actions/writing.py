"""The writer of a term: it creates the ledger, adds entries, and closes the ledger."""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import (
    confirmed_from,
    create_ledger,
    drop_pending_ops,
    first_ensembles,
    its_ensemble,
    note_confirmation,
    send_next_entry,
    why_not_add,
    withdraw,
)
from bookkeeper_spec.actions.metadata import close_ledger, why_not_change_metadata
from bookkeeper_spec.guaranteed_write_quorum.actions.bookies import keep_marks, why_not_come_to
from bookkeeper_spec.guaranteed_write_quorum.model import SomeMark, stamp, stamp_of
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import OPEN, Bookie, Ledger, SomeEntry
from bookkeeper_spec.model.messages import its_own, reply_to
from bookkeeper_spec.unbounded_ledgers.model import is_stale, values
from protocol_lab import TAKEN, Subset, only, with_node

# --- Creating and adding -------------------------------------------------------------------------


def client_creates_ledger(
    s: Ledger, c: NamedTuple, client: Client, ensemble: Subset(first_ensembles, "write_quorum")
):
    """A client chooses the first ensemble, and begins the first term; the bookies are not told."""
    reason = create_ledger(s, client, ensemble)
    if len(reason) != 0:
        return reason
    s.meta_term = 1
    s.clients[client].term = 1
    return TAKEN


def unsent_values(s, c, client, lost) -> int:
    """Once for each value that was not sent: the original asks whether there is one."""
    return values(c) - s.sent_values


def client_sends_add_entry_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_ensemble)
):
    """The writer sends the next value, with its LAC and LAFR, to its current ensemble."""
    mine, adds = s.clients[client], s.messages[client].adds
    reason = why_not_add(c, mine)
    if len(reason) != 0:
        return reason
    if s.sent_values == values(c):
        return "every value was sent"
    reason = send_next_entry(c, mine, adds, s.sent_values + 1, stamp_of(c, mine), lost)
    if len(reason) != 0:
        return reason
    s.sent_values += 1
    return TAKEN


def bookie_sends_add_confirmed_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie stores an entry instead of what it had, and nothing beyond it if it truncates."""
    adds = s.messages[client].adds.of[entry - 1]
    reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
    if len(reason) != 0:
        return reason
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    reason = reply_to(adds.requests[stamp(c, lac, lafr)], adds.confirmed, bookie, lost)
    if len(reason) != 0:
        return reason
    s.b_term[bookie] = s.clients[client].term
    s.b_entries[bookie].data[entry] = only(adds.data)
    if adds.trunc:
        for beyond in range(entry + 1, c.send_limit + 1):
            s.b_entries[bookie].data[beyond] = 0
    keep_marks(s, bookie, lac, lafr)
    return TAKEN


def receive_add_confirmed_response(s, c, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is up to the LAFR."""
    mine, adds = s.clients[client], s.messages[client].adds
    reason = note_confirmation(mine, adds, bookie, entry)
    if len(reason) != 0:
        return reason
    lac = confirmed_from(c, mine, mine.lac, c.ack_quorum)
    known = mine.lafr if c.count_from_lafr else mine.lac
    lafr = confirmed_from(c, mine, known, c.write_quorum)
    mine.lac = lac
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    if mine.status == OPEN and lac >= entry:
        s.acked_values = with_node(s.acked_values, adds.of[entry - 1].data)
    return TAKEN


def client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the writer: on an ack quorum, its caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


# --- Closing -------------------------------------------------------------------------------------


def client_closes_ledger_success(s: Ledger, c: NamedTuple, client: Client):
    """The writer of the present term closes the ledger at its LAC, once nothing is pending."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    if mine.term != s.meta_term:
        return "the ledger has a newer term"
    if mine.pending_add_ops.size != 0:
        return "not everything is on a write quorum, as far as the client knows"
    close_ledger(s, mine, mine.lac)
    return TAKEN


def reasons_to_fail(s, c, client) -> int:
    """How many of the original's disjuncts hold: not open, another term, another version."""
    mine = s.clients[client]
    return (
        (s.meta_status != OPEN) + (mine.term != s.meta_term) + (mine.meta_version != s.meta_version)
    )


def client_closes_ledger_fail(s: Ledger, c: NamedTuple, client: Client):
    """The writer tries to close the ledger, but another has taken over: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    if reasons_to_fail(s, c, client) == 0:
        return "nobody has changed the metadata"
    withdraw(mine)
    return TAKEN
