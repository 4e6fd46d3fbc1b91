"""The unstable replica loses its session or dies, and a failed replica is back."""

from kafka_spec.leader_election.actions.isr_membership import change_isr
from kafka_spec.leader_election.model import (
    ELIGIBLE_LEADER_REPLICAS,
    Constants,
    Replica,
    State,
    is_alive,
    is_leader,
    is_shut_down,
)
from protocol_lab import NONE, TAKEN, only, with_node, without_node


def leader_failure(s: State, c: Constants, replica: Replica):
    """The unstable replica loses its session with ZooKeeper while it leads; it may be back soon."""
    if replica != c.unstable_replica:
        return "only the unstable replica fails"
    if not is_leader(s, replica):
        return "the replica is not the leader"
    if not is_alive(s, replica):
        return "the replica is not alive"
    lose_leader(s, c)
    return TAKEN


def unstable_replica_dies_when_leader(s: State, c: Constants):
    """The unstable replica dies while it leads. It dies only once."""
    if is_shut_down(s, c.unstable_replica):
        return "it has died already"
    if not is_leader(s, c.unstable_replica):
        return "the unstable replica is not the leader"
    lose_leader(s, c)
    s.replica_states[c.unstable_replica].is_shutdown = True
    return TAKEN


def unstable_replica_dies_when_follower(s: State, c: Constants):
    """The unstable replica dies while it does not lead. The ISR may thereby become empty."""
    if is_shut_down(s, c.unstable_replica):
        return "it has died already"
    if is_leader(s, c.unstable_replica):
        return "the unstable replica is the leader"
    change_isr(s, c, without_node(s.zk_state.isrs, c.unstable_replica))
    s.zk_state.alive_replicas = without_node(s.zk_state.alive_replicas, c.unstable_replica)
    s.replica_states[c.unstable_replica].is_shutdown = True
    s.replica_states[c.unstable_replica].ready_to_fetch = False
    return TAKEN


def failed_replica_back(s: State, c: Constants, replica: Replica):
    """A failed replica is back, with its log: its session was renewed, or its hardware repaired."""
    if is_alive(s, replica):
        return "the replica is alive"
    s.zk_state.alive_replicas = with_node(s.zk_state.alive_replicas, replica)
    return TAKEN


def lose_leader(s, c) -> None:
    """The leader is gone. If it is the ISR's last member it stays, except under the third rule."""
    leader = s.zk_state.leader
    s.zk_state.leader = NONE
    s.zk_state.alive_replicas = without_node(s.zk_state.alive_replicas, leader)
    if s.zk_state.isrs != only(leader) or c.election_rule == ELIGIBLE_LEADER_REPLICAS:
        change_isr(s, c, without_node(s.zk_state.isrs, leader))
