"""Before KIP-320: ISR changes, commits and fetches that do not compare leader epochs."""

from kafka_spec.bounded_log import has_offset
from kafka_spec.replication.actions.followers import copy_next_record
from kafka_spec.replication.actions.leaders import update_isr
from kafka_spec.replication.model import (
    Constants,
    Replica,
    State,
    is_following,
    is_in_isr,
    is_true_leader,
    presumes_leadership,
)
from protocol_lab import TAKEN, members, with_node, without_node


def leader_expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader adds a follower whose log reaches the high watermark."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, leader, follower):
        return "the follower is in the ISR already"
    if not is_caught_up(s, leader, follower, s.replica_state[leader].hw):
        return "the follower does not follow, or has not reached the high watermark"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def leader_shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader drops a follower that lags, or that follows another replica."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not is_in_isr(s, leader, follower):
        return "the follower is not in the ISR"
    if is_caught_up(s, leader, follower, s.replica_log[leader].end_offset):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


def is_caught_up(s, leader, follower, end_offset) -> bool:
    """Does the follower follow this leader, and do both hold a record just below the end offset?

    Only offsets are compared, not the records there.
    """
    if not is_following(s, follower, leader):
        return False
    return end_offset == 0 or (
        has_offset(s.replica_log[leader], end_offset - 1)
        and has_offset(s.replica_log[follower], end_offset - 1)
    )


def leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """A leader commits the next record once everybody in its own ISR has something there."""
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if hw >= c.log_size:
        return "the log is full and all of it is committed"
    if not all(
        is_following(s, follower, leader) and has_offset(s.replica_log[follower], hw)
        for follower in members(s.replica_state[leader].isr)
    ):
        return "a member of the ISR does not follow, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


def follower_replicate(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower copies the next record; neither epochs nor the records before it are compared."""
    if not presumes_leadership(s, leader):
        return "the leader does not believe that it leads"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if not has_offset(s.replica_log[leader], s.replica_log[follower].end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN
