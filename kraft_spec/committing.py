"""Writing and committing: what clients give to a leader, and how the high watermark moves.

A leader knows how far its followers are from their fetches, and only a fetch moves its high
watermark.
"""

from kraft_spec.constants import Constants
from kraft_spec.logs import adopt_last_config, reset_end_offsets, track_members
from kraft_spec.network import say_that_quorum_ended
from kraft_spec.transitions import apply_state, to_unattached
from kraft_spec.types import (
    APPEND_COMMAND,
    LEADER,
    OBSERVER,
    REMOVE_VOTER_COMMAND,
    Entry,
    Server,
    State,
    Value,
    is_member,
)
from protocol_lab import TAKEN, append, contains, members, only, size, with_node, without_node

# --- Clients -----------------------------------------------------------------------------------


def values_in_own_epoch(s, server) -> int:
    """How many values the server's log has of its present epoch."""
    log, epoch = s.log[server], s.current_epoch[server]
    return sum(
        1
        for position in range(log.length)
        if log.items[position].epoch == epoch and log.items[position].command == APPEND_COMMAND
    )


def client_request(s: State, c: Constants, server: Server, value: Value):
    """A client gives a value to a leader (observers may lead), and waits until it is committed.

    A leader that is the only member commits it at once; but in the original the client is not
    told (see single_voter_commit_fixed).
    """
    if s.state[server] != LEADER:
        return "the server is not a leader"
    if contains(s.inv_sent, value):
        return "the value was sent before"
    if values_in_own_epoch(s, server) >= c.max_values_per_epoch:
        return "the log has values enough of this epoch"
    entry = Entry(command=APPEND_COMMAND, epoch=s.current_epoch[server], value=value)
    append(s.log[server], entry)
    s.pending_ack[server] = with_node(s.pending_ack[server], value)
    s.inv_sent = with_node(s.inv_sent, value)
    commit_if_alone(s, c, server)
    return TAKEN


# --- The high watermark ------------------------------------------------------------------------


def holders(s, server, offset) -> int:
    """The members that have the leader's log up to this offset, the leader itself if it is one."""
    found = 0
    for member in members(s.config[server].members):
        if member == server or s.flwr_end_offset[server][member] >= offset:
            found = with_node(found, member)
    return found


def is_held_by_quorum(s, c, server, offset) -> bool:
    """Does a majority of the members have the log up to this offset?

    A leader that is no member does not count, but for the variant removed_leader_counts_itself.
    """
    voters, count = s.config[server].members, size(holders(s, server, offset))
    if c.removed_leader_counts_itself and not is_member(s, server, server):
        count += 1
    return 2 * count > size(voters)


def new_high_watermark(s, c, server) -> int:
    """How far a majority has the leader's log; the present high watermark if that is too early.

    Too early is an entry of an earlier epoch: another leader may still overwrite it, though a
    majority has it. The result may be below the present high watermark, as after an addition.
    """
    log, found = s.log[server], 0
    for offset in range(1, log.length + 1):
        if is_held_by_quorum(s, c, server, offset):
            found = offset
    if found == 0:
        return s.hwm[server]
    if log.items[found - 1].epoch != s.current_epoch[server] and not c.hwm_over_earlier_epoch:
        return s.hwm[server]
    return found


def is_removed_by(s, server, new_hwm) -> bool:
    """Does a removal of the server itself become committed?"""
    log = s.log[server]
    for offset in range(s.hwm[server] + 1, new_hwm + 1):
        entry = log.items[offset - 1]
        if entry.command == REMOVE_VOTER_COMMAND and not contains(entry.members, server):
            return True
    return False


def acknowledge(s, server, new_hwm) -> None:
    """Tell the clients whose values become committed."""
    for offset in range(s.hwm[server] + 1, new_hwm + 1):
        value = s.log[server].items[offset - 1].value
        if contains(s.pending_ack[server], value):
            s.inv_pos_acked = with_node(s.inv_pos_acked, value)
            s.pending_ack[server] = without_node(s.pending_ack[server], value)


def commit_up_to(s, c, server, new_hwm) -> None:
    """Raise the high watermark. A leader whose own removal is committed by that resigns."""
    leaves = is_removed_by(s, server, new_hwm)
    acknowledge(s, server, new_hwm)
    adopt_last_config(s, server, new_hwm)
    if leaves:
        if c.end_quorum_epoch:
            say_that_quorum_ended(s, server)
        epoch = s.current_epoch[server]
        apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
        s.role[server] = OBSERVER
        s.hwm[server] = 0
        reset_end_offsets(s, c, server, 0)
    else:
        track_members(s, c, server)
        s.hwm[server] = new_hwm


def commit_if_alone(s, c, server) -> None:
    """In a configuration of one no fetch can move the high watermark: it goes to the log's end.

    In the original nobody is told, nor is a configuration regarded as committed by that.
    """
    voters, end = s.config[server].members, s.log[server].length
    if c.single_voter_commit_fixed:
        if voters == only(server) and s.hwm[server] < end:
            commit_up_to(s, c, server, end)
    elif size(voters) == 1:
        s.hwm[server] = end
