"""What is claimed of KRaft with pre-vote: the original's safety properties, under its names.

Some are those of `kraft.kip_853` under other names. Then follow the kit's own, what must eventually
happen with test_liveness, and situations that are worth finding.

Fair is, weakly and as in the original, everything that servers do by themselves, for each server or
pair of servers. While timeouts without a reason are left (max_disruptive_election_triggers),
fairness also forces them.
"""

from kraft_spec.actions import replication as shared
from kraft_spec.liveness import (
    eventually_leader_elected,
    reconfiguration_not_stuck,
    values_eventually_acked,
)
from kraft_spec.pre_vote import elections, replication
from kraft_spec.pre_vote.model import *
from kraft_spec.properties import (
    acked_value_not_lost,
    epoch_monotone,
    hwm_monotone,
    leader_has_all_acked_values,
    never_two_leaders_in_same_epoch,
    no_illegal_state,
    no_log_divergence,
)
from kraft_spec.situations import a_later_leader, nobody_leads
from protocol_lab import *

OF_OBSERVERS = ("leader", "follower", "unattached", "resigned")
"""The states that an observer may be in."""

# --- Safety ------------------------------------------------------------------------------------


def leader_completeness(s: State, c: Constants):
    """A leader of the latest epoch has every value that was acknowledged."""
    return leader_has_all_acked_values(s, c)


def durability(s: State, c: Constants):
    """Every value that was acknowledged is in the log of some voter."""
    return acked_value_not_lost(s, c)


def log_matching(s: State, c: Constants):
    """Two servers hold the same entries as far as both know them to be committed."""
    return no_log_divergence(s, c)


def election_safety(s: State, c: Constants):
    """In one epoch no two servers believe in different leaders; a resigned one names itself."""
    return never_two_leaders_in_same_epoch(s, c)


def valid_roles_and_states(s: State, c: Constants):
    """Observers only lead, follow, are unattached or resigned; an unattached server has no leader;
    clients wait only for leaders; votes are for prospectives and candidates."""
    for server in range(1, c.max_spawned_servers + 1):
        state = s.state[server]
        if s.role[server] == "observer" and state not in OF_OBSERVERS:
            return "an observer is in a state that only voters have"
        if state == "unattached" and s.leader[server] != NONE:
            return "an unattached server knows a leader"
        if state != "leader" and s.pending_ack[server] != 0:
            return "a client waits for a server that does not lead"
        if state not in ("prospective", "candidate") and s.votes_recv[server] != 0:
            return "a server that is neither prospective nor a candidate has votes"
    return HOLDS


# --- The kit's own -------------------------------------------------------------------------------


def voters_are_members(s: State, c: Constants):
    """A server is a voter if it has its disk and is in its own configuration, and only then."""
    for server in range(1, c.max_spawned_servers + 1):
        is_voter = is_alive(s, server) and is_member(s, server, server)
        if is_voter != (s.role[server] == "voter"):
            return "a server takes itself for something else than its configuration says"
    return HOLDS


def leader_stays(s: State, c: Constants):
    """Server 1 leads in epoch 1: nobody has deposed it, and it has not resigned."""
    if s.state[1] != "leader" or s.current_epoch[1] != 1:
        return "server 1 leads no more"
    return HOLDS


def leader_stays_unless_restarted(s: State, c: Constants):
    """Server 1 leads in epoch 1, or has resigned from it by itself or by a restart."""
    if s.state[1] not in ("leader", "resigned") or s.current_epoch[1] != 1:
        return "server 1 was deposed"
    return HOLDS


