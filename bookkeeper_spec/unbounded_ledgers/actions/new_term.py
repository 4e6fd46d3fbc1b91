"""A term begins with a recovery: fence the older term, read what there is, write it back, and open.

The last entry that a recovery writes is empty, and truncates: the bookies delete whatever they have
beyond it.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import add_pending_op
from bookkeeper_spec.actions.metadata import publish_fragments
from bookkeeper_spec.actions.recovery import (
    hear_of_fence,
    its_write_ensemble,
    last_ensemble,
    recovery_start,
    start_recovery,
    why_not_end_recovery,
    write_back,
)
from bookkeeper_spec.actions.recovery_reads import (
    NEED_MORE_RESPONSES,
    NO_SUCH_ENTRY,
    SomeData,
    ask_for_next_entry,
    count_reads_under_way,
    its_recovery_ensemble,
    read_status,
    read_time_outs,
    take_answer,
    why_not_decide,
    why_not_hear_answer,
)
from bookkeeper_spec.actions.replacing import its_new_bookies, resend_pending_op
from bookkeeper_spec.guaranteed_write_quorum.model import SomeMark, stamp
from bookkeeper_spec.model.clients import NOT_STARTED, Client
from bookkeeper_spec.model.ledger import (
    IN_RECOVERY,
    OPEN,
    Bookie,
    Ledger,
    SomeEntry,
    data_of,
    has_entry,
)
from bookkeeper_spec.model.messages import ignore, its_own, reply_to
from bookkeeper_spec.unbounded_ledgers.actions.writing import receive_add_confirmed_response
from bookkeeper_spec.unbounded_ledgers.model import is_stale, no_op
from protocol_lab import TAKEN, Subset, contains, size

# --- Fencing -------------------------------------------------------------------------------------


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


# --- Reading -------------------------------------------------------------------------------------


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


# --- Writing back, and opening -------------------------------------------------------------------


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
