"""A leader from the ISR is elected; the other replicas become its followers."""

from kafka_spec.leader_election.model import (
    Constants,
    Replica,
    State,
    common_prefix,
    has_no_leader,
    is_alive,
    is_in_isr,
    is_leader,
    log_of,
)
from protocol_lab import TAKEN, smallest, truncate


def elect_new_leader(s: State, c: Constants, replica: Replica):
    """With no leader, the first of the ISR in the replica list is elected, if it is alive."""
    if not has_no_leader(s):
        return "there is a leader"
    if not is_in_isr(s, replica):
        return "the replica is not in the ISR"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if replica != smallest(s.zk_state.isrs):
        return "another replica comes first in the ISR"
    lead(s, c, replica)
    return TAKEN


def swap_preferred_leader(s: State, c: Constants, replica: Replica):
    """Another replica becomes the preferred leader; the replica list keeps its order."""
    if replica == s.zk_state.preferred_leader:
        return "the replica is preferred already"
    s.zk_state.preferred_leader = replica
    return TAKEN


def preferred_leader_election(s: State, c: Constants):
    """Leadership moves to the preferred replica, to balance the load."""
    preferred = s.zk_state.preferred_leader
    if has_no_leader(s):
        return "there is no leader"
    if is_leader(s, preferred):
        return "the preferred replica leads already"
    if not is_in_isr(s, preferred):
        return "the preferred replica is not in the ISR"
    if not is_alive(s, preferred):
        return "the preferred replica is not alive"
    lead(s, c, preferred)
    return TAKEN


def become_follower(s: State, c: Constants, replica: Replica):
    """A replica cuts its log off where it differs from the leader's, and may fetch from then on."""
    if has_no_leader(s):
        return "there is no leader to follow"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if is_leader(s, replica):
        return "the replica is the leader"
    shared = common_prefix(log_of(s, replica), log_of(s, s.zk_state.leader))
    truncate(log_of(s, replica), shared)
    s.replica_states[replica].ready_to_fetch = True
    return TAKEN


def lead(s, c, replica) -> None:
    """Make the replica the leader, in the next epoch; all others must become followers first."""
    s.zk_state.leader_epoch += 1
    s.zk_state.leader = replica
    for each in range(1, c.replicas + 1):
        s.replica_states[each].ready_to_fetch = False