def one_vote_in_an_epoch(before: State, after: State, c: Constants):
    """A server that has voted in an epoch keeps that vote, until it is elected itself."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] == before.current_epoch[server]
            and before.voted_for[server] != NONE
            and after.voted_for[server] != before.voted_for[server]
            and after.state[server] not in ("dead_no_state", "illegal_state", "leader")
        ):
            return "a server has forgotten or changed its vote within the epoch"
    return HOLDS


def declare_properties(spec: Spec) -> None:
    """Register them."""
    spec.invariant(log_matching)
    spec.invariant(leader_completeness)
    spec.invariant(election_safety)
    spec.invariant(durability)
    spec.invariant(no_illegal_state)
    spec.invariant(valid_roles_and_states)
    spec.invariant(voters_are_members)
    spec.invariant(leader_stays, by_default=False)
    spec.invariant(leader_stays_unless_restarted, by_default=False)
    spec.step_invariant(epoch_monotone, by_default=False)
    spec.step_invariant(one_vote_in_an_epoch, by_default=False)
    spec.step_invariant(hwm_monotone, by_default=False)


# --- What must eventually happen ---------------------------------------------------------------


def is_prospective(s: State, c: Constants, server) -> bool:
    """Does the server ask whether it would be elected?"""
    return s.state[server] == "prospective"


def is_alone_or_answered(s: State, c: Constants, server) -> bool:
    """Does it ask no more, or can it reach no member that does not ask as well?"""
    return s.state[server] != "prospective" or not any(
        peer != server and is_connected(s, server, peer) and s.state[peer] != "prospective"
        for peer in s.config[server].members
    )


def not_stuck_in_prospective(server: Server):
    """Who asks whether it would be elected is eventually done, or reaches only others that ask."""
    return leads_to(is_prospective, is_alone_or_answered)


def declare_liveness(spec: Spec) -> None:
    """Register the fairness, 6n + 9n² conditions for n servers, and the claims."""
    spec.weakly_fair(
        elections.check_quorum_resign,
        elections.voter_fetch_timeout,
        elections.voter_election_timeout,
        elections.resigned_election_timeout,
        elections.conclude_pre_vote,
        elections.become_leader,
        each="server",
    )
    spec.weakly_fair(
        elections.resend_begin_quorum_epoch_request,
        replication.send_fetch_request,
        each=("server", "peer"),
    )
    spec.weakly_fair(
        elections.handle_vote_request,
        elections.handle_vote_response,
        elections.accept_begin_quorum_request,
        shared.reject_fetch_request,
        shared.diverging_fetch_request,
        replication.accept_fetch_request,
        replication.handle_fetch_response,
        each=("message.dest", "message.source"),
    )
    spec.property(values_eventually_acked)
    spec.property(reconfiguration_not_stuck)
    spec.property(eventually_leader_elected)
    spec.property(not_stuck_in_prospective)


# --- Situations --------------------------------------------------------------------------------


def a_server_asks_first(s: State, c: Constants) -> bool:
    """A server has timed out, and asks whether it would be elected."""
    return any(s.state[server] == "prospective" for server in range(1, c.max_spawned_servers + 1))


def a_follower_would_vote(s: State, c: Constants) -> bool:
    """A follower has not yet fetched from its leader: until then it grants pre-votes."""
    return any(
        s.state[server] == "follower"
        and s.role[server] == "voter"
        and not s.has_fetch_success[server]
        for server in range(1, c.max_spawned_servers + 1)
    )


def two_servers_ask_first(s: State, c: Constants) -> bool:
    """Two servers ask whether they would be elected: each grants the other's request."""
    return any(
        s.state[server] == "prospective" and s.state[other] == "prospective"
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def who_asks_knows_a_leader(s: State, c: Constants) -> bool:
    """A server asks whether it would be elected, and its leader still leads."""
    return any(
        s.state[server] == "prospective"
        and s.leader[server] != NONE
        and s.state[s.leader[server]] == "leader"
        for server in range(1, c.max_spawned_servers + 1)
    )


def declare_situations(spec: Spec) -> None:
    """Register them."""
    spec.situation(a_server_asks_first, expected=True)
    spec.situation(a_later_leader, expected=True)
    spec.situation(a_follower_would_vote)
    spec.situation(two_servers_ask_first)
    spec.situation(who_asks_knows_a_leader)
    spec.situation(nobody_leads)
