"""Logs and configurations: comparing, truncating, the fetch position, the current configuration.

Offsets count from 1: the entry at offset k is `log.items[k - 1]`.
"""

from kraft_spec.model.names import ADD_VOTER_COMMAND, INIT_CLUSTER_COMMAND, REMOVE_VOTER_COMMAND
from protocol_lab import contains, erase, size

# --- Logs ------------------------------------------------------------------------------------


def entry_at(log, offset):
    """The entry at an offset."""
    return log.items[offset - 1]


def last_epoch(log) -> int:
    """The epoch of the last entry; 0 if there is none."""
    return log.items[log.length - 1].epoch if log.length > 0 else 0


def is_at_or_before(offset, epoch, other_offset, other_epoch) -> bool:
    """Is an entry at most as far on as another? The epoch decides, then the offset."""
    return epoch < other_epoch or (epoch == other_epoch and offset <= other_offset)


def highest_common_offset(log, end_offset, epoch) -> int:
    """The last offset that is at most (end_offset, epoch); 0 if there is none."""
    found = 0
    for offset in range(1, log.length + 1):
        if is_at_or_before(offset, log.items[offset - 1].epoch, end_offset, epoch):
            found = offset
    return found


def end_offset_for_epoch(log, epoch) -> int:
    """The last offset with an entry of this epoch or an earlier one; 0 if there is none."""
    found = 0
    for offset in range(1, log.length + 1):
        if log.items[offset - 1].epoch <= epoch:
            found = offset
    return found


def epoch_at(log, offset) -> int:
    """The epoch of the entry at an offset; 0 at offset 0."""
    return log.items[offset - 1].epoch if offset > 0 else 0


def is_where_logs_agree(log, message) -> bool:
    """Does the leader's log, as far as the request tells, have the fetcher's last entry?"""
    end_offset = end_offset_for_epoch(log, message.last_fetched_epoch)
    return (
        message.fetch_offset <= end_offset + 1
        and epoch_at(log, end_offset) == message.last_fetched_epoch
    )


def is_valid_fetch_position(log, message) -> bool:
    """Is the fetcher's log consistent with the leader's? An empty log always is."""
    return message.fetch_offset == 1 or is_where_logs_agree(log, message)


def holds_value(s, server, value) -> bool:
    """Is the value anywhere in the server's log?"""
    log = s.log[server]
    return any(log.items[position].value == value for position in range(log.length))


# --- Configurations ----------------------------------------------------------------------------


def is_majority(voters, of) -> bool:
    """Are the voters all members, and more than half of them?"""
    return voters & ~of == 0 and 2 * size(voters) > size(of)


def is_config_command(entry) -> bool:
    """Does the entry carry a configuration?"""
    return (
        entry.command == INIT_CLUSTER_COMMAND
        or entry.command == ADD_VOTER_COMMAND
        or entry.command == REMOVE_VOTER_COMMAND
    )


def last_config_offset(log) -> int:
    """The offset of the last configuration command; 0 if there is none."""
    found = 0
    for offset in range(1, log.length + 1):
        if is_config_command(log.items[offset - 1]):
            found = offset
    return found


def adopt_last_config(s, server, hwm) -> None:
    """Assume the last configuration of the own log; it is committed if this high watermark says so.

    A log without one, for which the original is not defined, gives no configuration.
    """
    offset = last_config_offset(s.log[server])
    if offset == 0:
        erase(s.config, server)
        return
    entry = entry_at(s.log[server], offset)
    s.config[server].id = entry.id
    s.config[server].members = entry.members
    s.config[server].committed = hwm >= offset


def track_members(s, c, server) -> None:
    """Keep end offsets of exactly the present members; that of a new member is 0."""
    wanted = s.config[server].members
    for member in range(1, c.max_spawned_servers + 1):
        if not contains(wanted & s.tracked[server], member):
            s.flwr_end_offset[server][member] = 0
    s.tracked[server] = wanted


def reset_end_offsets(s, c, server, tracked) -> None:
    """Keep end offsets of these servers, all 0."""
    for member in range(1, c.max_spawned_servers + 1):
        s.flwr_end_offset[server][member] = 0
    s.tracked[server] = tracked


def has_committed_in_own_epoch(s, server) -> bool:
    """Does the server know an entry of its present epoch to be committed?"""
    log = s.log[server]
    for offset in range(1, min(log.length, s.hwm[server]) + 1):
        if log.items[offset - 1].epoch == s.current_epoch[server]:
            return True
    return False
