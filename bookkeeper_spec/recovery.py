"""Recovery: a client fences the ledger, reads, writes back what it reads, and closes the ledger.

Several clients may recover at a time. A recovery sets the status and fences the bookies of the last
fragment. Once no ack quorum of unfenced bookies is left, it reads entry after entry, writes each
that it finds back to its own ensemble while it goes on reading, and closes the ledger at the last
one.

An entry is recovered if one bookie has it. It does not exist if so many bookies say so that no ack
quorum can have it. If all have answered or timed out and neither is the case, the recovery is given
up.
"""

from bookkeeper_spec.model import *
from bookkeeper_spec.writing import add_pending_op, close_ledger, receive_confirmation, send_adds
from protocol_lab import *

# --- Fencing -------------------------------------------------------------------------------------


def can_be_recovered(s: State) -> bool:
    """Is the ledger open, or does another recover it already?"""
    return s.meta_status == "open" or s.meta_status == "in_recovery"


def last_ensemble(s: State) -> NodeSet(Bookie):
    """The bookies that a recovery fences."""
    return last(s.meta_fragments).ensemble if can_be_recovered(s) else 0


def start_recovery(s, client, lost) -> str:
    """Set the status and take the version, so that an older recovery can't close any more."""
    mine = s.clients[client]
    if mine.status != "nil":
        return "the client has created the ledger, or has begun to recover it before"
    if not can_be_recovered(s):
        return "the ledger does not exist, or is closed"
    s.meta_status = "in_recovery"
    s.meta_version += 1
    mine.status = "in_recovery"
    mine.meta_version = s.meta_version
    mine.recovery_phase = FENCING
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last(s.meta_fragments)
    send(s.messages[client].fence_requests, mine.curr_fragment.ensemble, lost)
    return TAKEN


