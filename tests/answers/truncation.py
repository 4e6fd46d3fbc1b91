"""Plausible wrong answers to the exercises of notebooks/kafka/02_truncation."""

from kafka_spec.actions import update_isr
from kafka_spec.kip_320 import is_following_leader_epoch
from kafka_spec.model import (
    has_high_watermark_reached_current_epoch,
    is_in_isr,
    is_true_leader,
    presumes_leadership,
)
from protocol_lab import with_node

# --- where_to_truncate -----------------------------------------------------------------------


def at_the_high_watermark(s, follower, leader):
    return s.replica_state[follower].hw


def at_the_shorter_end(s, follower, leader):
    return min(s.replica_log[leader].end_offset, s.replica_log[follower].end_offset)


# --- fence_the_fetch -------------------------------------------------------------------------


def only_from_leaders(s, c, follower, leader):
    if not presumes_leadership(s, leader) or s.replica_state[follower].leader != leader:
        return "the follower does not follow this leader"
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    if mine.end_offset >= theirs.end_offset:
        return "the leader has no further record"
    mine.records[mine.end_offset] = theirs.records[mine.end_offset]
    mine.end_offset += 1
    s.replica_state[follower].hw = min(s.replica_state[leader].hw, mine.end_offset)
    return ""


def never(s, c, follower, leader):
    if is_following_leader_epoch(s, follower, leader):
        return "the follower is in the leader's epoch"
    return "the follower is in another epoch"


# --- admit_it_sooner -------------------------------------------------------------------------


def by_the_high_watermark(s, c, leader, follower):
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_following_leader_epoch(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if s.replica_log[follower].end_offset < s.replica_state[leader].hw:
        return "the follower has not reached the high watermark"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return ""


def by_what_is_committed(s, c, leader, follower):
    if not has_high_watermark_reached_current_epoch(s, leader):
        return "the leader has not committed all records of earlier epochs"
    return by_the_high_watermark(s, c, leader, follower)


WRONG = {
    "lose_a_record": [
        (
            """
            controller_elect_leader(new_leader=1)
            controller_shrink_isr(replica=2)
            become_leader(request=LeaderAndIsrRequest(leader_epoch=0))
            leader_write(replica=1)
            become_follower_truncate_to_high_watermark(follower=2, request={"leader_epoch": 0})
            follower_replicate(follower=2, leader=1)
            leader_inc_high_watermark(leader=1)
            become_follower_truncate_to_high_watermark(follower=2, request={"leader_epoch": 1})
            """,
            "everybody in the controller's ISR holds what is committed",
        ),
        ("leader_write(replica=1)", "Step 1: leader_write(replica=1) can't happen here"),
    ],
    "smallest_for_kip_101": [
        (
            {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2},
            "with replicas=2 it already does",
        ),
        (
            {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 2},
            "There both invariants hold",
        ),
    ],
    "where_to_truncate": [
        (at_the_high_watermark, "weak_isr breaks"),
        (at_the_shorter_end, "weak_isr breaks"),
    ],
    "fence_the_fetch": [
        (only_from_leaders, "weak_isr breaks"),
        (never, "your protocol does too little"),
    ],
    "the_fence_to_spare": [
        ("fenced_follower_fetch", "Without this fence weak_isr breaks after 12 steps"),
        ("fenced_leader_expand_isr", "Without this fence weak_isr breaks after 14 steps"),
    ],
    "admit_it_sooner": [
        (by_the_high_watermark, "strong_isr breaks"),
        (by_what_is_committed, "admits nobody sooner"),
    ],
}
