"""What goes wrong at a server: restarts, lost disks, and timeouts of leaders and observers.

With test_liveness timeouts need a cause; without, they can happen at any time.
"""

from kraft_spec.constants import Constants
from kraft_spec.logs import reset_end_offsets
from kraft_spec.network import (
    disconnect_dead_server,
    is_connected,
    lose_membership_requests,
    pairs_down_without,
    say_that_quorum_ended,
)
from kraft_spec.transitions import (
    apply_state,
    fail_pending_writes,
    no_transition,
    to_resigned,
    to_unattached,
)
from kraft_spec.types import (
    DEAD_NO_STATE,
    LEADER,
    NO_ERROR,
    OBSERVER,
    UNKNOWN_MEMBER,
    VOTER,
    Server,
    State,
    has_started,
)
from protocol_lab import NONE, TAKEN, erase, members, size

# --- Restarts and lost disks ---------------------------------------------------------------------


def restarted(s, c, server):
    """What a server is when it is back: a leader does not lead any more, all others go on."""
    if s.state[server] != LEADER:
        return no_transition(s, server)
    if s.role[server] == VOTER:
        return to_resigned(s, server)
    return to_unattached(s, c, server, s.current_epoch[server], s.role[server])


def restart_with_state(s: State, c: Constants, server: Server):
    """A server restarts from its disk; what was in memory is gone.

    On disk are role, state, epoch, leader, vote, configuration and log. In the original a leader
    that removed itself can't restart if it has voted: it would forget its vote, and the same
    action says that the vote stays.
    """
    if s.aux_ctrs.restart_ctr >= c.max_restarts:
        return "there were restarts enough"
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
    if c.membership_requests:
        s.membership.asked[server] = NONE
    s.aux_ctrs.restart_ctr += 1
    return TAKEN


def crash_lose_state(s: State, c: Constants, server: Server):
    """A voter loses its disk and is gone for good; its links go down.

    It needs as many links that may be down as it has. A server that is started on the same host
    is another one, with another disk (see `identity`).
    """
    if s.aux_ctrs.crash_ctr >= c.max_crashes:
        return "there were crashes enough"
    if not has_started(s, server):
        return "the server was never started"
    if s.role[server] != VOTER:
        return "the server is no voter"
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
    if c.membership_requests:
        lose_membership_requests(s, server)
    s.aux_ctrs.crash_ctr += 1
    return TAKEN


# --- Timeouts ----------------------------------------------------------------------------------


def supports(s, leader, peer) -> bool:
    """Would the peer still fetch from this leader, for all that can be seen from outside?"""
    is_voter = s.role[peer] == VOTER and s.current_epoch[peer] <= s.current_epoch[leader]
    return is_connected(s, leader, peer) and (is_voter or s.role[peer] == OBSERVER)


def check_quorum_resign(s: State, c: Constants, server: Server):
    """A leader that is not fetched from by a majority gives up.

    Whoever waits for a write to be committed is told nothing (see resigned_writes_fixed): if the
    server is elected again, it may still commit the write and say so.
    """
    if s.state[server] != LEADER:
        return "the server is not a leader"
    voters = s.config[server].members
    supporters = sum(1 for peer in members(voters) if peer != server and supports(s, server, peer))
    if c.test_liveness and supporters >= size(voters) // 2:
        return "a majority can fetch from the leader"
    if c.end_quorum_epoch:
        say_that_quorum_ended(s, server)
    if s.role[server] == VOTER:
        apply_state(s, c, server, to_resigned(s, server))
    else:
        epoch = s.current_epoch[server]
        apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
    return TAKEN


def has_failed_fetch(s, c, server) -> bool:
    """Was the leader's last answer an error?"""
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
    """Does the server wait for an answer that will never come?"""
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
    """Has the server a reason to believe that the leader is gone?"""
    return has_failed_fetch(s, c, server) or has_lost_fetch(s, server)


def observer_fetch_timeout(s: State, c: Constants, server: Server):
    """An observer waits no longer for its leader, and looks for one.

    It forgets whom it voted for in this epoch, and may vote again (see observer_vote_fixed).
    """
    if s.role[server] != OBSERVER:
        return "the server is no observer"
    if c.test_liveness and not can_fetch_timeout(s, c, server):
        return "the server has no reason to give up its leader"
    epoch = s.current_epoch[server]
    apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
    erase(s.fetch_state, server)
    return TAKEN


def fetch_timeout_witnesses(s, c, server) -> int:
    """The original says "a failed fetch, or a lost one", and both may be true."""
    if not c.test_liveness:
        return 1
    return has_failed_fetch(s, c, server) + has_lost_fetch(s, server)