def client_starts_recovery(s: State, c: Constants, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs.

    Earlier fragments need no fence: nobody adds to them. That the version rises keeps the creator,
    and any earlier recovery, from closing the ledger.
    """
    reason = start_recovery(s, client, lost)
    if reason:
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
    if bookie not in answer.waiting:
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    handle(answer, bookie)
    return TAKEN


def client_receives_fencing_read_lac_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lac: SomeLac
):
    """A recovery learns that a bookie is fenced, and begins after the highest LAC so far.

    And no earlier than the last fragment: what is before it is confirmed. That fixes defect 2 of
    4.13, whose bookies of a new fragment know no LAC: see `v4_13`.
    """
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[lac], bookie)
    if reason:
        return reason
    start = recovery_start(mine, lac)
    if start > mine.lac:
        mine.lac = start
        mine.lap = start
    return TAKEN


# --- Reads ---------------------------------------------------------------------------------------


def its_recovery_ensemble(s: State, client) -> NodeSet(Bookie):
    """The bookies from which a recovery reads."""
    return s.clients[client].recovery_ensemble


def ask_for_next_entry(s, c, client, has_read_all, lost) -> str:
    """Ask for the entry after the LAP, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    if mine.status != "in_recovery":
        return "the client does not recover"
    if mine.recovery_phase == FENCING:
        if not has_quorum_coverage(c, len(mine.fenced), len(mine.recovery_ensemble)):
            return "there may be an ack quorum of bookies that are not fenced"
    elif has_read_all:
        return "the recovery has read all there is"
    elif mine.curr_read_entry != 0:
        return "the recovery waits for answers to its last read"
    mine.recovery_phase = READ_WRITE
    mine.curr_read_entry = mine.lap + 1
    mine.fenced = nodes_up_to(0)
    send(s.messages[client].reads[mine.lap].requests, mine.recovery_ensemble, lost)
    return TAKEN


def client_sends_recovery_read_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_recovery_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced.

    Whoever still writes then gathers no ack quorum any more.
    """
    has_read_all = s.clients[client].last_recoverable_entry != NO_ENTRY
    return ask_for_next_entry(s, c, client, has_read_all, lost)


# --- What the answers mean -----------------------------------------------------------------------

OK, NO_SUCH_ENTRY, UNKNOWN, NEED_MORE_RESPONSES = range(4)
"""What a recovery knows of an entry."""

SomeData = Range(0, "send_limit")
"""What a bookie answers a read with: an entry's data, or 0 for "no such entry"."""


def answer_to_read(s: State, client, data):
    """The messages with this answer to the client's present read; 0 is "no such entry"."""
    reads = s.messages[client].reads[s.clients[client].curr_read_entry - 1]
    return reads.responses[data - 1] if data > 0 else reads.no_such_entry


def read_time_outs(messages) -> NodeSet(Bookie):
    """The bookies of which the client has lost a read, or an answer to one."""
    bookies = nodes_up_to(0)
    for reads in messages.reads:
        bookies |= reads.requests.lost | reads.no_such_entry.lost
        for answer in reads.responses:
            bookies |= answer.lost
    return bookies


def count_reads_under_way(messages, bookies) -> int:
    """How many reads to these bookies, and answers from them, are under way."""
    return sum(
        len(reads.requests.waiting & bookies)
        + len(reads.no_such_entry.waiting & bookies)
        + sum(len(answer.waiting & bookies) for answer in reads.responses)
        for reads in messages.reads
    )


def read_status(c, mine, bookie, data, time_outs) -> int:
    """What the recovery knows of its present entry with this answer.

    One bookie that has the entry is enough to recover it; to give it up takes quorum coverage.
    """
    negative = len(with_node(mine.read_responses, bookie))
    if data > 0:
        return OK
    if has_quorum_coverage(c, negative, c.write_quorum):
        return NO_SUCH_ENTRY
    heard = negative + len(mine.recovery_ensemble & time_outs)
    return UNKNOWN if heard == c.write_quorum else NEED_MORE_RESPONSES


def why_not_hear_answer(s, client, bookie, data) -> str:
    """Why a recovery can't receive this answer from the bookie; "" if it can."""
    mine = s.clients[client]
    if mine.status != "in_recovery" or mine.curr_read_entry == 0:
        return "the client does not wait for answers to a read"
    if bookie not in answer_to_read(s, client, data).waiting:
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


def ignore_reads_under_way(messages, bookies) -> None:
    """The entry is decided: reads and answers that are still under way are ignored."""
    for reads in messages.reads:
        ignore(reads.requests, bookies)
        ignore(reads.no_such_entry, bookies)
        for answer in reads.responses:
            ignore(answer, bookies)


def take_answer(s, c, client, bookie, data, status) -> None:
    """Take the answer to a read; `status` is what the recovery knows of the entry with it.

    A recovered entry is to be written back. Where nothing can be known, the recovery is given up.
    """
    mine = s.clients[client]
    handle(answer_to_read(s, client, data), bookie)
    if status == NEED_MORE_RESPONSES:
        mine.read_responses = with_node(mine.read_responses, bookie)
        return
    ignore_reads_under_way(s.messages[client], mine.recovery_ensemble)
    if status == OK:
        mine.lap += 1
        add_pending_op(mine, mine.curr_read_entry, data)
    else:
        mine.recovery_ensemble = nodes_up_to(0)
    if status == UNKNOWN:
        mine.status = "recovery_aborted"
    mine.curr_read_entry = 0
    mine.read_responses = nodes_up_to(0)


def client_receives_recovery_read_response(
    s: State, c: Constants, client: Client, bookie: Bookie, data: SomeData
):
    """A recovery is answered with data, or 0 for "no such entry", and decides if it can.

    A recovered entry is to be written back, and the next one read. An entry that does not exist
    ends the reading. If nothing can be known, the recovery is given up.
    """
    mine, messages = s.clients[client], s.messages[client]
    reason = why_not_hear_answer(s, client, bookie, data)
    if reason:
        return reason
    status = read_status(c, mine, bookie, data, read_time_outs(messages))
    reason = why_not_decide(c, status, count_reads_under_way(messages, mine.recovery_ensemble))
    if reason:
        return reason
    entry = mine.curr_read_entry
    take_answer(s, c, client, bookie, data, status)
    if status == NO_SUCH_ENTRY:
        mine.last_recoverable_entry = entry - 1
    return TAKEN


# --- Writing back --------------------------------------------------------------------------------


def write_back_next_entry(writer, messages, stamp, lost) -> str:
    """Send the lowest entry that was read, and not written back yet, to the current ensemble."""
    for op in writer.pending_add_ops:
        adds = messages.of[op.entry.id - 1]
        if not was_add_sent(adds):
            send_adds(adds, op.entry.data, stamp, writer.curr_fragment.ensemble, lost)
            return TAKEN
    return "every entry that was read was written back"


def its_write_ensemble(s: State, client) -> NodeSet(Bookie):
    """The bookies to which a recovery writes entries back."""
    mine = s.clients[client]
    return mine.curr_fragment.ensemble if mine.recovery_phase == READ_WRITE else 0


def write_back(s, client, stamp, lost) -> str:
    """Write an entry that was read back, to the current ensemble, with this stamp."""
    mine = s.clients[client]
    if mine.status != "in_recovery" or mine.recovery_phase != READ_WRITE:
        return "the client is not in the phase of a recovery that reads and writes"
    return write_back_next_entry(mine, s.messages[client].adds, stamp, lost)


def client_writes_back_entry(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    return write_back(s, client, s.clients[client].lac, lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != "in_recovery":
        return "the client does not recover"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


# --- Closing -------------------------------------------------------------------------------------


def recovery_client_closes_ledger(s: State, c: Constants, client: Client):
    """All that was read is written back: the recovery closes the ledger, with its own fragments.

    Only if the version is the one that it has set: another recovery may have begun since.
    """
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.last_recoverable_entry != NO_ENTRY)
    if reason:
        return reason
    s.meta_fragments = mine.fragments
    close_ledger(s, mine, mine.last_recoverable_entry)
    return TAKEN
