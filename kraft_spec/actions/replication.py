"""The life of an entry: a client writes it, followers fetch it, and fetches commit it.

A follower asks its leader for the next entry. The request says where the follower's log ends, so
the leader learns how far the follower is, and can commit; where the two logs diverge, the response
says how much the follower must truncate.
"""

from kraft_spec.actions.server_states import (
    is_handled_by_common_rules,
    maybe_handle_common_response,
    transition_to_unattached,
)
from kraft_spec.model import *
from protocol_lab import *

Fetch = Member("net_messages.fetch_requests")
FetchAnswer = Member("net_messages.fetch_responses")

# --- Logs ------------------------------------------------------------------------------------


def last_epoch(log) -> int:
    """The epoch of the last entry; 0 if there is none."""
    return last(log).epoch if len(log) > 0 else 0


def epoch_at(log, offset) -> int:
    """The epoch of the entry at an offset; 0 at offset 0."""
    return log[offset - 1].epoch if offset > 0 else 0


def is_at_or_before(offset, epoch, other_offset, other_epoch) -> bool:
    """Is an entry at most as far on as another? The epoch decides, then the offset."""
    return epoch < other_epoch or (epoch == other_epoch and offset <= other_offset)


def highest_common_offset(log, end_offset, epoch) -> int:
    """The last offset whose (epoch, offset) is at most (epoch, end_offset); 0 for none."""
    found = 0
    for offset in range(1, len(log) + 1):
        if is_at_or_before(offset, epoch_at(log, offset), end_offset, epoch):
            found = offset
    return found


def end_offset_for_epoch(log, epoch) -> int:
    """The last offset with an entry of this epoch or an earlier one; 0 if there is none."""
    found = 0
    for offset in range(1, len(log) + 1):
        if epoch_at(log, offset) <= epoch:
            found = offset
    return found


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
    return any(entry.value == value for entry in s.log[server])


# --- The configuration that a log holds ----------------------------------------------------------


def is_config_command(entry) -> bool:
    """Does the entry carry a configuration?"""
    return entry.command in ("init_cluster_command", "add_voter_command", "remove_voter_command")


def last_config_offset(log) -> int:
    """The offset of the last configuration command; 0 if there is none."""
    found = 0
    for offset in range(1, len(log) + 1):
        if is_config_command(log[offset - 1]):
            found = offset
    return found


def adopt_last_config(s, server, hwm) -> None:
    """Assume the last configuration of the own log; it is committed if this high watermark says so.

    A log without one, for which the original is not defined, gives no configuration.
    """
    offset = last_config_offset(s.log[server])
    if offset == 0:
        s.config[server] = Config()
        return
    entry = s.log[server][offset - 1]
    s.config[server].id = entry.id
    s.config[server].members = entry.members
    s.config[server].committed = hwm >= offset


def track_members(s, c, server) -> None:
    """Keep end offsets of exactly the present members; that of a new member is 0."""
    kept = s.config[server].members & s.tracked[server]
    for member in range(1, c.max_spawned_servers + 1):
        if member not in kept:
            s.flwr_end_offset[server][member] = 0
    s.tracked[server] = s.config[server].members


def reset_end_offsets(s, c, server, tracked) -> None:
    """Keep end offsets of these servers, all 0."""
    for member in range(1, c.max_spawned_servers + 1):
        s.flwr_end_offset[server][member] = 0
    s.tracked[server] = tracked


# --- A client writes -----------------------------------------------------------------------------


def values_in_own_epoch(s, server) -> int:
    """How many values of its present epoch the server's log has."""
    epoch = s.current_epoch[server]
    return sum(
        1 for entry in s.log[server] if entry.epoch == epoch and entry.command == "append_command"
    )


def why_not_write(s, c, server, value) -> str:
    """Why the server does not accept a client's value; "" if it does."""
    if s.state[server] != "leader":
        return "the server is not a leader"
    if value in s.inv_sent:
        return "the value was sent before"
    if values_in_own_epoch(s, server) >= c.max_values_per_epoch:
        return "no value of this epoch is left (max_values_per_epoch)"
    return ""


