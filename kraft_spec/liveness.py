"""What KRaft must eventually do, and under which fairness: for models with test_liveness.

Fair is, weakly and as in the original, everything that servers do by themselves, for each server or
pair of servers: timeouts, elections, sending and handling messages. Restarts, crashes, writes,
reconfigurations and changes of the links need never happen. The properties are the original's.
"""

from kraft_spec.actions import elections, failures, replication
from kraft_spec.actions.logs import is_config_command
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.names import DEAD_NO_STATE, LEADER, VOTER, Value
from kraft_spec.model.state import State, is_current_leader, is_member
from protocol_lab import (
    Range,
    Spec,
    always_eventually,
    contains,
    leads_to,
    members,
    size,
)

# --- Predicates of states ----------------------------------------------------------------------


def is_sent(s: State, c: Constants, value) -> bool:
    """Has a client sent this value?"""
    return contains(s.inv_sent, value)


def is_answered(s, value) -> bool:
    """Was the client told that this value is committed, or else that it failed?"""
    return contains(s.inv_pos_acked, value) != contains(s.inv_neg_acked, value)


def has_config(s, server, id) -> bool:
    """Is the configuration command with this id in the server's log?"""
    log = s.log[server]
    return any(
        is_config_command(log.items[position]) and log.items[position].id == id
        for position in range(log.length)
    )


def has_committed_config(s, server, id) -> bool:
    """Is it in the log, and at or below the server's high watermark?"""
    log = s.log[server]
    return any(
        is_config_command(log.items[position])
        and log.items[position].id == id
        and s.hwm[server] > position
        for position in range(log.length)
    )


def is_out_of_reach(s, server, member) -> bool:
    """Is the member dead, or cut off from the server?"""
    return not is_connected(s, server, member) or s.state[member] == DEAD_NO_STATE


def config_all_or_nothing(s, c, id) -> bool:
    """Does some current leader have the command with this id committed, or not at all?

    For each connected member the original looks at the leader's log, and not at the member's; a
    leader that is connected to no member passes.
    """
    for server in range(1, c.max_spawned_servers + 1):
        if is_current_leader(s, c, server):
            decided = has_committed_config(s, server, id) or not has_config(s, server, id)
            if decided or all(
                is_out_of_reach(s, server, member) for member in members(s.config[server].members)
            ):
                return True
    return False


def functional_leader_exists(s, c) -> bool:
    """Is there a leader that as many voters follow as its configuration needs for a majority?"""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == LEADER:
            supporters = sum(
                1
                for other in range(1, c.max_spawned_servers + 1)
                if s.role[other] == VOTER
                and s.leader[other] == server
                and is_member(s, server, other)
            )
            if supporters >= size(s.config[server].members) // 2 + 1:
                return True
    return False


def no_functional_leader(s: State, c: Constants) -> bool:
    """Is there no leader that enough voters follow?"""
    return not functional_leader_exists(s, c)


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


def declare_liveness(spec: Spec) -> None:
    """Register the fairness, 4n + 10n² conditions for n servers, and the claims."""
    spec.weakly_fair(
        failures.check_quorum_resign,
        failures.observer_fetch_timeout,
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
