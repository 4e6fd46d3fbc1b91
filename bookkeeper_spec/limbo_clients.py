"""What differs in `with_limbo` from today's protocol although it has nothing to do with limbo.

It was written from the protocol of 4.13. So a recovery reads everything first (`limbo_reading`),
and bookies that fail are replaced one at a time (`limbo_replacing`). And the original asks some
things of all recoveries together, because it does not tell them apart: whether an earlier message
is under way, and who has timed out.
"""

from typing import NamedTuple

from bookkeeper_spec.adding import its_ensemble, withdraw
from bookkeeper_spec.bookies import confirm_add
from bookkeeper_spec.clients import Client, close_ledger, recovers
from bookkeeper_spec.ledger import IN_RECOVERY, OPEN, Bookie, Ledger, SomeEntry, SomeLac
from bookkeeper_spec.messages import (
    add_time_outs,
    is_earliest_answer,
    is_earliest_request,
    its_own,
    why_not_handle_add,
)
from bookkeeper_spec.reading_first import WRITE, its_write_ensemble
from bookkeeper_spec.recovery import last_ensemble, start_recovery, why_not_end_recovery
from bookkeeper_spec.replacing import client_resends_pending_add_op, its_new_bookies
from bookkeeper_spec.writing import (
    receive_confirmation,
    send_next_entry,
    write_back_next_entry,
)
from protocol_lab import TAKEN, Subset

# --- Recoveries that the original does not tell apart ---------------------------------------------


def same_kind(s, client, other) -> bool:
    """Do both recover, or neither? There is one creator, but there may be several recoveries."""
    return recovers(s, client) == recovers(s, other)


def bookie_sends_add_confirmed_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    reason = why_not_handle_add(c, s.messages[client].adds, entry, lac, bookie)
    if len(reason) != 0:
        return reason
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_request(c, adds, entry, bookie):
            return "another recovery's request for an earlier entry is under way to this bookie"
    return confirm_add(s, bookie, client, entry, lac, lost)


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


def write_time_outs(s, c, client) -> int:
    """The bookies of which a client of this kind has lost an add, or an answer to one."""
    bookies = 0
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            bookies |= add_time_outs(c, s.messages[other].adds)
    return bookies


# --- What else differs from today's protocol -----------------------------------------------------


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
