"""How a term of an unbounded ledger begins, and how it ends.

It begins with a recovery: fence the older term, read what there is, write it back, and open.

Fencing is by term: bookies reject what comes from an older term than they know of, and take a newer
one over with any request. The last entry that a recovery writes is empty, and truncates: whatever a
bookie has beyond it is deleted.
"""

from typing import NamedTuple

from bookkeeper_spec.adding import withdraw
from bookkeeper_spec.clients import NOT_STARTED, Client, publish_fragments
from bookkeeper_spec.full_replication import SomeMark, stamp, why_not_come_to
from bookkeeper_spec.ledger import IN_RECOVERY, OPEN, Bookie, Ledger, SomeEntry, data_of, has_entry
from bookkeeper_spec.messages import handle, ignore, is_earliest_answer, its_own, reply_to
from bookkeeper_spec.recovery import (
    NEED_MORE_RESPONSES,
    NO_SUCH_ENTRY,
    SomeData,
    ask_for_next_entry,
    count_reads_under_way,
    hear_of_fence,
    its_recovery_ensemble,
    its_write_ensemble,
    last_ensemble,
    read_status,
    read_time_outs,
    recovery_start,
    start_recovery,
    take_answer,
    why_not_decide,
    why_not_end_recovery,
    why_not_hear_answer,
    write_back,
)
from bookkeeper_spec.replacing import its_new_bookies
from bookkeeper_spec.term_writer import is_stale, no_op, receive_add_confirmed_response
from bookkeeper_spec.writing import add_pending_op, resend_pending_op
from protocol_lab import TAKEN, Named, Range, Subset, contains, size

# --- A term begins: fencing --------------------------------------------------------------------


def client_starts_new_term(s: Ledger, c: NamedTuple, client: Client, lost: Subset(last_ensemble)):
    """A client takes over: it raises the term in the metadata, and asks the last ensemble to."""
    mine = s.clients[client]
    reason = start_recovery(s, client, lost)
    if len(reason) != 0:
        return reason
    s.meta_term += 1
    mine.term = s.meta_term
    mine.recovery_ensemble = mine.curr_fragment.ensemble
    return TAKEN


def bookie_sends_fencing_read_lafr_response(
    s: Ledger, c: NamedTuple, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie takes the new term over, and tells its LAC and LAFR."""
    messages = s.messages[client]
    answer = messages.fence_responses[stamp(c, s.b_lac[bookie], s.b_lafr[bookie])]
    if not contains(messages.fence_requests.waiting, bookie):
        return "no fence request of the client is under way to this bookie"
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    reason = reply_to(messages.fence_requests, answer, bookie, lost)
    if len(reason) != 0:
        return reason
    s.b_term[bookie] = s.clients[client].term
    return TAKEN


def client_receives_fencing_read_lafr_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, lac: SomeMark, lafr: SomeMark
):
    """A recovery hears that a bookie has its term, and begins after the highest LAFR so far."""
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[stamp(c, lac, lafr)], bookie)
    if len(reason) != 0:
        return reason
    start = recovery_start(mine, lafr)
    mine.recovery_lafr = max(mine.recovery_lafr, start)
    mine.recovery_lac = max(mine.recovery_lac, recovery_start(mine, lac))
    mine.lap = max(mine.lap, start)
    return TAKEN


# --- A term begins: reading --------------------------------------------------------------------


def client_sends_recovery_read_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_recovery_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left with an older term."""
    return ask_for_next_entry(s, c, client, s.clients[client].trunc_entry != 0, lost)


def bookie_sends_read_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lost: Subset(its_own),
):
    """A bookie takes the term over, and answers with the entry or that it has no such entry."""
    reads = s.messages[client].reads[entry - 1]
    if not contains(reads.requests.waiting, bookie):
        return "no read of this entry is under way from the client to this bookie"
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    answer = reads.no_such_entry
    if has_entry(s, bookie, entry):
        answer = reads.responses[data_of(s, bookie, entry) - 1]
    reason = reply_to(reads.requests, answer, bookie, lost)
    if len(reason) != 0:
        return reason
    s.b_term[bookie] = s.clients[client].term
    return TAKEN