def append_value(s, server, value) -> None:
    """The leader appends the value, and the client waits until it is committed."""
    entry = Entry(command="append_command", epoch=s.current_epoch[server], value=value)
    append(s.log[server], entry)
    s.pending_ack[server] = with_node(s.pending_ack[server], value)
    s.inv_sent = with_node(s.inv_sent, value)


def client_request(s: State, c: Constants, server: Server, value: Value):
    """A client sends a value to a leader, and waits until it is committed.

    Whoever believes that it leads accepts the write, also a leader that has been replaced, and one
    that is an observer because it has removed itself (KIP-595, KIP-853).
    """
    reason = why_not_write(s, c, server, value)
    if reason:
        return reason
    append_value(s, server, value)
    commit_if_alone(s, c, server)
    return TAKEN


# --- A follower asks -----------------------------------------------------------------------------


def can_tell_leader(s, server, peer) -> bool:
    """Is the peer a connected voter that knows a leader? A shortcut: no others are asked."""
    return is_connected(s, server, peer) and s.role[peer] == "voter" and s.leader[peer] != NONE


def send_fetch_request(s: State, c: Constants, server: Server, peer: Server):
    """A follower asks its leader for the next entry; an observer without a leader asks any voter.

    Followers pull in KRaft (KIP-595): the request carries the epoch, the next offset, and the epoch
    of the entry before it. A follower goes on fetching from a leader that is no longer in its
    configuration: that leader needs it to commit its own removal (KIP-853).
    """
    if not has_started(s, server) or not has_started(s, peer):
        return "the server or the peer was never started"
    if server == peer:
        return "a server does not fetch from itself"
    if s.fetch_state[server].pending_fetch.source != NONE:
        return "the server waits for the response to its last fetch"
    follows = s.state[server] == "follower" and s.leader[server] == peer
    looks_for_leader = s.role[server] == "observer" and s.state[server] in ("unattached", "voted")
    if not follows and not looks_for_leader:
        return "the server does not follow the peer"
    if not follows and not can_tell_leader(s, server, peer):
        return "the peer is not a connected voter that knows a leader"
    request = FetchRequest(
        source=server,
        dest=peer,
        epoch=s.current_epoch[server],
        fetch_offset=len(s.log[server]) + 1,
        last_fetched_epoch=last_epoch(s.log[server]),
        observer=s.role[server] == "observer",
    )
    s.fetch_state[server].pending_fetch = request
    send(s, s.net_messages.fetch_requests, request)
    return TAKEN


# --- The leader answers --------------------------------------------------------------------------


def is_outside_configuration(s, message) -> bool:
    """Is the sender a voter for itself, but not for the receiver?

    It may not yet have fetched the entry that removes it.
    """
    return not message.observer and not is_member(s, message.source, message.dest)


def fetch_error(s, c, message) -> Error:
    """The error that a fetch request gets, whatever its position."""
    server = message.dest
    if s.state[server] != "leader":
        return "not_leader"
    if message.epoch < s.current_epoch[server]:
        return "fenced_leader_epoch"
    if message.epoch > s.current_epoch[server]:
        return "unknown_leader"
    if c.fetch_outside_configuration == "rejected" and is_outside_configuration(s, message):
        return "unknown_member"
    return "nil"


def why_not_answer(s, message) -> str:
    """Why the receiver can't answer a request; "" if it can."""
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if not is_connected(s, message.dest, message.source):
        return "the answer can't be sent: the link is down"
    return ""


def why_not_serve(s, c, message) -> str:
    """Why the receiver does not answer a fetch as the leader of its epoch; "" if it does."""
    reason = why_not_answer(s, message)
    if reason:
        return reason
    if fetch_error(s, c, message) != "nil":
        return "the server rejects the request"
    return ""


