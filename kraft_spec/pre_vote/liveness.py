"""What must eventually happen with pre-vote, and under which fairness: with test_liveness.

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
from protocol_lab import *


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