def client_receives_recovery_read_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, data: SomeData
):
    """A recovery is answered with data, or 0 for "no such entry", and decides if it can.

    A recovered entry is to be written back, and the next one read. Where there is no entry, an
    empty one that truncates ends the recovery. If nothing can be known, it is given up.
    """
    mine, messages = s.clients[client], s.messages[client]
    ensemble = mine.recovery_ensemble
    reason = why_not_hear_answer(s, client, bookie, data)
    if len(reason) != 0:
        return reason
    time_outs = read_time_outs(c, messages) | messages.read_refused.lost
    status = read_status(c, mine, bookie, data, time_outs)
    under_way = count_reads_under_way(c, messages, ensemble)
    reason = why_not_decide(c, status, under_way + size(messages.read_refused.waiting & ensemble))
    if len(reason) != 0:
        return reason
    entry = mine.curr_read_entry
    take_answer(s, c, client, bookie, data, status)
    if status != NEED_MORE_RESPONSES:
        ignore(messages.read_refused, ensemble)
    if status == NO_SUCH_ENTRY:
        mine.lap += 1
        mine.trunc_entry = entry
        messages.adds.of[entry - 1].trunc = 1
        add_pending_op(mine, entry, no_op(c))
    return TAKEN


# --- A term begins: writing back, and opening --------------------------------------------------


def recovery_stamp(c, mine) -> int:
    """The stamp of all that a recovery sends."""
    return stamp(c, mine.recovery_lac, mine.recovery_lafr)


def client_performs_recovery_write(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, or its empty last one, to its current ensemble."""
    return write_back(s, c, client, recovery_stamp(c, s.clients[client]), lost)


def recovery_client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def recovery_client_sends_pending_add_op(
    s: Ledger, c: NamedTuple, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_op(mine, s.messages[client].adds, entry, recovery_stamp(c, mine), lost)


def client_changes_term_to_open(s: Ledger, c: NamedTuple, client: Client):
    """Everything is written back, and truncated: the client opens the ledger, and may write."""
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.trunc_entry != 0)
    if len(reason) != 0:
        return reason
    publish_fragments(s, mine)
    s.meta_status = OPEN
    mine.status = OPEN
    mine.trunc_entry = 0
    mine.recovery_phase = NOT_STARTED
    mine.recovery_lac = 0
    mine.recovery_lafr = 0
    return TAKEN


# --- A term ends ---------------------------------------------------------------------------------

ADD, FENCE, READ = range(3)
Kind = Named(("add", "fence", "read"))


def bookie_rejects_request(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    kind: Kind,
    entry: Range(0, "send_limit"),
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie rejects what comes from an older term.

    Only adds carry a LAC and LAFR, and a fence request is about no entry: those are 0.
    """
    messages = s.messages[client]
    if not is_stale(s, bookie, client):
        return "the client's term is no older than the bookie's"
    if (entry == 0) != (kind == FENCE) or (kind != ADD and lac + lafr > 0):
        return "there is no such request"
    request, answer = messages.fence_requests, messages.fence_refused
    if kind == ADD:
        reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
        if len(reason) != 0:
            return reason
        request = messages.adds.of[entry - 1].requests[stamp(c, lac, lafr)]
        answer = messages.adds.of[entry - 1].refused
    elif kind == READ:
        request, answer = messages.reads[entry - 1].requests, messages.read_refused
    if not contains(request.waiting, bookie):
        return "no such request is under way to this bookie"
    return reply_to(request, answer, bookie, lost)


def client_withdraws(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    bookie: Bookie,
    kind: Kind,
    entry: Range(0, "send_limit"),
):
    """A client hears that its term is old, and gives up. The entry is that of an add, else 0."""
    mine, messages = s.clients[client], s.messages[client]
    if (entry != 0) != (kind == ADD):
        return "there is no such answer"
    answer = messages.fence_refused
    if kind == ADD:
        answer = messages.adds.of[entry - 1].refused
        if not is_earliest_answer(messages.adds, entry, bookie):
            return "an answer about an earlier entry is under way from this bookie"
    elif kind == READ:
        answer = messages.read_refused
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    withdraw(mine)
    handle(answer, bookie)
    return TAKEN
