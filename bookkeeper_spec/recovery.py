"""How today's clients recover a ledger, several at a time.

A recovery sets the status, and fences the bookies of the last fragment. Once no ack quorum is left
that is not fenced it reads entry after entry from those bookies, writes each that it finds back to
its own ensemble while it goes on reading, and closes the ledger at the last one.

An entry is recovered if one bookie has it. It does not exist once so many bookies say so that no
ack quorum can have it. If all have answered or timed out and neither is the case, the recovery is
given up.
"""

from typing import NamedTuple

from bookkeeper_spec.clients import FENCING, Client, close_ledger
from bookkeeper_spec.ledger import (
    ABORTED,
    IN_RECOVERY,
    NIL,
    OPEN,
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    last_fragment,
)
from bookkeeper_spec.messages import handle, ignore, send
from bookkeeper_spec.writing import add_pending_op, receive_confirmation, write_back_next_entry
from protocol_lab import TAKEN, Range, Subset, contains, size, with_node

READ_WRITE = 2
"""The phase of recovery after FENCING."""

NO_ENTRY = -1
"""The last recoverable entry of who does not know it; 0 means that no entry is recoverable."""


# --- Fencing -----------------------------------------------------------------------------------


def can_be_recovered(s) -> bool:
    """Is the ledger open, or does another recover it already?"""
    return s.meta_status == OPEN or s.meta_status == IN_RECOVERY


def last_ensemble(s) -> int:
    """The bookies that a recovery fences."""
    return last_fragment(s.meta_fragments).ensemble if can_be_recovered(s) else 0


def start_recovery(s, client, lost) -> str:
    """Set the status and take the version, so that an older recovery can't close any more."""
    mine = s.clients[client]
    if mine.status != NIL:
        return "the client has had its part in this ledger"
    if not can_be_recovered(s):
        return "the ledger does not exist, or is closed"
    s.meta_status = IN_RECOVERY
    s.meta_version += 1
    mine.status = IN_RECOVERY
    mine.meta_version = s.meta_version
    mine.recovery_phase = FENCING
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last_fragment(s.meta_fragments)
    send(s.messages[client].fence_requests, mine.curr_fragment.ensemble, lost)
    return TAKEN


