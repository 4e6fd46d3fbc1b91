"""What KRaft must eventually do, and under which fairness: for models with test_liveness.

Fair is, weakly and as in the original, everything that servers do by themselves, for each server or
pair of servers: timeouts, elections, sending and handling messages. Restarts, crashes, writes,
reconfigurations and changes of the links need never happen. The first three properties are the
original's; the last two are the kit's.
"""

from kraft_spec.actions import elections, replication
from kraft_spec.actions.replication import is_config_command
from kraft_spec.model import *
from protocol_lab import *

# --- Predicates of states ----------------------------------------------------------------------


def is_sent(s: State, c: Constants, value) -> bool:
    """Has a client sent this value?"""
    return value in s.inv_sent


def is_answered(s, value) -> bool:
    """Was the client told that this value is committed, or else that it failed?"""
    return (value in s.inv_pos_acked) != (value in s.inv_neg_acked)


def has_config(s, server, id) -> bool:
    """Is the configuration command with this id in the server's log?"""
    return any(is_config_command(entry) and entry.id == id for entry in s.log[server])


def has_committed_config(s, server, id) -> bool:
    """Is it in the log, and at or below the server's high watermark?"""
    return any(
        is_config_command(entry) and entry.id == id and s.hwm[server] > position
        for position, entry in enumerate(s.log[server])
    )


def config_all_or_nothing(s, c, id) -> bool:
    """Does some current leader have the command with this id committed, or not at all?

    For each connected member the original looks at the leader's log, and not at the member's; a
    leader that is connected to no member passes.
    """
    for server in range(1, c.max_spawned_servers + 1):
        if is_current_leader(s, c, server):
            decided = has_committed_config(s, server, id) or not has_config(s, server, id)
            voters = s.config[server].members
            if decided or not any(
                is_connected(s, server, member) and s.state[member] != "dead_no_state"
                for member in voters
            ):
                return True
    return False


def functional_leader_exists(s, c) -> bool:
    """Is there a leader that as many voters follow as its configuration needs for a majority?"""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "leader":
            supporters = sum(
                1
                for other in range(1, c.max_spawned_servers + 1)
                if s.role[other] == "voter"
                and s.leader[other] == server
                and is_member(s, server, other)
            )
            if supporters >= len(s.config[server].members) // 2 + 1:
                return True
    return False


def no_functional_leader(s: State, c: Constants) -> bool:
    """Is there no leader that enough voters follow?"""
    return not functional_leader_exists(s, c)


def is_following_as_removed(s, server) -> bool:
    """Does a voter follow a leader whose committed configuration is without it?"""
    leader = s.leader[server]
    return (
        s.role[server] == "voter"
        and leader != NONE
        and s.state[leader] == "leader"
        and s.config[leader].committed
        and not is_member(s, server, leader)
    )


def have_all_learned_of_removal(s: State, c: Constants) -> bool:
    """Is there no removed voter that still follows the leader which has committed the removal?"""
    return not any(
        is_following_as_removed(s, server) for server in range(1, c.max_spawned_servers + 1)
    )


# --- Properties and fairness -------------------------------------------------------------------


def values_eventually_acked(value: Value):
    """A client that has sent a value is eventually told that it is committed, or that it failed."""
    return leads_to(is_sent, is_answered)


def reconfiguration_not_stuck(id: Range(1, "max_add_reconfigs + max_remove_reconfigs")):
    """Again and again a current leader has the configuration `id` committed, or not at all."""
    return always_eventually(config_all_or_nothing)


def eventually_leader_elected():
    """Whenever no leader has enough followers, one eventually has them."""
    return leads_to(no_functional_leader, functional_leader_exists)


def removal_not_stuck(id: Range(2, "1 + max_add_reconfigs + max_remove_reconfigs")):
    """As reconfiguration_not_stuck, for the ids that commands have: from 2.

    The original counts configurations from 1, the initial one, so with one reconfiguration its
    property says nothing about that one.
    """
    return always_eventually(config_all_or_nothing)


def removed_server_learns():
    """No removed server follows its former leader as a voter forever.

    It fails where fetches from outside the configuration are ignored, as in the original.
    """
    return always_eventually(have_all_learned_of_removal)


def declare_liveness(spec: Spec) -> None:
    """Register the fairness, 4n + 10n² conditions for n servers, and the claims."""
    spec.weakly_fair(
        elections.check_quorum_resign,
        elections.observer_fetch_timeout,
        elections.send_request_vote,
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
        replication.reject_fetch_request,
        replication.diverging_fetch_request,
        replication.accept_fetch_request_from_voter,
        replication.accept_fetch_request_from_observer,
        replication.handle_fetch_response,
        each=("message.dest", "message.source"),
    )
    spec.property(values_eventually_acked)
    spec.property(reconfiguration_not_stuck)
    spec.property(eventually_leader_elected)
    spec.property(removal_not_stuck)
    spec.property(removed_server_learns)