def reply(s, message, result: Result, error: Error, hwm, diverging_end) -> None:
    """Answer a fetch request; the answer names the leader that the server knows."""
    reply_naming(s, message, s.leader[message.dest], result, error, hwm, diverging_end)


def reply_naming(s, message, leader, result: Result, error: Error, hwm, diverging_end) -> None:
    """Answer a fetch request: if ok with the entry that it asks for, or with none at the log's end.

    `diverging_end` is the last offset up to which the two logs may agree, plus 1; 0 if they agree.
    """
    server, offset = message.dest, message.fetch_offset
    log = s.log[server]
    response = FetchResponse(
        source=server,
        dest=message.source,
        epoch=s.current_epoch[server],
        leader=leader,
        result=result,
        error=error,
        hwm=hwm,
        diverging_epoch=epoch_at(log, diverging_end - 1),
        diverging_end_offset=diverging_end,
        correlation=Correlation(
            epoch=message.epoch,
            fetch_offset=offset,
            last_fetched_epoch=message.last_fetched_epoch,
            observer=message.observer,
        ),
    )
    if result == "ok" and 1 <= offset <= len(log):
        response.entry = log[offset - 1]
    messages, processed = s.net_messages, s.net_messages_processed
    discard(messages.fetch_requests, processed.fetch_requests, message)
    add_once(messages.fetch_responses, response)


def reject_fetch_request(s: State, c: Constants, message: Fetch):
    """A server that does not lead, or not in the epoch of the request, answers with the error.

    The answer names the leader that it knows: this is how an observer or a follower of a former
    leader finds the present one (KIP-595).
    """
    error = fetch_error(s, c, message)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error == "nil":
        return "the server leads in the epoch of the request"
    if not is_connected(s, message.dest, message.source):
        return "the answer can't be sent: the link is down"
    reply(s, message, "not_ok", error, s.hwm[message.dest], 0)
    return TAKEN


def diverging_fetch_request(s: State, c: Constants, message: Fetch):
    """The follower's log is not consistent with the leader's: the leader says where to truncate.

    KIP-595's truncation: the answer to a fetch has the leader's last epoch that is not later than
    the follower's, and the offset where that epoch ends. Kafka's replication of partitions asks for
    it in a request of its own (OffsetsForLeaderEpoch, `kafka.kip_101`).
    """
    reason = why_not_serve(s, c, message)
    if reason:
        return reason
    log = s.log[message.dest]
    if is_valid_fetch_position(log, message):
        return "the logs agree"
    end = end_offset_for_epoch(log, message.last_fetched_epoch) + 1
    reply(s, message, "diverging", "nil", s.hwm[message.dest], end)
    return TAKEN


def accept_fetch_request_from_voter(s: State, c: Constants, message: Fetch):
    """A leader learns how far a voter is, commits what it can, and sends the next entry.

    The fetch is the acknowledgement of all entries before its offset: nothing else moves a leader's
    high watermark (KIP-595). A voter that is not in the leader's configuration gets no response,
    and so never learns of its removal: 13 states to a loop in which it waits
    (removed_server_learns). fetch_outside_configuration has what else the leader may do.
    """
    server, peer = message.dest, message.source
    reason = why_not_serve(s, c, message)
    if reason:
        return reason
    if message.observer:
        return "the request is from an observer"
    if is_outside_configuration(s, message) and c.fetch_outside_configuration != "accepted":
        return "the sender is not in the leader's configuration"
    if not is_valid_fetch_position(s.log[server], message):
        return "the logs do not agree"
    if peer in s.tracked[server]:
        s.flwr_end_offset[server][peer] = message.fetch_offset - 1
    new_hwm = new_high_watermark(s, c, server)
    if new_hwm > s.hwm[server]:
        commit_up_to(s, c, server, new_hwm)
    reply(s, message, "ok", "nil", min(new_hwm, message.fetch_offset), 0)
    return TAKEN


