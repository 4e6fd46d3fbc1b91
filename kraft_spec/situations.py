"""Situations that are worth finding, for a learner to pick in the search.

The first three must be reachable. The others claim nothing: some can be reached in KRaft as it is,
some only by a defect of the original or with a broken rule; the docstrings say which.
"""

from kraft_spec.actions.replication import holds_value
from kraft_spec.model import *
from protocol_lab import *

# --- What must be reachable --------------------------------------------------------------------


def a_value_is_acknowledged(s: State, c: Constants) -> bool:
    """A client is told that its value is committed."""
    return s.inv_pos_acked != 0


def a_later_leader(s: State, c: Constants) -> bool:
    """A server leads in a later epoch than the first."""
    return any(
        s.state[server] == "leader" and s.current_epoch[server] > 1
        for server in range(1, c.max_spawned_servers + 1)
    )


def logs_diverge(s: State, c: Constants) -> bool:
    """Two servers hold different entries at the same offset."""
    return any(
        s.log[server][k] != s.log[other][k]
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
        for k in range(min(len(s.log[server]), len(s.log[other])))
    )


# --- Leaders -----------------------------------------------------------------------------------


def two_servers_lead(s: State, c: Constants) -> bool:
    """Two servers lead, in different epochs: the first has not heard of the second."""
    return any(
        s.state[server] == "leader"
        and s.state[other] == "leader"
        and s.current_epoch[server] != s.current_epoch[other]
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def two_servers_lead_in_one_epoch(s: State, c: Constants) -> bool:
    """Two servers lead in the same epoch.

    Only by a defect: an observer that votes twice, or an epoch that goes back.
    """
    return any(
        s.state[server] == "leader"
        and s.state[other] == "leader"
        and s.current_epoch[server] == s.current_epoch[other]
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def a_leader_is_outside_its_configuration(s: State, c: Constants) -> bool:
    """A leader is not in its own configuration: it still has to commit its own removal."""
    return any(
        s.state[server] == "leader" and not is_member(s, server, server)
        for server in range(1, c.max_spawned_servers + 1)
    )


def two_candidates_stand_in_one_epoch(s: State, c: Constants) -> bool:
    """Two candidates stand in the same epoch, each with its own vote: neither may win."""
    return any(
        s.state[server] == "candidate"
        and s.state[other] == "candidate"
        and s.current_epoch[server] == s.current_epoch[other]
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def nobody_leads(s: State, c: Constants) -> bool:
    """No server leads."""
    return not any(s.state[server] == "leader" for server in range(1, c.max_spawned_servers + 1))


def an_observer_has_voted(s: State, c: Constants) -> bool:
    """An observer has voted: the candidate counts it as a voter."""
    return any(
        s.role[server] == "observer" and s.voted_for[server] != NONE
        for server in range(1, c.max_spawned_servers + 1)
    )


# --- Configurations ----------------------------------------------------------------------------


def a_removed_voter_does_not_know(s: State, c: Constants) -> bool:
    """A follower does not know that it was removed, and its leader has committed the removal."""
    return any(
        s.state[server] == "follower"
        and is_member(s, server, server)
        and s.state[leader] == "leader"
        and s.leader[server] == leader
        and s.config[leader].committed
        and not is_member(s, server, leader)
        for server in range(1, c.max_spawned_servers + 1)
        for leader in range(1, c.max_spawned_servers + 1)
    )


def a_new_voter_does_not_know(s: State, c: Constants) -> bool:
    """A server is a voter for a leader, and still an observer for itself."""
    return any(
        s.role[server] == "observer"
        and s.state[leader] == "leader"
        and server != leader
        and is_member(s, server, leader)
        for server in range(1, c.max_spawned_servers + 1)
        for leader in range(1, c.max_spawned_servers + 1)
    )


def two_configurations_are_believed_in(s: State, c: Constants) -> bool:
    """Two voters believe in different configurations."""
    return any(
        s.role[server] == "voter"
        and s.role[other] == "voter"
        and s.config[server].id != s.config[other].id
        for server in range(1, c.max_spawned_servers + 1)
        for other in range(1, server)
    )


def a_voter_has_lost_its_disk(s: State, c: Constants) -> bool:
    """A leader counts on a voter that has lost its disk."""
    return any(
        s.state[leader] == "leader"
        and s.state[server] == "dead_no_state"
        and is_member(s, server, leader)
        for server in range(1, c.max_spawned_servers + 1)
        for leader in range(1, c.max_spawned_servers + 1)
    )


# --- Logs --------------------------------------------------------------------------------------


def holds_what_its_leader_does_not(s, server, leader) -> bool:
    """Does the server have an entry where its leader has none, or another one?"""
    mine, theirs = s.log[server], s.log[leader]
    return any(k >= len(theirs) or mine[k] != theirs[k] for k in range(len(mine)))


def a_follower_has_to_cut(s: State, c: Constants) -> bool:
    """A follower holds an entry that its leader does not hold: it will have to truncate its log."""
    return any(
        s.state[server] == "follower"
        and s.state[leader] == "leader"
        and s.leader[server] == leader
        and s.current_epoch[server] == s.current_epoch[leader]
        and holds_what_its_leader_does_not(s, server, leader)
        for server in range(1, c.max_spawned_servers + 1)
        for leader in range(1, c.max_spawned_servers + 1)
    )


def one_server_alone_has_an_acknowledged_value(s: State, c: Constants) -> bool:
    """Only one of the running servers has a value that was acknowledged."""
    return any(
        sum(
            1
            for server in range(1, c.max_spawned_servers + 1)
            if is_alive(s, server) and holds_value(s, server, value)
        )
        == 1
        for value in s.inv_pos_acked
    )


def a_value_waits_at_a_former_leader(s: State, c: Constants) -> bool:
    """A client waits for a value at a server that no longer leads."""
    return any(
        s.pending_ack[server] != 0 and s.state[server] != "leader"
        for server in range(1, c.max_spawned_servers + 1)
    )


def a_value_has_failed_and_is_in_the_leaders_log(s: State, c: Constants) -> bool:
    """A client was told that its value has failed, and the leader has it: it may be committed."""
    return any(
        s.state[server] == "leader"
        and any(entry.value in s.inv_neg_acked for entry in s.log[server])
        for server in range(1, c.max_spawned_servers + 1)
    )


def declare_situations(spec: Spec) -> None:
    """Register them."""
    for expected in (a_value_is_acknowledged, a_later_leader, logs_diverge):
        spec.situation(expected, expected=True)
    spec.situation(two_servers_lead)
    spec.situation(two_servers_lead_in_one_epoch)
    spec.situation(a_leader_is_outside_its_configuration)
    spec.situation(two_candidates_stand_in_one_epoch)
    spec.situation(nobody_leads)
    spec.situation(an_observer_has_voted)
    spec.situation(a_removed_voter_does_not_know)
    spec.situation(a_new_voter_does_not_know)
    spec.situation(two_configurations_are_believed_in)
    spec.situation(a_voter_has_lost_its_disk)
    spec.situation(a_follower_has_to_cut)
    spec.situation(one_server_alone_has_an_acknowledged_value)
    spec.situation(a_value_waits_at_a_former_leader)
    spec.situation(a_value_has_failed_and_is_in_the_leaders_log)
