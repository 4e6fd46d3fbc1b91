"""KIP-320: every fetch, ISR change and truncation is fenced by the leader epoch.

What it models: the fencing of Kafka 2.1. A leader and a follower interact only while both are in
the same leader epoch. So a new follower compares its log only with a leader that already leads in
the epoch of the request, and a leader counts only followers of its own epoch. In addition a leader
adds nobody to the ISR before it has committed all records of earlier epochs: the original's rule,
which is stricter than Kafka's (see the end of this file).

What breaks: nothing. weak_isr and strong_isr hold in every configuration that was explored, three
replicas, two records and three leader epochs included. (leader_in_isr, which the original claims as
well, is false in the initial state.)

Read `model` first, then `actions`, whose last two sections are replaced below, then `properties`.
What it refines is in `committed_log`: one log of committed records that only ever grows.

Left out: see `model`.

Source: Kip320.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec import actions
from kafka_spec.actions import (
    become_follower_and_truncate_to,
    copy_next_record,
    first_non_matching_offset_from_tail,
    is_newer,
    names_another_leader,
    update_isr,
)
from kafka_spec.committed_log import committed_log, committed_records
from kafka_spec.model import *
from kafka_spec.properties import replication_spec
from protocol_lab import *

# --- A follower and its leader ---------------------------------------------------------------


def is_following_leader_epoch(s, follower, leader) -> bool:
    """Does the follower follow this leader, in the epoch in which it leads?"""
    return (
        presumes_leadership(s, leader)
        and is_following(s, follower, leader)
        and s.replica_state[follower].leader_epoch == s.replica_state[leader].leader_epoch
    )


def has_follower_reached_high_watermark(s, follower, leader) -> bool:
    """Does the follower's log reach the leader's high watermark?"""
    hw = s.replica_state[leader].hw
    return hw == 0 or has_offset(s.replica_log[follower], hw - 1)


def leads_in_epoch(s, leader, epoch) -> bool:
    """Does the replica believe that it leads, in exactly this epoch?"""
    return presumes_leadership(s, leader) and s.replica_state[leader].leader_epoch == epoch


def is_shorter(s, follower, leader) -> bool:
    """Does the follower's log end before the leader's?"""
    return s.replica_log[follower].end_offset < s.replica_log[leader].end_offset


# --- A follower truncates and copies ---------------------------------------------------------


def fenced_become_follower_and_truncate(
    s: State, c: Constants, follower: Replica, request: Request
):
    """A replica picks a request that makes another the leader; it keeps what their logs share.

    Only if that leader already leads in the request's epoch: until then it may itself truncate its
    log.
    """
    if not names_another_leader(request, follower):
        return "the request does not make another replica the leader"
    if not is_newer(s, follower, request):
        return "the replica knows this epoch or a later one"
    if not leads_in_epoch(s, request.leader, request.leader_epoch):
        return "the leader does not lead in the epoch of the request"
    end_offset = first_non_matching_offset_from_tail(s, follower, request.leader)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


def fenced_follower_fetch(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower copies the next record of the leader of its epoch."""
    if not is_following_leader_epoch(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if not has_offset(s.replica_log[leader], s.replica_log[follower].end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN


# --- The leader commits ----------------------------------------------------------------------


def fenced_leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """A leader commits the next record once its own ISR, all in its epoch, reaches beyond it."""
    hw = s.replica_state[leader].hw
    if not has_offset(s.replica_log[leader], hw):
        return "the replica has committed its whole log"
    if not all(
        is_following_leader_epoch(s, follower, leader) and has_offset(s.replica_log[follower], hw)
        for follower in s.replica_state[leader].isr
    ):
        return "a member of the ISR does not follow in this epoch, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- The leader changes the ISR --------------------------------------------------------------


def fenced_leader_expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """Once all of earlier epochs is committed, the true leader adds a follower that has caught up.

    The follower has caught up if it is in the leader's epoch and its log reaches the high
    watermark. A new leader does not know how far its predecessor had committed: its own high
    watermark may be lower.
    """
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_following_leader_epoch(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if not has_follower_reached_high_watermark(s, follower, leader):
        return "the follower has not reached the high watermark"
    if not has_high_watermark_reached_current_epoch(s, leader):
        return "the leader has not committed all records of earlier epochs"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def fenced_leader_shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader drops a follower that lags, or that is not in its epoch."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not is_in_isr(s, follower, leader):
        return "the follower is not in the ISR"
    if is_following_leader_epoch(s, follower, leader) and not is_shorter(s, follower, leader):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


# --- The protocol ----------------------------------------------------------------------------

spec = replication_spec(
    "kip_320",
    __doc__,
    original="Kip320",
    tlc="kafka_spec.tlc",
    configurations=(
        Configuration("default", "two records and three leader epochs", "737,794 distinct states"),
        Configuration(
            "large",
            "three records and four leader epochs",
            "64,739,578 distinct states",
            {"log_size": 3, "max_records": 3, "max_leader_epoch": 3},
        ),
    ),
)
spec.action(actions.controller_elect_leader)
spec.action(actions.controller_shrink_isr)
spec.action(actions.become_leader)
spec.action(fenced_leader_expand_isr)
spec.action(fenced_leader_shrink_isr)
spec.action(actions.leader_write)
spec.action(fenced_leader_inc_high_watermark)
spec.action(fenced_become_follower_and_truncate)
spec.action(fenced_follower_fetch)
spec.strongly_fair(fenced_leader_inc_high_watermark, fenced_leader_expand_isr, actions.leader_write)
spec.weakly_fair(fenced_become_follower_and_truncate, actions.become_leader)

# What it refines: the log of committed records only grows.
spec.refines(committed_log, committed_records)

WHAT_EACH_GUARD_KEEPS_OUT = """
A violation, in as many steps, with three replicas, two records and three leader epochs. The
exercises fence_the_fetch and the_fence_to_spare take the guards away one by one.

fenced_become_follower_and_truncate, the leader leads in the epoch: 13 steps to weak_isr, as in
    KIP-279. In Kafka 2.1.0 the follower's OffsetsForLeaderEpoch request carries its leader epoch,
    and a broker that is in another one answers with an error.
fenced_follower_fetch, both are in one epoch: 12 steps to weak_isr. A fetch of another epoch is
    answered with FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH, since 2.1.0.
fenced_leader_inc_high_watermark, the ISR is in one epoch: 12 steps to weak_isr. A leader knows a
    follower's end only from fetches of its own epoch, and a new leader forgets the ends of before
    (`Replica.resetReplicaState` 3.8.0).
fenced_leader_expand_isr, both are in one epoch: 14 steps to weak_isr.
fenced_leader_expand_isr, all of earlier epochs is committed: 11 steps to strong_isr. Since 2.0.1
    and 2.1.0 Kafka asks instead that the follower's log also reaches the offset at which the
    leader's epoch starts, committed or not (`Partition.maybeExpandIsr`, KAFKA-7128).
fenced_leader_shrink_isr, both are in one epoch: the exercise asks. In Kafka a follower lags that
    has not caught up for replica.lag.time.max.ms (`Partition.maybeShrinkIsr` 3.8.0).
"""
