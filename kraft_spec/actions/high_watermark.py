"""Client writes, and the high watermark: what clients give to a leader, and how it commits that.

A leader knows how far its followers are from their fetches, and only a fetch moves its high
watermark.
"""

from kraft_spec.actions.logs import adopt_last_config, reset_end_offsets, track_members
from kraft_spec.actions.server_states import apply_state, to_unattached
from kraft_spec.extensions.side_effects import announce_resignation
from kraft_spec.model.constants import Constants
from kraft_spec.model.messages import Entry
from kraft_spec.model.names import (
    APPEND_COMMAND,
    LEADER,
    OBSERVER,
    REMOVE_VOTER_COMMAND,
    Server,
    Value,
)
from kraft_spec.model.state import State, is_member
from protocol_lab import TAKEN, append, contains, members, only, size, with_node, without_node

# --- Clients -----------------------------------------------------------------------------------


def values_in_own_epoch(s, server) -> int:
    """How many values of its present epoch the server's log has."""
    log, epoch = s.log[server], s.current_epoch[server]
    return sum(
        1
        for position in range(log.length)
        if log.items[position].epoch == epoch and log.items[position].command == APPEND_COMMAND
    )


def client_request(s: State, c: Constants, server: Server, value: Value):
    """A client sends a value to a leader, and waits until it is committed.

    The leader may be an observer, during a reconfiguration.
    """
    if s.state[server] != LEADER:
        return "the server is not a leader"
    if contains(s.inv_sent, value):
        return "the value was sent before"
    if values_in_own_epoch(s, server) >= c.max_values_per_epoch:
        return "no value of this epoch is left (max_values_per_epoch)"
    entry = Entry(command=APPEND_COMMAND, epoch=s.current_epoch[server], value=value)
    append(s.log[server], entry)
    s.pending_ack[server] = with_node(s.pending_ack[server], value)
    s.inv_sent = with_node(s.inv_sent, value)
    commit_if_alone(s, c, server)
    return TAKEN


# --- The high watermark ------------------------------------------------------------------------


def holders(s, server, offset) -> int:
    """The members that have the leader's log up to this offset, itself included if it is one."""
    found = 0
    for member in members(s.config[server].members):
        if member == server or s.flwr_end_offset[server][member] >= offset:
            found = with_node(found, member)
    return found


def is_held_by_quorum(s, c, server, offset) -> bool:
    """Does a majority of the members have the log up to this offset?

    A leader that is not a member does not count itself.
    """
    voters, count = s.config[server].members, size(holders(s, server, offset))
    if c.removed_leader_counts_itself and not is_member(s, server, server):
        count += 1
    return 2 * count > size(voters)


def new_high_watermark(s, c, server) -> int:
    """How far a majority has the leader's log, or the present high watermark if that is too early.

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
    """Does this high watermark commit a removal of the server itself?"""
    log = s.log[server]
    for offset in range(s.hwm[server] + 1, new_hwm + 1):
        entry = log.items[offset - 1]
        if entry.command == REMOVE_VOTER_COMMAND and not contains(entry.members, server):
            return True
    return False


def acknowledge(s, server, new_hwm) -> None:
    """Tell the clients whose values this high watermark commits."""
    for offset in range(s.hwm[server] + 1, new_hwm + 1):
        value = s.log[server].items[offset - 1].value
        if contains(s.pending_ack[server], value):
            s.inv_pos_acked = with_node(s.inv_pos_acked, value)
            s.pending_ack[server] = without_node(s.pending_ack[server], value)


def commit_up_to(s, c, server, new_hwm) -> None:
    """Raise the high watermark. A leader that commits its own removal thereby resigns."""
    leaves = is_removed_by(s, server, new_hwm)
    if c.old_removal_fixed and is_member(s, server, server):
        leaves = False
    acknowledge(s, server, new_hwm)
    adopt_last_config(s, server, new_hwm)
    if leaves:
        announce_resignation(s, c, server)
        epoch = s.current_epoch[server]
        apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
        s.role[server] = OBSERVER
        s.hwm[server] = 0
        reset_end_offsets(s, c, server, 0)
    else:
        track_members(s, c, server)
        s.hwm[server] = new_hwm


def commit_if_alone(s, c, server) -> None:
    """In a configuration of one no fetch moves the high watermark: it goes to the log's end.

    No client is told, and no configuration counts as committed by it.
    """
    voters, end = s.config[server].members, s.log[server].length
    if size(voters) == 1 and not c.single_voter_commit_fixed:
        s.hwm[server] = end
    elif voters == only(server) and s.hwm[server] < end:  # with the fix
        commit_up_to(s, c, server, end)
