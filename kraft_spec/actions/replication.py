"""Replication: followers and observers fetch from their leader, one entry at a time.

The request says where the follower's log ends. So the leader learns how far the follower is, and
can commit; and where the two logs diverge, the response says how much the follower must truncate.
"""

from kraft_spec.actions.failures import is_answer_to
from kraft_spec.actions.high_watermark import commit_up_to, new_high_watermark
from kraft_spec.actions.logs import (
    adopt_last_config,
    end_offset_for_epoch,
    entry_at,
    epoch_at,
    highest_common_offset,
    is_valid_fetch_position,
    last_epoch,
    track_members,
)
from kraft_spec.actions.network import discard, is_receivable, send
from kraft_spec.actions.server_states import (
    apply_state,
    by_common_rules,
    is_handled_by_common_rules,
)
from kraft_spec.extensions.broken_rules import ACCEPTED, REJECTED
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.messages import Correlation, FetchRequest, FetchResponse
from kraft_spec.model.names import (
    DIVERGING,
    FENCED_LEADER_EPOCH,
    FOLLOWER,
    LEADER,
    NO_ERROR,
    NOT_LEADER,
    NOT_OK,
    OBSERVER,
    OK,
    UNATTACHED,
    UNKNOWN_LEADER,
    UNKNOWN_MEMBER,
    VOTED,
    VOTER,
    Server,
)
from kraft_spec.model.state import FetchResult, State, has_started, is_member
from protocol_lab import NONE, TAKEN, Member, add_once, append, contains, truncate

Fetch = Member("net_messages.fetch_requests")
FetchAnswer = Member("net_messages.fetch_responses")


# --- The request -------------------------------------------------------------------------------


def is_looking_for_leader(s, server) -> bool:
    """Is the server an observer that knows no leader?"""
    return s.role[server] == OBSERVER and (
        s.state[server] == UNATTACHED or s.state[server] == VOTED
    )


def can_tell_leader(s, server, peer) -> bool:
    """Is the peer a connected voter that knows a leader? A shortcut: no others are asked."""
    return is_connected(s, server, peer) and s.role[peer] == VOTER and s.leader[peer] != NONE


def send_fetch_request(s: State, c: Constants, server: Server, peer: Server):
    """A follower asks its leader for the next entry; an observer without a leader asks any voter.

    A follower goes on fetching from a leader that is no longer in its configuration: that leader
    needs it to commit its own removal.
    """
    if not has_started(s, server) or not has_started(s, peer):
        return "the server or the peer was never started"
    if server == peer:
        return "a server does not fetch from itself"
    if s.fetch_state[server].pending_fetch.source != NONE:
        return "the server waits for the response to its last fetch"
    follows = s.state[server] == FOLLOWER and s.leader[server] == peer
    if not follows and not is_looking_for_leader(s, server):
        return "the server does not follow the peer"
    if not follows and not can_tell_leader(s, server, peer):
        return "the peer is not a connected voter that knows a leader"
    request = FetchRequest(
        source=server,
        dest=peer,
        epoch=s.current_epoch[server],
        fetch_offset=s.log[server].length + 1,
        last_fetched_epoch=last_epoch(s.log[server]),
        observer=s.role[server] == OBSERVER,
    )
    s.fetch_state[server].pending_fetch = request
    send(s, s.net_messages.fetch_requests, request)
    return TAKEN


# --- The leader's response ---------------------------------------------------------------------


def fetch_error(s, c, message) -> int:
    """The error that a fetch request gets, whatever its position."""
    server = message.dest
    if s.state[server] != LEADER:
        return NOT_LEADER
    if message.epoch < s.current_epoch[server]:
        return FENCED_LEADER_EPOCH
    if message.epoch > s.current_epoch[server]:
        return UNKNOWN_LEADER
    if c.fetch_outside_configuration == REJECTED and is_outside_configuration(s, message):
        return UNKNOWN_MEMBER
    return NO_ERROR


def is_outside_configuration(s, message) -> bool:
    """Is the sender a voter for itself, but not for the receiver?

    It may not yet have fetched the entry that removes it.
    """
    return not message.observer and not is_member(s, message.source, message.dest)


def reply(s, message, leader, result, error, hwm, offset, diverging_end) -> None:
    """Answer a fetch request with the entry at `offset`, and where the logs diverge (0: neither).

    `diverging_end` is the last offset up to which the two logs may agree, plus 1.
    """
    server = message.dest
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
            fetch_offset=message.fetch_offset,
            last_fetched_epoch=message.last_fetched_epoch,
            observer=message.observer,
        ),
    )
    if 1 <= offset <= log.length:
        response.entry = entry_at(log, offset)
    messages, processed = s.net_messages, s.net_messages_processed
    discard(messages.fetch_requests, processed.fetch_requests, message)
    add_once(messages.fetch_responses, response)


