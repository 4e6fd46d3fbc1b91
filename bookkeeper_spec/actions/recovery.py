"""Recovery: a client fences the ledger, writes back what it reads, and closes the ledger.

Several clients may recover at a time. A recovery sets the status and fences the bookies of the last
fragment. Once no ack quorum of unfenced bookies is left, it reads entry after entry
(`recovery_reads`), writes each that it finds back to its own ensemble while it goes on reading, and
closes the ledger at the last one.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import receive_confirmation, send_adds
from bookkeeper_spec.actions.metadata import close_ledger
from bookkeeper_spec.model.clients import FENCING, NO_ENTRY, READ_WRITE, Client, position_of_op
from bookkeeper_spec.model.ledger import (
    IN_RECOVERY,
    NIL,
    OPEN,
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    last_fragment,
)
from bookkeeper_spec.model.messages import handle, send, was_add_sent
from protocol_lab import TAKEN, Subset, contains, with_node

# --- Fencing -------------------------------------------------------------------------------------


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
        return "the client has created the ledger, or has begun to recover it before"
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


# --- Writing back --------------------------------------------------------------------------------


def next_to_write_back(c, writer, messages) -> int:
    """The lowest entry that a recoverer has read and not yet written back; 0 if there is none."""
    for position in range(writer.pending_add_ops.size):
        entry = writer.pending_add_ops.items[position].entry.id
        if not was_add_sent(c, messages.of[entry - 1]):
            return entry
    return 0


def write_back_next_entry(c, writer, messages, stamp, lost) -> str:
    """Send an entry that was read to every bookie of the current ensemble."""
    entry = next_to_write_back(c, writer, messages)
    if entry == 0:
        return "every entry that was read was written back"
    data = writer.pending_add_ops.items[position_of_op(writer, entry)].entry.data
    ensemble = writer.curr_fragment.ensemble
    send_adds(messages.of[entry - 1], data, stamp, ensemble, lost)
    return TAKEN


def its_write_ensemble(s, client) -> int:
    """The bookies to which a recovery writes entries back."""
    mine = s.clients[client]
    return mine.curr_fragment.ensemble if mine.recovery_phase == READ_WRITE else 0


def write_back(s, c, client, stamp, lost) -> str:
    """Write an entry that was read back, to the current ensemble, with this stamp."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.recovery_phase != READ_WRITE:
        return "the client is not in the phase of a recovery that reads and writes"
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


# --- Closing -------------------------------------------------------------------------------------


def why_not_end_recovery(s, mine, has_read_all) -> str:
    """Why a recovery can't write its result to the metadata; "" if it can."""
    if mine.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or somebody has ended the recovery"
    if not has_read_all:
        return "the recovery has not read all there is"
    if mine.pending_add_ops.size != 0:
        return "an entry that was read is not written back yet"
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
