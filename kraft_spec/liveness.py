"""What KRaft must do in the end, and what is assumed to be fair: for models with test_liveness.

Fair is, as in the original and weakly, everything that servers do by themselves, for each server or
pair of servers apart: timeouts, elections, sending and handling messages. Nobody has to restart,
crash, write, reconfigure or cut links.

The first three claims are the original's. Its reconfiguration_not_stuck counts the configurations
from 1, which is the initial one: with one reconfiguration it says nothing about it. So there is
one that counts from the first command, and one for those who were removed.
"""

from kraft_spec.constants import Constants
from kraft_spec.elections import (
    accept_begin_quorum_request,
    become_leader,
    handle_vote_request,
    handle_vote_response,
    resend_begin_quorum_epoch_request,
    send_request_vote,
)
from kraft_spec.failures import check_quorum_resign, observer_fetch_timeout
from kraft_spec.fetching import (
    accept_fetch_request_from_observer,
    accept_fetch_request_from_voter,
    diverging_fetch_request,
    handle_fetch_response,
    reject_fetch_request,
    send_fetch_request,
)
from kraft_spec.properties import config_all_or_nothing, functional_leader_exists, is_answered
from kraft_spec.types import LEADER, VOTER, State, Value, is_member
from protocol_lab import NONE, Range, Spec, always_eventually, contains, leads_to


def is_sent(s: State, c: Constants, value) -> bool:
    """Has a client sent this value?"""
    return contains(s.inv_sent, value)


def no_functional_leader(s: State, c: Constants) -> bool:
    """Is there no leader that enough voters follow?"""
    return not functional_leader_exists(s, c)


def is_following_as_removed(s, server) -> bool:
    """Does a voter follow a leader whose committed configuration is without it?"""
    leader = s.leader[server]
    return (
        s.role[server] == VOTER
        and leader != NONE
        and s.state[leader] == LEADER
        and s.config[leader].committed
        and not is_member(s, server, leader)
    )


def have_all_learned_of_removal(s: State, c: Constants) -> bool:
    """Is there no voter that was removed, and still follows the leader that has committed it?"""
    return not any(
        is_following_as_removed(s, server) for server in range(1, c.max_spawned_servers + 1)
    )


def values_eventually_acked(value: Value):
    """Who has sent a value is told in the end either that it is committed or that it failed."""
    return leads_to(is_sent, is_answered)


def reconfiguration_not_stuck(id: Range(1, "max_add_reconfigs + max_remove_reconfigs")):
    """Again and again some current leader has committed the configuration with this id, or does
    not have it at all."""
    return always_eventually(config_all_or_nothing)


def eventually_leader_elected():
    """Whenever no leader has enough followers, one has them in the end."""
    return leads_to(no_functional_leader, functional_leader_exists)


def removal_not_stuck(id: Range(2, "1 + max_add_reconfigs + max_remove_reconfigs")):
    """As reconfiguration_not_stuck, for the ids that commands have: from 2."""
    return always_eventually(config_all_or_nothing)


def removed_server_learns():
    """Nobody who was removed follows the old leader as a voter for ever."""
    return always_eventually(have_all_learned_of_removal)


def declare_liveness(spec: Spec) -> None:
    """Register the fairness, 4n + 10n² conditions for n servers, and the claims."""
    spec.weakly_fair(
        check_quorum_resign,
        observer_fetch_timeout,
        send_request_vote,
        become_leader,
        each="server",
    )
    spec.weakly_fair(resend_begin_quorum_epoch_request, send_fetch_request, each=("server", "peer"))
    spec.weakly_fair(
        handle_vote_request,
        handle_vote_response,
        accept_begin_quorum_request,
        reject_fetch_request,
        diverging_fetch_request,
        accept_fetch_request_from_voter,
        accept_fetch_request_from_observer,
        handle_fetch_response,
        each=("message.dest", "message.source"),
    )
    spec.property(values_eventually_acked)
    spec.property(reconfiguration_not_stuck)
    spec.property(eventually_leader_elected)
    spec.property(removal_not_stuck)
    spec.property(removed_server_learns)
