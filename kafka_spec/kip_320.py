"""KIP-320: every fetch, ISR change and truncation is fenced by the leader epoch."""

from kafka_spec.replication_core import (
    Constants,
    Replica,
    Request,
    State,
    become_leader,
    controller_elect_leader,
    controller_shrink_isr,
    copy_next_record,
    end_of_common_prefix,
    follow,
    high_watermark_reached_epoch,
    init,
    leader_write,
    presumes_leadership,
    strong_isr,
    is_true_leader,
    update_isr,
    weak_isr,
)
from kafka_spec.replicated_log import has_offset, truncate_to
from protocol_lab import TAKEN, Spec, contains, members, with_node, without_node

spec = Spec("kafka.kip_320", State, Constants, __doc__)
spec.init(init)


def is_following_leader_epoch(s, leader, follower) -> bool:
    mine, theirs = s.replica_state[follower], s.replica_state[leader]
    return (
        presumes_leadership(s, leader)
        and mine.leader == leader
        and mine.leader_epoch == theirs.leader_epoch
    )


spec.action(controller_elect_leader)
spec.action(controller_shrink_isr)
spec.action(become_leader)


@spec.action
def fenced_leader_expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    hw = s.replica_state[leader].hw
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if contains(s.replica_state[leader].isr, follower):
        return "the follower is in the ISR already"
    if not is_following_leader_epoch(s, leader, follower):
        return "the follower is not in this leader's epoch"
    if hw > 0 and not has_offset(s.replica_log[follower], hw - 1):
        return "the follower has not reached the high watermark"
    if not high_watermark_reached_epoch(s, leader):
        return "the leader has not committed a record of its own epoch"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def both(s, c, leader, follower):
    if is_following_leader_epoch(s, leader, follower):
        return 1
    return 2 if s.replica_log[follower].end_offset < s.replica_log[leader].end_offset else 1


@spec.action(witnesses=both)
def fenced_leader_shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not contains(s.replica_state[leader].isr, follower):
        return "the follower is not in the ISR"
    if (
        is_following_leader_epoch(s, leader, follower)
        and s.replica_log[follower].end_offset >= s.replica_log[leader].end_offset
    ):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


spec.action(leader_write)


@spec.action
def fenced_leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    hw = s.replica_state[leader].hw
    if not has_offset(s.replica_log[leader], hw):
        return "everything is committed"
    if not all(
        is_following_leader_epoch(s, leader, follower) and has_offset(s.replica_log[follower], hw)
        for follower in members(s.replica_state[leader].isr)
    ):
        return "a member of the ISR lacks the record"
    s.replica_state[leader].hw += 1
    return TAKEN


@spec.action
def fenced_become_follower_and_truncate(
    s: State, c: Constants, follower: Replica, request: Request
):
    leader = request.leader
    if leader == 0 or leader == follower:
        return "the request names no other replica as the leader"
    if request.leader_epoch <= s.replica_state[follower].leader_epoch:
        return "the replica knows this epoch or a later one"
    if not presumes_leadership(s, leader):
        return "the leader does not lead"
    if s.replica_state[leader].leader_epoch != request.leader_epoch:
        return "the leader is not in this epoch"
    end = end_of_common_prefix(s, follower, leader)
    truncate_to(s.replica_log[follower], end)
    follow(s, follower, request)
    s.replica_state[follower].hw = min(s.replica_state[follower].hw, end)
    return TAKEN


@spec.action
def fenced_follower_fetch(s: State, c: Constants, follower: Replica, leader: Replica):
    """The follower copies the leader's next record and learns its high watermark."""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    if not is_following_leader_epoch(s, leader, follower):
        return "the follower is not in this leader's epoch"
    if mine.end_offset >= theirs.end_offset:
        return "the follower has caught up"
    copy_next_record(s, follower, leader)
    return TAKEN


spec.invariant(weak_isr)
spec.invariant(strong_isr)