def accept_fetch_request_from_observer(s: State, c: Constants, message: Fetch):
    """A leader sends the next entry to an observer; it does not keep how far the observer is.

    Observers never count for a majority (KIP-595). Also a server that has just been added is
    answered here, until it has fetched the command that makes it a voter.
    """
    server = message.dest
    reason = why_not_serve(s, c, message)
    if reason:
        return reason
    if not message.observer:
        return "the request is from a voter"
    if not is_valid_fetch_position(s.log[server], message):
        return "the logs do not agree"
    reply(s, message, "ok", "nil", min(s.hwm[server], message.fetch_offset), 0)
    return TAKEN


# --- The high watermark ------------------------------------------------------------------------


def is_held_by_quorum(s, c, server, offset) -> bool:
    """Does a majority of the members have the log up to this offset?

    A leader that is not a member does not count itself (KIP-853). With two servers, 5 states to a
    lost value if it does (removed_leader_counts_itself, acked_value_not_lost; exercise
    count_the_right_servers).
    """
    voters = s.config[server].members
    ends = s.flwr_end_offset[server]
    count = sum(1 for member in voters if member == server or ends[member] >= offset)
    if c.removed_leader_counts_itself and not is_member(s, server, server):
        count += 1
    return 2 * count > len(voters)


def new_high_watermark(s, c, server) -> int:
    """How far a majority has the leader's log, or the present high watermark if that is too early.

    Too early is an entry of an earlier epoch: another leader may still overwrite it, though a
    majority has it (figure 8 of the Raft paper; hwm_over_earlier_epoch shows it in 23 states). The
    result may be below the present high watermark, as after an addition.
    """
    log, found = s.log[server], 0
    for offset in range(1, len(log) + 1):
        if is_held_by_quorum(s, c, server, offset):
            found = offset
    if found == 0:
        return s.hwm[server]
    if epoch_at(log, found) != s.current_epoch[server] and not c.hwm_over_earlier_epoch:
        return s.hwm[server]
    return found


def is_removed_by(s, c, server, new_hwm) -> bool:
    """Does this high watermark commit a removal of the server itself?"""
    if c.old_removal_fixed and is_member(s, server, server):
        return False
    for offset in range(s.hwm[server] + 1, new_hwm + 1):
        entry = s.log[server][offset - 1]
        if entry.command == "remove_voter_command" and server not in entry.members:
            return True
    return False


def acknowledge(s, server, new_hwm) -> None:
    """Tell the clients whose values this high watermark commits."""
    for offset in range(s.hwm[server] + 1, new_hwm + 1):
        value = s.log[server][offset - 1].value
        if value in s.pending_ack[server]:
            s.inv_pos_acked = with_node(s.inv_pos_acked, value)
            s.pending_ack[server] = without_node(s.pending_ack[server], value)


def commit_up_to(s, c, server, new_hwm) -> None:
    """Raise the high watermark. A leader that commits its own removal thereby resigns (KIP-853)."""
    leaves = is_removed_by(s, c, server, new_hwm)
    acknowledge(s, server, new_hwm)
    adopt_last_config(s, server, new_hwm)
    if leaves:
        s.role[server] = "observer"
        transition_to_unattached(s, c, server, s.current_epoch[server])
        s.hwm[server] = 0
        reset_end_offsets(s, c, server, 0)
    else:
        track_members(s, c, server)
        s.hwm[server] = new_hwm


def commit_if_alone(s, c, server) -> None:
    """In a configuration of one no fetch moves the high watermark: it goes to the log's end.

    No client is told, and no configuration counts as committed by it.
    """
    voters = s.config[server].members
    end = len(s.log[server])
    if len(voters) == 1 and not c.single_voter_commit_fixed:
        s.hwm[server] = end
    elif voters == only(server) and s.hwm[server] < end:  # with the fix
        commit_up_to(s, c, server, end)


# --- The follower handles the answer -------------------------------------------------------------


