"""How entries get onto bookies: a client creates a ledger and adds entries, bookies store them and
answer, and a client replaces bookies that fail. What else a recovery does is in `recovery`.

Functions that take `writer` and `messages` are also used by recoveries: `writer` is the client's
own record, `messages` its adds, and `stamp` distinguishes the requests for one entry (see `model`).
Like actions they return the reason why not before they change anything.

In this order: changes of the metadata; the ledger is created; entries are sent, stored by bookies
and confirmed; bookies that fail are replaced, and pending entries sent again; bookies fence and
answer reads; the creator learns of it, or closes the ledger.
"""

from bookkeeper_spec.model import *
from protocol_lab import *

# --- Changes of the metadata, by compare-and-set on their version --------------------------------


def why_not_change_metadata(s, mine) -> str:
    """Why the writer can't change the metadata: somebody else has. "" if it can."""
    if mine.status != "open" or s.meta_status != "open":
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    return TAKEN


def publish_fragments(s, mine) -> None:
    """Write the client's fragments to the metadata."""
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    mine.meta_version = s.meta_version


# --- Creating ------------------------------------------------------------------------------------


def first_ensembles(s: State, c: Constants) -> NodeSet(Bookie):
    """The bookies for the first ensemble."""
    return bookies_to_choose(s, c, 0, 0) if s.meta_status == "nil" else placeholder_ensemble(c)


def create_ledger(s, client, ensemble) -> str:
    """Write the metadata of an open ledger with one fragment; the bookies are not told."""
    mine = s.clients[client]
    if s.meta_status != "nil" or mine.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = "open"
    s.meta_version = 1
    mine.status = "open"
    mine.meta_version = 1
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last(s.meta_fragments)
    return TAKEN


def client_creates_ledger(
    s: State, c: Constants, client: Client, ensemble: Subset(first_ensembles, "write_quorum")
):
    """A client chooses the first ensemble; the bookies are not told."""
    return create_ledger(s, client, ensemble)


# --- Sending -------------------------------------------------------------------------------------


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


def its_ensemble(s: State, client) -> NodeSet(Bookie):
    """The bookies to which the creator sends what it adds."""
    return s.clients[client].curr_fragment.ensemble if s.clients[client].status == "open" else 0


def why_not_add(c, mine) -> str:
    """Why a client may not add an entry now; "" if it may."""
    if mine.status != "open":
        return "the client has no open ledger"
    if mine.lap - mine.lac >= c.inflight_limit:
        return "inflight_limit entries are unconfirmed"
    return TAKEN


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC, to all bookies of its current ensemble.

    A bookie learns from nothing else what is confirmed. So after a change of the ensemble the new
    bookies know of nothing, which is where defect 2 of `v4_13` comes from.
    """
    mine = s.clients[client]
    reason = why_not_add(c, mine)
    if reason:
        return reason
    return send_next_entry(c, mine, s.messages[client].adds, mine.lap + 1, mine.lac, lost)


# --- Bookies: adds ------------------------------------------------------------------------------


def accept_add(s, bookie, client, entry, stamp, lost) -> str:
    """A bookie says that it stores an entry. Once fenced, it does so for a recovery only."""
    adds = s.messages[client].adds.of[entry - 1]
    if bookie in s.b_fenced and not recovers(s, client):
        return "the ledger is fenced on this bookie"
    return reply_to(adds.requests[stamp], adds.confirmed, bookie, lost)


def refuse_add(s, bookie, client, entry, stamp, lost) -> str:
    """A bookie on which the ledger is fenced refuses an add, unless a recovery asks for it."""
    adds = s.messages[client].adds.of[entry - 1]
    if recovers(s, client):
        return "a recovery's adds are not refused"
    if bookie not in s.b_fenced:
        return "the ledger is not fenced on this bookie"
    return reply_to(adds.requests[stamp], adds.refused, bookie, lost)


def bookie_sends_add_confirmed_response(
    s,
    c,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only.

    A bookie that forgets that it was fenced, and stores the creator's entry after all, breaks
    no_divergence_between_client_and_meta_data: 12 steps in `with_limbo` with one bookie and
    `fence_on_unclean_shutdown` off.
    """
    reason = why_not_handle_add(s.messages[client].adds, entry, lac, bookie)
    if reason:
        return reason
    reason = accept_add(s, bookie, client, entry, lac, lost)
    if reason:
        return reason
    store(s, bookie, entry, s.messages[client].adds.of[entry - 1].data, lac)
    return TAKEN


