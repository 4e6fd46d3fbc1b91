"""A ledger's creator: it creates the ledger, adds entries, receives confirmations, and closes it.

Functions that take `writer` and `messages` are also used by recoveries: `writer` is the client's
own record, `messages` its adds, and `stamp` distinguishes the requests for one entry (see
`model.messages`). Like actions they return the reason why not before they change anything.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.metadata import close_ledger, why_not_change_metadata
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import (
    NIL,
    OPEN,
    WITHDRAWN,
    Bookie,
    Entry,
    Fragment,
    Ledger,
    PendingAddOp,
    SomeEntry,
    bookies_to_choose,
    last_fragment,
    no_ensemble,
)
from bookkeeper_spec.model.messages import (
    handle,
    is_earliest_answer,
    send,
    were_adds_sent,
    why_not_hear_refusal,
)
from protocol_lab import TAKEN, Subset, add, append, contains, size, take, with_node

# --- Creating ------------------------------------------------------------------------------------


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


# --- Sending -------------------------------------------------------------------------------------


def send_adds(adds, data, stamp, bookies, lost) -> None:
    """Ask these bookies to add an entry; the requests to `lost` get lost."""
    if bookies != 0:
        adds.data = data
        send(adds.requests[stamp], bookies, lost)


def add_pending_op(writer, entry, data) -> None:
    """Remember that an entry is to be confirmed by the current ensemble."""
    add(
        writer.pending_add_ops,
        PendingAddOp(
            entry=Entry(id=entry, data=data),
            fragment_id=writer.curr_fragment.id,
            ensemble=writer.curr_fragment.ensemble,
        ),
    )


def send_next_entry(c, writer, messages, data, stamp, lost) -> str:
    """Send the next entry, with these data, to every bookie of the current ensemble."""
    entry, ensemble = writer.lap + 1, writer.curr_fragment.ensemble
    if entry > c.send_limit:
        return "the client has sent everything that it has to send"
    if were_adds_sent(messages.of[entry - 1], stamp, ensemble):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], data, stamp, ensemble, lost)
    writer.lap = entry
    add_pending_op(writer, entry, data)
    return TAKEN


def its_ensemble(s, client) -> int:
    """The bookies to which the creator sends what it adds."""
    return s.clients[client].curr_fragment.ensemble if s.clients[client].status == OPEN else 0


def why_not_add(c, mine) -> str:
    """Why a client may not add an entry now; "" if it may."""
    if mine.status != OPEN:
        return "the client has no open ledger"
    if mine.lap - mine.lac >= c.inflight_limit:
        return "inflight_limit entries are unconfirmed"
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


# --- Confirmations -------------------------------------------------------------------------------


def note_confirmation(writer, messages, bookie, entry) -> str:
    """Note that a bookie has stored an entry."""
    mail = messages.of[entry - 1].confirmed
    if not contains(mail.waiting, bookie):
        return "no confirmation of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    if not contains(writer.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    handle(mail, bookie)
    writer.confirmed[entry] = with_node(writer.confirmed[entry], bookie)
    return TAKEN


def confirmed_from(c, writer, known, quorum) -> int:
    """The last entry up to which a quorum of bookies confirmed every entry after `known`."""
    entry = known
    while entry < c.send_limit and size(writer.confirmed[entry + 1]) >= quorum:
        entry += 1
    return entry


def max_contiguous_confirmed_entry(c, writer, known, quorum) -> int:
    """The last entry up to which a quorum of bookies has confirmed every entry.

    The original counts from entry 1, and a recoverer knows of no confirmations of entries before
    its LAC. So a recoverer that began at a LAC of 1 or more and wrote an entry back waits forever.
    BookKeeper counts from what is known already; `count_from_lac` does that.
    """
    return confirmed_from(c, writer, known if c.count_from_lac else 0, quorum)


def drop_pending_ops(writer, reached) -> None:
    """Forget the pending adds up to an entry: enough bookies have confirmed them."""
    ops = writer.pending_add_ops
    position = 0
    while position < ops.size:
        if ops.items[position].entry.id <= reached:
            take(ops, ops.items[position])
        else:
            position += 1


def receive_confirmation(c, writer, messages, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise the LAC, and drop what is done with."""
    reason = note_confirmation(writer, messages, bookie, entry)
    if len(reason) != 0:
        return reason
    reached = max_contiguous_confirmed_entry(c, writer, writer.lac, c.ack_quorum)
    writer.lac = max(writer.lac, reached)
    drop_pending_ops(writer, reached)
    return TAKEN


def client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: the LAC may rise, and the caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


# --- Fenced --------------------------------------------------------------------------------------


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


# --- Closing -------------------------------------------------------------------------------------


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
