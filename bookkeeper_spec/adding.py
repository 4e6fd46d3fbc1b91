"""A ledger's creator: it adds entries, hears of them, and closes the ledger or withdraws."""

from typing import NamedTuple

from bookkeeper_spec.clients import Client, close_ledger, why_not_change_metadata
from bookkeeper_spec.ledger import (
    NIL,
    OPEN,
    WITHDRAWN,
    Bookie,
    Fragment,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    last_fragment,
    no_ensemble,
)
from bookkeeper_spec.messages import handle, why_not_hear_refusal
from bookkeeper_spec.writing import receive_confirmation, send_next_entry
from protocol_lab import TAKEN, Subset, append, contains

# --- Creating ----------------------------------------------------------------------------------


def first_ensembles(s, c) -> int:
    """The bookies for the first ensemble."""
    return bookies_to_choose(s, c, 0, 0) if s.meta_status == NIL else no_ensemble(c)


def create_ledger(s, client, ensemble) -> str:
    """Write the metadata of an open ledger with one fragment; the bookies are not told."""
    mine = s.clients[client]
    if s.meta_status != NIL or mine.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = OPEN
    s.meta_version = 1
    mine.status = OPEN
    mine.meta_version = 1
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last_fragment(s.meta_fragments)
    return TAKEN


def client_creates_ledger(
    s: Ledger, c: NamedTuple, client: Client, ensemble: Subset(first_ensembles, "write_quorum")
):
    """A client chooses the first ensemble; the bookies are not told."""
    return create_ledger(s, client, ensemble)


# --- Adding ------------------------------------------------------------------------------------


def its_ensemble(s, client) -> int:
    """The bookies to which the creator sends what it adds."""
    return s.clients[client].curr_fragment.ensemble if s.clients[client].status == OPEN else 0


def why_not_add(c, mine) -> str:
    """Why a client may not add an entry now; "" if it may."""
    if mine.status != OPEN:
        return "the client has no open ledger"
    if mine.lap - mine.lac >= c.inflight_limit:
        return "as many entries as may be are unconfirmed"
    return TAKEN


def client_sends_add_entry_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC, to all bookies of its current ensemble."""
    mine = s.clients[client]
    reason = why_not_add(c, mine)
    if len(reason) != 0:
        return reason
    return send_next_entry(c, mine, s.messages[client].adds, mine.lap + 1, mine.lac, lost)


def client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: the LAC may rise, and the caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def withdraw(mine) -> None:
    """The client gives up: somebody recovers the ledger."""
    mine.status = WITHDRAWN
    mine.meta_version = 0


def client_receives_add_fenced_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """The creator hears that the ledger is fenced: somebody recovers it, and it withdraws."""
    mine, adds = s.clients[client], s.messages[client].adds
    if mine.status != OPEN:
        return "the client has no open ledger"
    reason = why_not_hear_refusal(adds, entry, bookie)
    if len(reason) != 0:
        return reason
    if not contains(mine.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    mine.status = WITHDRAWN
    handle(adds.of[entry - 1].refused, bookie)
    return TAKEN


# --- Closing -----------------------------------------------------------------------------------


def client_closes_ledger_success(s: Ledger, c: NamedTuple, client: Client):
    """The creator closes the ledger at its LAC, whenever it likes, if it knows the metadata."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    close_ledger(s, mine, mine.lac)
    return TAKEN


def client_closes_ledger_fail(s: Ledger, c: NamedTuple, client: Client):
    """The creator tries to close the ledger, but somebody recovers it: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status == OPEN:
        return "the client has no open ledger, or nobody recovers it"
    withdraw(mine)
    return TAKEN