def bookie_sends_add_fenced_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of the creator."""
    reason = why_not_handle_add(s.messages[client].adds, entry, lac, bookie)
    if reason:
        return reason
    return refuse_add(s, bookie, client, entry, lac, lost)


# --- Confirmations -------------------------------------------------------------------------------


def note_confirmation(writer, messages, bookie, entry) -> str:
    """Note that a bookie has stored an entry."""
    mail = messages.of[entry - 1].confirmed
    if bookie not in mail.waiting:
        return "no confirmation of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    if bookie not in writer.curr_fragment.ensemble:
        return "the bookie is not in the client's current ensemble"
    handle(mail, bookie)
    writer.confirmed[entry] = with_node(writer.confirmed[entry], bookie)
    return TAKEN


def max_contiguous_confirmed_entry(c, writer, known, quorum) -> int:
    """The last entry up to which a quorum of bookies has confirmed every entry.

    The original counts from entry 1, and a recoverer knows of no confirmations of entries before
    its LAC. So a recoverer that began at a LAC of 1 or more and wrote an entry back waits forever.
    BookKeeper counts from what is known already; `count_from_lac` does that.
    """
    return confirmed_from(c, writer, known if c.count_from_lac else 0, quorum)


def receive_confirmation(c, writer, messages, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise the LAC, and drop what is done with."""
    reason = note_confirmation(writer, messages, bookie, entry)
    if reason:
        return reason
    reached = max_contiguous_confirmed_entry(c, writer, writer.lac, c.ack_quorum)
    writer.lac = max(writer.lac, reached)
    drop_pending_ops(writer, reached)
    return TAKEN


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: the LAC may rise, and the caller is told."""
    if s.clients[client].status != "open":
        return "the client has no open ledger"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


# --- Ensemble changes ----------------------------------------------------------------------------


def why_not_replace(s, writer, failed, ensemble) -> str:
    """Why a client can't replace its ensemble with this one; "" if it can."""
    good = writer.curr_fragment.ensemble & ~failed
    if has_pending_resends(writer):
        return "pending adds have to be sent to the new ensemble first"
    if not is_valid_ensemble(s, ensemble, good, failed):
        return "the ensemble lacks a good bookie, has a failed one, or is a fragment's already"
    return TAKEN


def failed_bookies(s, client) -> NodeSet(Bookie):
    """All bookies of the client's current ensemble to which an add has timed out."""
    return s.clients[client].curr_fragment.ensemble & add_time_outs(s.messages[client].adds)


def replacements(s: State, c: Constants, client) -> NodeSet(Bookie):
    """The bookies for an ensemble without those that failed."""
    failed = failed_bookies(s, client)
    if failed == 0:
        return placeholder_ensemble(c)
    return bookies_to_choose(s, c, s.clients[client].curr_fragment.ensemble & ~failed, failed)


def go_on_without(s, c, client, failed, first_entry_id, ensemble) -> str:
    """Begin a new fragment at an entry, without the bookies that failed."""
    mine = s.clients[client]
    reason = why_not_replace(s, mine, failed, ensemble)
    if reason:
        return reason
    begin_fragment(c, mine, mine.fragments, first_entry_id, failed, ensemble)
    act_upon_add_time_outs(s.messages[client].adds, failed)
    return TAKEN


def replace_failed(s: State, c: Constants, client, ensemble) -> str:
    """Begin a new fragment after the LAC, if bookies have failed."""
    failed = failed_bookies(s, client)
    if failed == 0:
        return "no add to a bookie of the current ensemble has timed out"
    return go_on_without(s, c, client, failed, s.clients[client].lac + 1, ensemble)


def client_changes_ensemble(
    s: State, c: Constants, client: Client, ensemble: Subset(replacements, "write_quorum")
):
    """Adds of the creator timed out: it replaces all bookies that failed, in the metadata too.

    The new fragment begins after the LAC: what is confirmed stays where it is, and whatever is
    not goes to the new ensemble (`client_resends_pending_add_op`).
    """
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if reason:
        return reason
    reason = replace_failed(s, c, client, ensemble)
    if reason:
        return reason
    publish_fragments(s, mine)
    return TAKEN


def recovery_client_changes_ensemble(
    s: State, c: Constants, client: Client, ensemble: Subset(replacements, "write_quorum")
):
    """Write backs timed out: the recovery replaces the bookies, and tells nobody for now."""
    if s.clients[client].status != "in_recovery" or s.meta_status != "in_recovery":
        return "the client does not recover, or the ledger is closed"
    return replace_failed(s, c, client, ensemble)


# --- Sending again -------------------------------------------------------------------------------


