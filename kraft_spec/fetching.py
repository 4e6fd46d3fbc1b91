"""Fetching: followers and observers ask their leader for the next entry, one at a time.

The request says where the follower's log ends. So the leader learns how far the follower is, and
can commit; and where the two logs part, the answer says at which entry the follower has to cut.
"""

from kraft_spec.committing import commit_up_to, new_high_watermark
from kraft_spec.constants import ACCEPTED, REJECTED, Constants
from kraft_spec.failures import is_answer_to
from kraft_spec.logs import (
    adopt_last_config,
    end_offset_for_epoch,
    entry_at,
    epoch_at,
    highest_common_offset,
    is_valid_fetch_position,
    is_where_logs_agree,
    last_epoch,
    track_members,
)
from kraft_spec.network import discard, is_connected, is_receivable, send
from kraft_spec.transitions import apply_state, by_common_rules, is_handled_by_common_rules
from kraft_spec.types import (
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
    Correlation,
    FetchRequest,
    FetchResponse,
    FetchResult,
    Server,
    State,
    has_started,
    is_member,
)
from protocol_lab import NONE, TAKEN, Member, add_once, append, contains, truncate

Fetch = Member("net_messages.fetch_requests")
FetchAnswer = Member("net_messages.fetch_responses")


# --- Asking ------------------------------------------------------------------------------------


def is_looking_for_leader(s, server) -> bool:
    """Is the server an observer that knows no leader?"""
    return s.role[server] == OBSERVER and (
        s.state[server] == UNATTACHED or s.state[server] == VOTED
    )


def can_tell_leader(s, server, peer) -> bool:
    """Is the peer a voter within reach that knows a leader? A short cut: others are not asked."""
    return is_connected(s, server, peer) and s.role[peer] == VOTER and s.leader[peer] != NONE


def send_fetch_request(s: State, c: Constants, server: Server, peer: Server):
    """A follower asks its leader for the next entry; an observer may ask who leads.

    A follower goes on asking a leader that its own configuration does not have any more: only so
    can that leader commit its own removal.
    """
    if not has_started(s, server) or not has_started(s, peer):
        return "one of the two was never started"
    if server == peer:
        return "a server does not fetch from itself"
    if s.fetch_state[server].pending_fetch.source != NONE:
        return "the server waits for the answer to its last fetch"
    follows = s.state[server] == FOLLOWER and s.leader[server] == peer
    if not follows and not is_looking_for_leader(s, server):
        return "the server does not follow the peer"
    if not follows and not can_tell_leader(s, server, peer):
        return "the peer is no voter within reach that knows a leader"
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


# --- Answering ---------------------------------------------------------------------------------


def fetch_error(s, c, message) -> int:
    """What is wrong with a fetch request, apart from its position."""
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
    """Is it from a server that calls itself a voter, and that the receiver does not count as one?

    It may not have reached the entry yet that removes it.
    """
    return not message.observer and not is_member(s, message.source, message.dest)


def reply(s, message, leader, result, error, hwm, offset, diverging_end) -> None:
    """Answer a fetch request: with the entry at an offset, and where the logs part (0: neither).

    `diverging_end` is the last offset at which the two logs may agree, plus 1.
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
    """A server that does not lead, or not in the epoch of the request, says so."""
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
    """The follower's log does not agree with the leader's: the leader says where they part."""
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

    A voter that is not in the leader's configuration gets no answer in the original, though the
    original's prose says that it does (see fetch_outside_configuration).
    """
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if fetch_error(s, c, message) != NO_ERROR:
        return "the server rejects the request"
    if message.observer:
        return "the request is an observer's"
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
    told, offset = min(new_hwm, message.fetch_offset), message.fetch_offset
    reply(s, message, s.leader[server], OK, NO_ERROR, told, offset, 0)
    return TAKEN


def position_witnesses(s, c, message) -> int:
    """The original says "at the start, or where the logs agree", and both may be true."""
    log = s.log[message.dest]
    return 1 + (message.fetch_offset == 1 and is_where_logs_agree(log, message))


def accept_fetch_request_from_observer(s: State, c: Constants, message: Fetch):
    """A leader sends the next entry to an observer; it takes no note of how far that is."""
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if fetch_error(s, c, message) != NO_ERROR:
        return "the server rejects the request"
    if not message.observer:
        return "the request is a voter's"
    if not is_valid_fetch_position(s.log[server], message):
        return "the logs do not agree"
    if not is_connected(s, server, message.source):
        return "the answer can't be sent: the link is down"
    told, offset = min(s.hwm[server], message.fetch_offset), message.fetch_offset
    reply(s, message, s.leader[server], OK, NO_ERROR, told, offset, 0)
    return TAKEN


# --- Taking the answer -------------------------------------------------------------------------


def extend_or_cut(s, server, message) -> None:
    """Append what the answer brings, or cut the log where it says that the logs part."""
    log = s.log[server]
    if message.result == OK and message.entry.command != NONE:
        append(log, message.entry)
    elif message.result == DIVERGING:
        end, epoch = message.diverging_end_offset - 1, message.diverging_epoch
        truncate(log, highest_common_offset(log, end, epoch))


def switch_configuration(s, c, server, hwm) -> None:
    """Assume the last configuration in the log: a new one, or, after a cut, an earlier one.

    A server that is in it is a voter from now on, one that is not an observer.
    """
    adopt_last_config(s, server, hwm)
    role = VOTER if is_member(s, server, server) else OBSERVER
    if s.role[server] != role:
        s.role[server] = role
        s.state[server] = FOLLOWER
        s.votes_recv[server] = 0
    track_members(s, c, server)


def learn_high_watermark(s, c, server, message) -> None:
    """A follower's high watermark is what the answer says, so it may go down.

    Nor is it cut with the log; follower_hwm_fixed mends both.
    """
    if not c.follower_hwm_fixed:
        if message.result == OK:
            s.hwm[server] = message.hwm
        return
    if message.result == OK:
        s.hwm[server] = max(s.hwm[server], message.hwm)
    s.hwm[server] = min(s.hwm[server], s.log[server].length)


def handle_fetch_response(s: State, c: Constants, message: FetchAnswer):
    """A follower takes the answer that it waits for: an entry, where to cut, or an error."""
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    pending = s.fetch_state[server].pending_fetch
    if not is_answer_to(message, pending):
        return "the server does not wait for this answer"
    if is_handled_by_common_rules(s, server, message) or s.state[server] != FOLLOWER:
        apply_state(s, c, server, by_common_rules(s, c, server, message))
    else:
        extend_or_cut(s, server, message)
        switch_configuration(s, c, server, message.hwm)
        learn_high_watermark(s, c, server, message)
    s.fetch_state[server] = 0
    last = FetchResult(peer=message.source, error=message.error)
    s.fetch_state[server].last_fetch_res = last
    discard(s.net_messages.fetch_responses, s.net_messages_processed.fetch_responses, message)
    return TAKEN
