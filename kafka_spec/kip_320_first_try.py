"""KIP-320, rejected first try: fetch at once, truncate when the record epochs disagree.

What it models: an idea that was never released. A new follower keeps its log and starts to fetch at
once; each fetch carries the epoch of the follower's last record, and the leader compares it with
its own record there. If they differ the follower truncates, at any time, as in KIP-279.

What breaks: the epochs of *records* are compared, the leader epochs of *replicas* are not. A leader
may commit a record because of a follower that is in an older epoch, which then follows another
leader and drops the record. With three replicas and three leader epochs weak_isr and strong_isr
fail. `kip_320` compares the leader epochs instead.

Read `model` first, then `actions`, whose last two sections are replaced below, then `properties`.

Left out: see `model`.

Source: Kip320FirstTry.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec import actions
from kafka_spec.actions import (
    apply,
    copy_next_record,
    first_non_matching_offset_from_tail,
    is_newer,
    names_another_leader,
    truncate_to,
    update_isr,
)
from kafka_spec.model import *
from kafka_spec.properties import replication_spec
from protocol_lab import *

# --- A follower and its leader ---------------------------------------------------------------


def is_caught_up_to_leader_epoch(s, follower, leader, end_offset) -> bool:
    """Does the follower follow, with the leader's record epoch just below the end offset?"""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    return (
        presumes_leadership(s, leader)
        and is_following(s, follower, leader)
        and (end_offset == 0 or has_same_epoch(mine, theirs, end_offset - 1))
    )


def has_same_epoch(log, other, offset) -> bool:
    """Do both logs hold a record of the same epoch at this offset?"""
    return (
        has_offset(log, offset)
        and has_offset(other, offset)
        and log.records[offset].epoch == other.records[offset].epoch
    )


def needs_truncation(s, follower, leader) -> bool:
    """Is the follower's log longer than the leader's, or does its last epoch differ there?"""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    if mine.end_offset > theirs.end_offset:
        return True
    return mine.end_offset > 0 and not has_same_epoch(mine, theirs, mine.end_offset - 1)


# --- A follower copies and truncates ---------------------------------------------------------


def become_follower(s: State, c: Constants, follower: Replica, request: Request):
    """A replica picks a request that makes another the leader; log and high watermark stay."""
    if not names_another_leader(request, follower):
        return "the request does not make another replica the leader"
    if not is_newer(s, follower, request):
        return "the replica knows this epoch or a later one"
    apply(s, follower, request)
    return TAKEN


def follower_fetch(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower copies the next record, if both logs have the same epoch just before it."""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    if not is_caught_up_to_leader_epoch(s, follower, leader, mine.end_offset):
        return "the follower does not follow this leader, or disagrees with it at its end"
    if not has_offset(theirs, mine.end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN


def follower_truncate(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower that disagrees with its leader cuts its log off where they last agree."""
    if not presumes_leadership(s, leader):
        return "the leader does not believe that it leads"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if not needs_truncation(s, follower, leader):
        return "the follower's last record agrees with the leader's log"
    end_offset = first_non_matching_offset_from_tail(s, follower, leader)
    truncate_to(s, follower, end_offset)
    return TAKEN


# --- The leader commits ----------------------------------------------------------------------


def improved_leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """A leader commits the next record once its own ISR holds a record of that epoch there."""
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if not has_offset(s.replica_log[leader], hw):
        return "the leader has committed its whole log"
    if not all(
        is_caught_up_to_leader_epoch(s, follower, leader, hw + 1)
        for follower in s.replica_state[leader].isr
    ):
        return "a member of the ISR does not follow, or holds no record of that epoch there"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- The leader changes the ISR --------------------------------------------------------------


def leader_expand_isr_better_fencing(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader adds a follower that agrees with it just below the high watermark.

    Not before all records of earlier epochs are committed: until then the leader does not know how
    far its predecessor had committed.
    """
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_caught_up_to_leader_epoch(s, follower, leader, s.replica_state[leader].hw):
        return "the follower does not follow, or disagrees just below the high watermark"
    if not has_high_watermark_reached_current_epoch(s, leader):
        return "the leader has not committed all records of earlier epochs"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def leader_shrink_isr_better_fencing(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader drops a follower that disagrees with the end of the leader's log."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not is_in_isr(s, follower, leader):
        return "the follower is not in the ISR"
    if is_caught_up_to_leader_epoch(s, follower, leader, s.replica_log[leader].end_offset):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


# --- The protocol ----------------------------------------------------------------------------

spec = replication_spec(
    "kip_320_first_try",
    __doc__,
    original="Kip320FirstTry",
    configurations=(
        Configuration(
            "default",
            "two records and three leader epochs",
            "violated in 12 states, after 113,095 distinct states",
        ),
    ),
)
spec.action(actions.controller_elect_leader)
spec.action(actions.controller_shrink_isr)
spec.action(actions.become_leader)
spec.action(leader_expand_isr_better_fencing)
spec.action(leader_shrink_isr_better_fencing)
spec.action(actions.leader_write)
spec.action(improved_leader_inc_high_watermark)
spec.action(become_follower)
spec.action(follower_fetch)
spec.action(follower_truncate)
# The original asks for the old leader_expand_isr, which this protocol no longer has.
spec.strongly_fair(
    improved_leader_inc_high_watermark, actions.leader_expand_isr, actions.leader_write
)
spec.weakly_fair(become_follower, actions.become_leader)