def resend(writer, messages, op, stamp, lost) -> str:
    """Send a pending add to those bookies of the new ensemble that were not in its own."""
    fragment, entry = writer.curr_fragment, op.entry.id
    if not needs_resend(op, fragment):
        return "the entry was sent to the current ensemble"
    if is_sent_later(writer, op):
        return "an earlier entry that went to the same ensemble comes first"
    bookies = fragment.ensemble & ~op.ensemble
    if were_adds_sent(messages.of[entry - 1], stamp, bookies):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], op.entry.data, stamp, bookies, lost)
    sent = PendingAddOp(entry=op.entry, fragment_id=fragment.id, ensemble=fragment.ensemble)
    take(writer.pending_add_ops, op)
    add(writer.pending_add_ops, sent)
    return TAKEN


def resend_pending_op(writer, messages, entry, stamp, lost) -> str:
    """Send the pending add of an entry again, to bookies that are new in the ensemble."""
    for op in writer.pending_add_ops:
        if op.entry.id == entry:
            return resend(writer, messages, op, stamp, lost)
    return "the entry is not pending"


def its_new_bookies(s: State, client, entry) -> NodeSet(Bookie):
    """The bookies to which a client has not sent a pending add."""
    return new_bookies_for(s.clients[client], entry)


def client_resends_pending_add_op(
    s, c, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != "open":
        return "the client has no open ledger"
    return resend_pending_op(mine, s.messages[client].adds, entry, mine.lac, lost)


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes an unconfirmed entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != "in_recovery":
        return "the client does not recover"
    return resend_pending_op(mine, s.messages[client].adds, entry, mine.lac, lost)


# --- Bookies: fencing ----------------------------------------------------------------------------


def fence(s, messages, bookie, mark, lost) -> str:
    """A bookie fences the ledger at a client's request, and answers with `mark`, the last entry
    that it knows to be confirmed.
    """
    if bookie not in messages.fence_requests.waiting:
        return "no fence request of the client is under way to this bookie"
    reason = reply_to(messages.fence_requests, messages.fence_responses[mark], bookie, lost)
    if reason:
        return reason
    s.b_fenced = with_node(s.b_fenced, bookie)
    return TAKEN


def bookie_sends_fencing_read_lac_response(
    s, c, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it knows the ledger or not, and tells its LAC."""
    return fence(s, s.messages[client], bookie, s.b_lac[bookie], lost)


# --- Bookies: reads ------------------------------------------------------------------------------


def bookie_sends_read_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie fences the ledger, and answers with the entry or that it has no such entry.

    That the read fences, too, fixes defect 1 of 4.13: a bookie that has denied an entry must not
    store it afterwards. Without it (`recovery_reads_fence` off), with two bookies and quorums of 2,
    13 steps to no_divergence_between_client_and_meta_data. The exercise `make_a_no_last` asks which
    of these fences are needed.
    """
    reads = s.messages[client].reads[entry - 1]
    if bookie not in reads.requests.waiting:
        return "no read of this entry is under way from the client to this bookie"
    answer = answer_from(s, c, bookie, reads, entry, reads.no_such_entry)
    reason = reply_to(reads.requests, answer, bookie, lost)
    if reason:
        return reason
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    return TAKEN


# --- Fenced --------------------------------------------------------------------------------------


def withdraw(mine) -> None:
    """The client gives up: somebody recovers the ledger."""
    mine.status = "client_withdrawn"
    mine.meta_version = 0


def client_receives_add_fenced_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """The creator learns that the ledger is fenced: somebody recovers it, and it withdraws."""
    mine, adds = s.clients[client], s.messages[client].adds
    if mine.status != "open":
        return "the client has no open ledger"
    reason = why_not_hear_refusal(adds, entry, bookie)
    if reason:
        return reason
    if bookie not in mine.curr_fragment.ensemble:
        return "the bookie is not in the client's current ensemble"
    mine.status = "client_withdrawn"
    handle(adds.of[entry - 1].refused, bookie)
    return TAKEN


# --- Closing -------------------------------------------------------------------------------------


def close_over_recovery(s: State, mine) -> str:
    """Close the ledger at the creator's LAC, although somebody recovers it.

    As BookKeeper 4.18.0 does: its close reads the metadata again, and writes CLOSED over
    IN_RECOVERY. A creator that learns that it is fenced closes on its own.
    """
    if mine.status != "open" and mine.status != "client_withdrawn":
        return "the client has not created the ledger, or has closed it"
    close_ledger(s, mine, mine.lac)
    return TAKEN


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The creator closes the ledger at its LAC, whenever it likes, if it knows the metadata.

    A recovery has changed their version, so that of a creator and a recovery only one closes.
    """
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if reason:
        return reason
    close_ledger(s, mine, mine.lac)
    return TAKEN


def client_closes_ledger_fail(s: State, c: Constants, client: Client):
    """The creator tries to close the ledger, but somebody recovers it: it withdraws."""
    mine = s.clients[client]
    if mine.status != "open" or s.meta_status == "open":
        return "the client has no open ledger, or nobody recovers it"
    withdraw(mine)
    return TAKEN
