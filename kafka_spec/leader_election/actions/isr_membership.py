"""Followers leave the ISR and join it; under the third rule, who leaves may become eligible."""

from kafka_spec.leader_election.actions.messages import commit
from kafka_spec.leader_election.model import (
    ELIGIBLE_LEADER_REPLICAS,
    Constants,
    Replica,
    State,
    has_no_leader,
    is_alive,
    is_in_isr,
    is_leader,
    is_ready_to_fetch,
    leo,
    log_of,
    missing,
)
from protocol_lab import TAKEN, size, with_node, without_node


def become_out_of_sync(s: State, c: Constants, replica: Replica):
    """A lagging follower leaves the ISR, which commits what all of the rest hold."""
    if has_no_leader(s):
        return "there is no leader to notice it"
    if not is_leader(s, c.unstable_replica) and replica != c.unstable_replica:
        return "leader and replica both work well: only the unstable replica makes others lag"
    if is_leader(s, replica):
        return "the replica is the leader"
    if not is_in_isr(s, replica):
        return "the replica is not in the ISR"
    if missing(s, replica) <= 0:
        return "the replica's log is at least as long as the leader's"
    change_isr(s, c, without_node(s.zk_state.isrs, replica))
    commit(s, c)
    return TAKEN


def become_in_sync(s: State, c: Constants, replica: Replica):
    """A follower that has reached the high watermark and the leader's epoch joins the ISR."""
    if has_no_leader(s):
        return "there is no leader to notice it"
    if is_leader(s, replica):
        return "the replica is the leader"
    if is_in_isr(s, replica):
        return "the replica is in the ISR already"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if not is_ready_to_fetch(s, replica):
        return "the replica has not become a follower of this leader yet"
    if not has_reached_current_epoch(s, replica):
        return "the replica has no message of the leader's epoch, or there is none"
    if not has_reached_high_watermark(s, replica):
        return "the replica has not reached the high watermark"
    change_isr(s, c, with_node(s.zk_state.isrs, replica))
    return TAKEN


def has_reached_current_epoch(s, replica) -> bool:
    """Does the replica's log reach the leader's first message of the present epoch?"""
    log = log_of(s, s.zk_state.leader)
    for position in range(log.length):
        if log.items[position].leader_epoch == s.zk_state.leader_epoch:
            return leo(s, replica) > position
    return False


def has_reached_high_watermark(s, replica) -> bool:
    """Is the replica's log as long as what is committed?"""
    return leo(s, replica) >= s.committed_messages.length


def change_isr(s, c, isrs) -> None:
    """Write the ISR. Under the third rule, who leaves it once it is too small becomes eligible."""
    if c.election_rule == ELIGIBLE_LEADER_REPLICAS:
        if size(isrs) < c.min_isr:
            s.zk_state.eligible = (s.zk_state.eligible | s.zk_state.isrs) & ~isrs
        else:
            s.zk_state.eligible = 0
    s.zk_state.isrs = isrs
