"""Failures: timeouts of leaders and observers, restarts, and lost disks.

With test_liveness a timeout needs a cause; without, it can happen at any time.
"""

from kraft_spec.actions.logs import reset_end_offsets
from kraft_spec.actions.network import disconnect_dead_server, pairs_down_without
from kraft_spec.actions.server_states import (
    apply_state,
    fail_pending_writes,
    no_transition,
    to_resigned,
    to_unattached,
)
from kraft_spec.extensions.side_effects import (
    announce_resignation,
    forget_join_request,
    lose_membership_requests,
)
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.names import (
    DEAD_NO_STATE,
    LEADER,
    NO_ERROR,
    OBSERVER,
    UNKNOWN_MEMBER,
    VOTER,
    Server,
)
from kraft_spec.model.state import State, has_started
from protocol_lab import NONE, TAKEN, erase, members, size

# --- Timeouts ----------------------------------------------------------------------------------


def supports(s, leader, peer) -> bool:
    """Would the peer, seen from outside, still fetch from this leader?"""
    is_voter = s.role[peer] == VOTER and s.current_epoch[peer] <= s.current_epoch[leader]
    return is_connected(s, leader, peer) and (is_voter or s.role[peer] == OBSERVER)


def check_quorum_resign(s: State, c: Constants, server: Server):
    """A leader from which no majority fetches any more gives up.

    Clients that wait for a write are told nothing: if the server is elected again, it may still
    commit the write.
    """
    if s.state[server] != LEADER:
        return "the server is not a leader"
    voters = s.config[server].members
    supporters = sum(1 for peer in members(voters) if peer != server and supports(s, server, peer))
    if c.test_liveness and supporters >= size(voters) // 2:
        return "a majority can fetch from the leader"
    announce_resignation(s, c, server)
    if s.role[server] == VOTER:
        apply_state(s, c, server, to_resigned(s, server))
    else:
        epoch = s.current_epoch[server]
        apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
    return TAKEN


def has_failed_fetch(s, c, server) -> bool:
    """Was the leader's last response an error?"""
    last = s.fetch_state[server].last_fetch_res
    if c.unknown_member_delays_only and last.error == UNKNOWN_MEMBER:
        return False
    return last.peer != NONE and last.error != NO_ERROR and last.peer == s.leader[server]


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


def has_lost_fetch(s, server) -> bool:
    """Does the server wait for a response that will never come?"""
    pending = s.fetch_state[server].pending_fetch
    requests, responses = s.net_messages.fetch_requests, s.net_messages.fetch_responses
    if pending.source == NONE:
        return False
    for position in range(requests.size):
        if requests.items[position] == pending:
            return False
    for position in range(responses.size):
        if is_answer_to(responses.items[position], pending):
            return False
    return True


def can_fetch_timeout(s, c, server) -> bool:
    """Does the server have a reason to believe that the leader is gone?"""
    return has_failed_fetch(s, c, server) or has_lost_fetch(s, server)


def observer_fetch_timeout(s: State, c: Constants, server: Server):
    """An observer waits no longer for its leader, and looks for one; it forgets its vote."""
    if s.role[server] != OBSERVER:
        return "the server is not an observer"
    if c.test_liveness and not can_fetch_timeout(s, c, server):
        return "the server has no reason to give up its leader"
    epoch = s.current_epoch[server]
    apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
    erase(s.fetch_state, server)
    return TAKEN


# --- Restarts and lost disks ---------------------------------------------------------------------


def restarted(s, c, server):
    """What a server is after a restart: a leader no longer leads, all others go on."""
    if s.state[server] != LEADER:
        return no_transition(s, server)
    if s.role[server] == VOTER:
        return to_resigned(s, server)
    return to_unattached(s, c, server, s.current_epoch[server], s.role[server])


def restart_with_state(s: State, c: Constants, server: Server):
    """A server restarts from its disk; what was in memory is gone.

    On disk are role, state, epoch, leader, vote, configuration and log. A leader that removed
    itself and has voted can't restart: the original has it forget its vote, and has the vote stay.
    """
    if s.aux_ctrs.restart_ctr >= c.max_restarts:
        return "no restart is left (max_restarts)"
    if not has_started(s, server):
        return "the server was never started"
    if s.state[server] == DEAD_NO_STATE:
        return "the server has lost its disk"
    new = restarted(s, c, server)
    if new.voted_for != s.voted_for[server]:
        return "the server would forget its vote"
    apply_state(s, c, server, new)
    s.hwm[server] = 0
    erase(s.fetch_state, server)
    reset_end_offsets(s, c, server, s.tracked[server])
    fail_pending_writes(s, server)
    forget_join_request(s, c, server)
    s.aux_ctrs.restart_ctr += 1
    return TAKEN


def crash_lose_state(s: State, c: Constants, server: Server):
    """A voter loses its disk and is gone for good; its links go down.

    max_disconnected_pairs must permit that all its links are down. A server that is started on the
    same host later is another one, with another disk.
    """
    if s.aux_ctrs.crash_ctr >= c.max_crashes:
        return "no crash is left (max_crashes)"
    if not has_started(s, server):
        return "the server was never started"
    if s.role[server] != VOTER:
        return "the server is not a voter"
    if pairs_down_without(s, c, server) > c.max_disconnected_pairs:
        return "too many links would be down"
    disconnect_dead_server(s, c, server)
    fail_pending_writes(s, server)
    s.state[server] = DEAD_NO_STATE
    s.role[server] = NONE
    s.current_epoch[server] = 0
    s.leader[server] = NONE
    s.voted_for[server] = NONE
    s.votes_recv[server] = 0
    s.hwm[server] = 0
    erase(s.config, server)
    erase(s.log, server)
    erase(s.fetch_state, server)
    reset_end_offsets(s, c, server, 0)
    lose_membership_requests(s, c, server)
    s.aux_ctrs.crash_ctr += 1
    return TAKEN
