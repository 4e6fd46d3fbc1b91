"""Recovery reads: they decide whether an entry is recovered, does not exist, or can't be known.

An entry is recovered if one bookie has it. It does not exist if so many bookies say so that no ack
quorum can have it. If all have answered or timed out and neither is the case, the recovery is given
up.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import add_pending_op
from bookkeeper_spec.model.clients import FENCING, NO_ENTRY, READ_WRITE, Client
from bookkeeper_spec.model.ledger import ABORTED, IN_RECOVERY, Bookie, Ledger
from bookkeeper_spec.model.messages import handle, ignore, send
from protocol_lab import TAKEN, Range, Subset, contains, size, with_node

# --- Requests ------------------------------------------------------------------------------------


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


# --- What the answers mean -----------------------------------------------------------------------


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

    One bookie that has the entry is enough to recover it; to give it up takes quorum coverage.
    """
    negative = size(with_node(mine.read_responses, bookie))
    if data > 0:
        return OK
    if has_quorum_coverage(c, negative, c.write_quorum):
        return NO_SUCH_ENTRY
    heard = negative + size(mine.recovery_ensemble & time_outs)
    return UNKNOWN if heard == c.write_quorum else NEED_MORE_RESPONSES


def why_not_hear_answer(s, client, bookie, data) -> str:
    """Why a recovery can't receive this answer from the bookie; "" if it can."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.curr_read_entry == 0:
        return "the client does not wait for answers to a read"
    if not contains(answer_to_read(s, client, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    return TAKEN


def why_not_decide(c, status, under_way) -> str:
    """Why an answer can't be taken while so many reads are under way; "" if it can.

    The original demands this. What is meant is that other reads are ignored once an entry is
    decided about: `ignore_late_reads`.
    """
    if status != NEED_MORE_RESPONSES and under_way > 1 and not c.ignore_late_reads:
        return "the answer would decide, but other reads of the recovery are under way"
    return TAKEN


# --- Answers -------------------------------------------------------------------------------------


def ignore_reads_under_way(c, messages, bookies) -> None:
    """The entry is decided: reads and answers that are still under way are ignored."""
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
