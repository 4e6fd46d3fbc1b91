"""The life of an entry, as far as it differs from `kraft_spec.actions.replication`.

Fetches are answered to members of the leader's configuration only. A voter without a leader asks
any other; an observer without one asks nobody.
"""

from kraft_spec.actions.replication import (
    Fetch,
    FetchAnswer,
    acknowledge,
    adopt_last_config,
    append_value,
    can_fetch_timeout,
    can_tell_leader,
    finish_fetch,
    is_answer_to,
    is_outside_configuration,
    is_removed_by,
    is_valid_fetch_position,
    last_epoch,
    new_high_watermark,
    reply_naming,
    reset_end_offsets,
    take_what_it_brings,
    track_members,
    why_not_serve,
    why_not_write,
)
from kraft_spec.pre_vote.model import *
from kraft_spec.pre_vote.server_states import (
    is_handled_by_common_rules,
    maybe_handle_common_response,
    step_down,
)
from protocol_lab import *

# --- A client writes -----------------------------------------------------------------------------


def handle_client_request(s: State, c: Constants, server: Server, value: Value):
    """A client sends a value to a leader, and waits until it is committed.

    As in `kraft.kip_853`, a leader that is the only member commits it and tells nobody.
    """
    reason = why_not_write(s, c, server, value)
    if reason:
        return reason
    append_value(s, server, value)
    if len(s.config[server].members) == 1:
        s.hwm[server] = len(s.log[server])
    return TAKEN


# --- A follower asks -----------------------------------------------------------------------------


def logs_differ(s, server, peer) -> bool:
    """Do the two logs differ anywhere?"""
    mine, theirs = s.log[server], s.log[peer]
    if len(mine) != len(theirs):
        return True
    return any(mine[k] != theirs[k] for k in range(len(mine)))


def ways_to_progress(s, server, peer) -> int:
    """How many reasons there are for a fetch to bring something, seen from outside.

    The last but two is meant to stop a follower that has everything, and never does: what a leader
    has noted of a follower is always less than the offset that it fetches next.
    """
    leads = s.state[peer] == "leader"
    is_behind = s.flwr_end_offset[peer][server] < len(s.log[server]) + 1
    return (
        logs_differ(s, server, peer)
        + (s.hwm[server] != s.hwm[peer])
        + (leads and (server not in s.tracked[peer] or is_behind))
        + (s.current_epoch[server] != s.current_epoch[peer])
        + (not leads)
    )


def asks_in_a_circle(s, server, leader) -> bool:
    """Was a voter that its leader can't reach refused, by a server that the leader reaches?"""
    if s.role[server] != "voter" or is_connected(s, server, leader):
        return False
    return any(
        answer.pre_vote
        and answer.dest == server
        and not answer.vote_granted
        and answer.leader == leader
        and answer.epoch == s.current_epoch[server]
        and is_connected(s, answer.source, leader)
        and answer.source != leader
        for answer in s.net_messages_processed.vote_responses
    )


def ways_to_follow(s, c, server, peer) -> int:
    """A follower that waits for nothing fetches from its leader: with how many reasons?"""
    if s.state[server] != "follower" or s.leader[server] != peer:
        return 0
    if s.fetch_state[server].pending_fetch.source != NONE:
        return 0
    if not c.test_liveness:
        return 1
    if asks_in_a_circle(s, server, peer):
        return 0
    return ways_to_progress(s, server, peer)


def looks_for_leader(s, c, server, peer) -> bool:
    """Is the server a voter without a leader, that may ask this peer?"""
    return (
        s.state[server] == "unattached"
        and s.role[server] == "voter"
        and s.fetch_state[server].pending_fetch.source == NONE
        and (not c.test_liveness or can_tell_leader(s, server, peer))
    )


def tries_another(s, c, server, peer) -> bool:
    """Is the server an observer that has given up its leader? It may try any server."""
    if s.state[server] != "follower" or s.role[server] != "observer":
        return False
    if not can_fetch_timeout(s, c, server):
        return False
    latest = s.fetch_state[server].last_fetch_res
    return not c.test_liveness or latest.error != "not_leader" or latest.peer != peer


def send_fetch_request(s: State, c: Constants, server: Server, peer: Server):
    """A follower asks its leader for the next entry; a voter without a leader asks any other.

    So does an observer whose leader does not answer. An observer without a leader asks nobody, in
    the original: a new server does nothing until a leader adds it and says so.
    """
    if not has_started(s, server) or not has_started(s, peer):
        return "the server or the peer was never started"
    if server == peer:
        return "a server does not fetch from itself"
    if (
        ways_to_follow(s, c, server, peer) == 0
        and not looks_for_leader(s, c, server, peer)
        and not tries_another(s, c, server, peer)
    ):
        return "the server has nothing to ask the peer, or waits for an answer"
    request = FetchRequest(
        source=server,
        dest=peer,
        epoch=s.current_epoch[server],
        fetch_offset=len(s.log[server]) + 1,
        last_fetched_epoch=last_epoch(s.log[server]),
    )
    s.fetch_state[server].pending_fetch = request
    send(s, s.net_messages.fetch_requests, request)
    return TAKEN


# --- The leader answers --------------------------------------------------------------------------


def commit_up_to(s, c, server, new_hwm) -> bool:
    """Raise the high watermark. True if the leader thereby commits its own removal, and resigns."""
    leaves = is_removed_by(s, c, server, new_hwm)
    acknowledge(s, server, new_hwm)
    adopt_last_config(s, server, new_hwm)
    if leaves:
        step_down(s, c, server)
        s.hwm[server] = 0
        reset_end_offsets(s, c, server, 0)
    else:
        track_members(s, c, server)
        s.hwm[server] = new_hwm
    return leaves


def accept_fetch_request(s: State, c: Constants, message: Fetch):
    """A leader learns how far a voter is, commits what it can, and sends the next entry.

    Only a member of the leader's configuration is answered, whatever it takes itself for; so a new
    server can't catch up before it is added. A leader that commits its own removal resigns, and the
    answer names no leader.
    """
    server, peer = message.dest, message.source
    reason = why_not_serve(s, c, message)
    if reason:
        return reason
    if is_outside_configuration(s, message) and c.fetch_outside_configuration != "accepted":
        return "the sender is not in the leader's configuration"
    if not is_valid_fetch_position(s.log[server], message):
        return "the logs do not agree"
    if peer in s.tracked[server]:
        s.flwr_end_offset[server][peer] = message.fetch_offset - 1
    new_hwm = new_high_watermark(s, c, server)
    leaves = False
    if new_hwm > s.hwm[server]:
        leaves = commit_up_to(s, c, server, new_hwm)
    leader = NONE if leaves else s.leader[server]
    hwm = min(new_hwm, message.fetch_offset)
    reply_naming(s, message, leader, "ok", "nil", hwm, 0)
    return TAKEN


# --- The follower handles the answer -------------------------------------------------------------


def handle_fetch_response(s: State, c: Constants, message: FetchAnswer):
    """A server handles the response that it waits for: an entry, a divergence, or an error.

    An unattached voter that meets the leader follows it, and takes the entry in the same step. From
    the first answer without an error on a follower refuses pre-votes.
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    pending = s.fetch_state[server].pending_fetch
    if not is_answer_to(message, pending):
        return "the server does not wait for this response"
    is_handled = is_handled_by_common_rules(s, server, message)
    maybe_handle_common_response(s, c, server, message)
    if not is_handled:
        take_what_it_brings(s, c, server, message)
    finish_fetch(s, message)
    if message.error == "nil":
        s.has_fetch_success[server] = True
    return TAKEN