def is_answer_to(response, request) -> bool:
    """Does a fetch response answer this fetch request?"""
    correlation = response.correlation
    return (
        response.source == request.dest
        and response.dest == request.source
        and correlation.epoch == request.epoch
        and correlation.fetch_offset == request.fetch_offset
        and correlation.last_fetched_epoch == request.last_fetched_epoch
        and correlation.observer == request.observer
    )


def extend_or_truncate(s, server, message) -> None:
    """Append the entry of the response, or truncate the log to where the logs diverge."""
    log = s.log[server]
    if message.result == "ok" and message.entry.command != "nil":
        append(log, message.entry)
    elif message.result == "diverging":
        end, epoch = message.diverging_end_offset - 1, message.diverging_epoch
        truncate(log, highest_common_offset(log, end, epoch))


def switch_configuration(s, c, server, hwm) -> None:
    """Assume the last configuration of the log: a new one, or, after a truncation, an earlier one.

    From now on the server is a voter if it is a member, and an observer if not.
    """
    adopt_last_config(s, server, hwm)
    is_voter = is_member(s, server, server)
    if is_voter != (s.role[server] == "voter"):
        s.role[server] = "voter" if is_voter else "observer"
        s.state[server] = "follower"
        s.votes_recv[server] = nodes_up_to(0)
    track_members(s, c, server)


def learn_high_watermark(s, c, server, message) -> None:
    """A follower's high watermark becomes what the leader says, even if that is lower.

    hwm_monotone shows that; Kafka throws an exception (`FollowerState.updateHighWatermark`).
    """
    learned = message.hwm if message.result == "ok" else s.hwm[server]
    if c.follower_hwm_fixed:
        learned = min(max(learned, s.hwm[server]), len(s.log[server]))
    s.hwm[server] = learned


def take_what_it_brings(s, c, server, message) -> None:
    """Change the log as the response says, and with it configuration and high watermark."""
    extend_or_truncate(s, server, message)
    switch_configuration(s, c, server, message.hwm)
    learn_high_watermark(s, c, server, message)


def finish_fetch(s, message) -> None:
    """The server waits for no response any more, and knows how its last fetch went."""
    latest = FetchResult(peer=message.source, error=message.error)
    s.fetch_state[message.dest] = FetchState()
    s.fetch_state[message.dest].last_fetch_res = latest
    discard(s.net_messages.fetch_responses, s.net_messages_processed.fetch_responses, message)


def handle_fetch_response(s: State, c: Constants, message: FetchAnswer):
    """A follower handles the response that it waits for: an entry, a divergence, or an error.

    A configuration command takes effect as soon as it is in the log, and ends if it is truncated;
    it need not be committed (KIP-853).
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    pending = s.fetch_state[server].pending_fetch
    if not is_answer_to(message, pending):
        return "the server does not wait for this response"
    if is_handled_by_common_rules(s, server, message) or s.state[server] != "follower":
        maybe_handle_common_response(s, c, server, message)
    else:
        take_what_it_brings(s, c, server, message)
    finish_fetch(s, message)
    return TAKEN


# --- The follower waits in vain ------------------------------------------------------------------


def has_failed_fetch(s, c, server) -> bool:
    """Was the leader's last response an error?"""
    latest = s.fetch_state[server].last_fetch_res
    if c.unknown_member_delays_only and latest.error == "unknown_member":
        return False
    return latest.peer != NONE and latest.error != "nil" and latest.peer == s.leader[server]


def has_lost_fetch(s, server) -> bool:
    """Does the server wait for a response that will never come?"""
    pending = s.fetch_state[server].pending_fetch
    if pending.source == NONE or pending in s.net_messages.fetch_requests:
        return False
    return not any(is_answer_to(response, pending) for response in s.net_messages.fetch_responses)


def can_fetch_timeout(s, c, server) -> bool:
    """Does the server have a reason to believe that the leader is gone?"""
    return has_failed_fetch(s, c, server) or has_lost_fetch(s, server)