def reject_fetch_request(s: State, c: Constants, message: Fetch):
    """A server that does not lead, or not in the epoch of the request, answers with the error."""
    server = message.dest
    error = fetch_error(s, c, message)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error == NO_ERROR:
        return "the server leads in the epoch of the request"
    if not is_connected(s, server, message.source):
        return "the answer can't be sent: the link is down"
    reply(s, message, s.leader[server], NOT_OK, error, s.hwm[server], 0, 0)
    return TAKEN


def diverging_fetch_request(s: State, c: Constants, message: Fetch):
    """The follower's log is not consistent with the leader's: the leader says where to truncate."""
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if fetch_error(s, c, message) != NO_ERROR:
        return "the server rejects the request"
    if is_valid_fetch_position(s.log[server], message):
        return "the logs agree"
    if not is_connected(s, server, message.source):
        return "the answer can't be sent: the link is down"
    end = end_offset_for_epoch(s.log[server], message.last_fetched_epoch) + 1
    reply(s, message, s.leader[server], DIVERGING, NO_ERROR, s.hwm[server], 0, end)
    return TAKEN


def accept_fetch_request_from_voter(s: State, c: Constants, message: Fetch):
    """A leader learns how far a voter is, commits what it can, and sends the next entry.

    A voter that is not in the leader's configuration gets no response.
    """
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if fetch_error(s, c, message) != NO_ERROR:
        return "the server rejects the request"
    if message.observer:
        return "the request is from an observer"
    if is_outside_configuration(s, message) and c.fetch_outside_configuration != ACCEPTED:
        return "the sender is not in the leader's configuration"
    if not is_valid_fetch_position(s.log[server], message):
        return "the logs do not agree"
    if not is_connected(s, server, peer):
        return "the answer can't be sent: the link is down"
    if contains(s.tracked[server], peer):
        s.flwr_end_offset[server][peer] = message.fetch_offset - 1
    new_hwm = new_high_watermark(s, c, server)
    if new_hwm > s.hwm[server]:
        commit_up_to(s, c, server, new_hwm)
    offset = message.fetch_offset
    reply(s, message, s.leader[server], OK, NO_ERROR, min(new_hwm, offset), offset, 0)
    return TAKEN


def accept_fetch_request_from_observer(s: State, c: Constants, message: Fetch):
    """A leader sends the next entry to an observer; it does not keep how far the observer is."""
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if fetch_error(s, c, message) != NO_ERROR:
        return "the server rejects the request"
    if not message.observer:
        return "the request is from a voter"
    if not is_valid_fetch_position(s.log[server], message):
        return "the logs do not agree"
    if not is_connected(s, server, message.source):
        return "the answer can't be sent: the link is down"
    offset = message.fetch_offset
    reply(s, message, s.leader[server], OK, NO_ERROR, min(s.hwm[server], offset), offset, 0)
    return TAKEN


# --- Handling the response ---------------------------------------------------------------------


def extend_or_truncate(s, server, message) -> None:
    """Append the entry of the response, or truncate the log to where the logs diverge."""
    log = s.log[server]
    if message.result == OK and message.entry.command != NONE:
        append(log, message.entry)
    elif message.result == DIVERGING:
        end, epoch = message.diverging_end_offset - 1, message.diverging_epoch
        truncate(log, highest_common_offset(log, end, epoch))


def switch_configuration(s, c, server, hwm) -> None:
    """Assume the last configuration of the log: a new one, or, after a truncation, an earlier one.

    From now on the server is a voter if it is a member, and an observer if not.
    """
    adopt_last_config(s, server, hwm)
    role = VOTER if is_member(s, server, server) else OBSERVER
    if s.role[server] != role:
        s.role[server] = role
        s.state[server] = FOLLOWER
        s.votes_recv[server] = 0
    track_members(s, c, server)


def learn_high_watermark(s, c, server, message) -> None:
    """A follower's high watermark becomes what the leader says, even if that is lower."""
    learned = message.hwm if message.result == OK else s.hwm[server]
    if c.follower_hwm_fixed:
        learned = min(max(learned, s.hwm[server]), s.log[server].length)
    s.hwm[server] = learned


def handle_fetch_response(s: State, c: Constants, message: FetchAnswer):
    """A follower handles the response that it waits for: an entry, a divergence, or an error.

    A configuration command that it appends or truncates takes effect at once.
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    pending = s.fetch_state[server].pending_fetch
    if not is_answer_to(message, pending):
        return "the server does not wait for this response"
    if is_handled_by_common_rules(s, server, message) or s.state[server] != FOLLOWER:
        apply_state(s, c, server, by_common_rules(s, c, server, message))
    else:
        extend_or_truncate(s, server, message)
        switch_configuration(s, c, server, message.hwm)
        learn_high_watermark(s, c, server, message)
    s.fetch_state[server] = 0
    last = FetchResult(peer=message.source, error=message.error)
    s.fetch_state[server].last_fetch_res = last
    discard(s.net_messages.fetch_responses, s.net_messages_processed.fetch_responses, message)
    return TAKEN
