"""States of the talk's model that are worth finding, for a learner to pick."""

from kafka_spec.leader_election.actions.unclean_elections import is_as_late_as
from kafka_spec.leader_election.model import (
    Constants,
    State,
    common_prefix,
    has_no_leader,
    is_isr_dead,
    leo,
    log_of,
)
from protocol_lab import members, size


def holds_all_committed(s, replica) -> bool:
    """Does the replica's log begin with all committed messages?"""
    committed = s.committed_messages
    return common_prefix(committed, log_of(s, replica)) == committed.length


def the_isr_has_one_member(s: State, c: Constants) -> bool:
    """The ISR has one member."""
    return size(s.zk_state.isrs) == 1


def the_partition_is_offline(s: State, c: Constants) -> bool:
    """There is no leader, and nobody of the ISR is alive."""
    return has_no_leader(s) and is_isr_dead(s)


def a_follower_is_ahead_of_its_leader(s: State, c: Constants) -> bool:
    """An alive replica's log is longer than the leader's."""
    return not has_no_leader(s) and any(
        leo(s, replica) > leo(s, s.zk_state.leader)
        for replica in members(s.zk_state.alive_replicas)
    )


def two_equally_long_logs_disagree(s: State, c: Constants) -> bool:
    """Two logs are equally long and not the same."""
    return any(
        leo(s, replica) == leo(s, other)
        and common_prefix(log_of(s, replica), log_of(s, other)) < leo(s, replica)
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
    )


def one_alive_replica_holds_all_that_is_committed(s: State, c: Constants) -> bool:
    """Of the alive replicas one only holds all that is committed."""
    return (
        sum(1 for each in members(s.zk_state.alive_replicas) if holds_all_committed(s, each)) == 1
    )


def the_latest_offset_misleads(s: State, c: Constants) -> bool:
    """The alive replica with the latest offset lacks a committed message."""
    return any(
        not holds_all_committed(s, replica)
        and all(is_as_late_as(s, replica, other) for other in members(s.zk_state.alive_replicas))
        for replica in members(s.zk_state.alive_replicas)
    )