def client_starts_recovery(s: Ledger, c: NamedTuple, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs."""
    reason = start_recovery(s, client, lost)
    if len(reason) != 0:
        return reason
    s.clients[client].recovery_ensemble = s.clients[client].curr_fragment.ensemble
    return TAKEN


def recovery_start(mine, mark) -> int:
    """Where a recovery begins: after what a bookie says, and no earlier than the last fragment."""
    return max(mark, mine.curr_fragment.first_entry_id - 1)


def hear_of_fence(mine, answer, bookie) -> str:
    """Note that a bookie is fenced."""
    if mine.recovery_phase != FENCING:
        return "the client does not wait for bookies to be fenced"
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    handle(answer, bookie)
    return TAKEN


def client_receives_fencing_read_lac_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, lac: SomeLac
):
    """A recovery hears that a bookie is fenced, and begins after the highest LAC so far.

    And no earlier than the last fragment: what is before it is confirmed.
    """
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[lac], bookie)
    if len(reason) != 0:
        return reason
    start = recovery_start(mine, lac)
    if start > mine.lac:
        mine.lac = start
        mine.lap = start
    return TAKEN


# --- Reading: requests ---------------------------------------------------------------------------


def has_quorum_coverage(c, count, cohort_size) -> bool:
    """Are so many bookies of a cohort enough that every ack quorum has one of them?"""
    return count >= cohort_size - c.ack_quorum + 1


def its_recovery_ensemble(s, client) -> int:
    """The bookies from which a recovery reads."""
    return s.clients[client].recovery_ensemble


def ask_for_next_entry(s, c, client, has_read_all, lost) -> str:
    """Ask for the entry after the LAP, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    if mine.recovery_phase == FENCING:
        if not has_quorum_coverage(c, size(mine.fenced), size(mine.recovery_ensemble)):
            return "there may be an ack quorum of bookies that are not fenced"
    elif has_read_all:
        return "the recovery has read all there is"
    elif mine.curr_read_entry != 0:
        return "the recovery waits for answers to its last read"
    mine.recovery_phase = READ_WRITE
    mine.curr_read_entry = mine.lap + 1
    mine.fenced = 0
    send(s.messages[client].reads[mine.lap].requests, mine.recovery_ensemble, lost)
    return TAKEN


def client_sends_recovery_read_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_recovery_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced."""
    has_read_all = s.clients[client].last_recoverable_entry != NO_ENTRY
    return ask_for_next_entry(s, c, client, has_read_all, lost)


# --- Reading: answers ----------------------------------------------------------------------------

OK, NO_SUCH_ENTRY, UNKNOWN, NEED_MORE_RESPONSES = range(4)
"""What a recovery knows of an entry."""

SomeData = Range(0, "send_limit")
"""What a bookie answers a read with: an entry's data, or 0 for "no such entry"."""


def answer_to_read(s, client, data):
    """The messages with this answer to the client's present read; 0 is "no such entry"."""
    reads = s.messages[client].reads[s.clients[client].curr_read_entry - 1]
    return reads.responses[data - 1] if data > 0 else reads.no_such_entry


def read_time_outs(c, messages) -> int:
    """The bookies of which the client has lost a read, or an answer to one."""
    bookies = 0
    for k in range(c.send_limit + 1):
        bookies |= messages.reads[k].requests.lost | messages.reads[k].no_such_entry.lost
        for data in range(c.send_limit):
            bookies |= messages.reads[k].responses[data].lost
    return bookies


def count_lost_reads(c, messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return sum(
        size(messages.reads[k].requests.lost)
        + size(messages.reads[k].no_such_entry.lost)
        + sum(size(messages.reads[k].responses[data].lost) for data in range(c.send_limit))
        for k in range(c.send_limit + 1)
    )


def count_reads_under_way(c, messages, bookies) -> int:
    """How many reads to these bookies, and answers from them, are under way."""
    return sum(
        size(messages.reads[k].requests.waiting & bookies)
        + size(messages.reads[k].no_such_entry.waiting & bookies)
        + sum(
            size(messages.reads[k].responses[data].waiting & bookies)
            for data in range(c.send_limit)
        )
        for k in range(c.send_limit + 1)
    )


def read_status(c, mine, bookie, data, time_outs) -> int:
    """What the recovery knows of its present entry with this answer.

    It is generous with an entry that somebody has, and strict with one that nobody seems to have.
    """
    negative = size(with_node(mine.read_responses, bookie))
    if data > 0:
        return OK
    if has_quorum_coverage(c, negative, c.write_quorum):
        return NO_SUCH_ENTRY
    heard = negative + size(mine.recovery_ensemble & time_outs)
    return UNKNOWN if heard == c.write_quorum else NEED_MORE_RESPONSES


def why_not_hear_answer(s, client, bookie, data) -> str:
    """Why a recovery does not get this answer from the bookie; "" if it does."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.curr_read_entry == 0:
        return "the client does not wait for answers to a read"
    if not contains(answer_to_read(s, client, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    return TAKEN


def why_not_decide(c, status, under_way) -> str:
    """Why an answer can't be taken while so many reads are under way; "" if it can.

    So it is in the original; what is meant is that others are ignored once an entry is decided
    about: `ignore_late_reads`.
    """
    if status != NEED_MORE_RESPONSES and under_way > 1 and not c.ignore_late_reads:
        return "the answer would decide, but other reads of the recovery are under way"
    return TAKEN


def ignore_reads_under_way(c, messages, bookies) -> None:
    """The entry is decided about: what is still under way will not be looked at."""
    for k in range(c.send_limit + 1):
        ignore(messages.reads[k].requests, bookies)
        ignore(messages.reads[k].no_such_entry, bookies)
        for data in range(c.send_limit):
            ignore(messages.reads[k].responses[data], bookies)


def take_answer(s, c, client, bookie, data, status) -> None:
    """Take the answer to a read, after which this is known of the entry.

    A recovered entry is to be written back. Where nothing can be known, the recovery is given up.
    """
    mine = s.clients[client]
    handle(answer_to_read(s, client, data), bookie)
    if status == NEED_MORE_RESPONSES:
        mine.read_responses = with_node(mine.read_responses, bookie)
        return
    ignore_reads_under_way(c, s.messages[client], mine.recovery_ensemble)
    if status == OK:
        mine.lap += 1
        add_pending_op(mine, mine.curr_read_entry, data)
    else:
        mine.recovery_ensemble = 0
    if status == UNKNOWN:
        mine.status = ABORTED
    mine.curr_read_entry = 0
    mine.read_responses = 0


def client_receives_recovery_read_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, data: SomeData
):
    """A recovery is answered with data, or 0 for "no such entry", and decides if it can.

    A recovered entry is to be written back, and the next one read. An entry that does not exist
    ends the reading. If nothing can be known, the recovery is given up.
    """
    mine, messages = s.clients[client], s.messages[client]
    reason = why_not_hear_answer(s, client, bookie, data)
    if len(reason) != 0:
        return reason
    status = read_status(c, mine, bookie, data, read_time_outs(c, messages))
    reason = why_not_decide(c, status, count_reads_under_way(c, messages, mine.recovery_ensemble))
    if len(reason) != 0:
        return reason
    entry = mine.curr_read_entry
    take_answer(s, c, client, bookie, data, status)
    if status == NO_SUCH_ENTRY:
        mine.last_recoverable_entry = entry - 1
    return TAKEN


# --- Writing back, and closing -------------------------------------------------------------------


def its_write_ensemble(s, client) -> int:
    """The bookies to which a recovery writes entries back."""
    mine = s.clients[client]
    return mine.curr_fragment.ensemble if mine.recovery_phase == READ_WRITE else 0


def write_back(s, c, client, stamp, lost) -> str:
    """Write an entry that was read back, to the current ensemble, with this stamp."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.recovery_phase != READ_WRITE:
        return "the client does not read and write as a recovery does"
    return write_back_next_entry(c, mine, s.messages[client].adds, stamp, lost)


def client_writes_back_entry(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    return write_back(s, c, client, s.clients[client].lac, lost)


def recovery_client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def why_not_end_recovery(s, mine, has_read_all) -> str:
    """Why a recovery can't write its result to the metadata; "" if it can."""
    if mine.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or somebody has ended the recovery"
    if not has_read_all:
        return "the recovery has not read all there is"
    if mine.pending_add_ops.size != 0:
        return "not all that was read is written back"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    return TAKEN


def recovery_client_closes_ledger(s: Ledger, c: NamedTuple, client: Client):
    """All that was read is written back: the recovery closes the ledger, with its own fragments."""
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.last_recoverable_entry != NO_ENTRY)
    if len(reason) != 0:
        return reason
    s.meta_fragments = mine.fragments
    close_ledger(s, mine, mine.last_recoverable_entry)
    return TAKEN
