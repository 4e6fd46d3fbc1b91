"""Answers to the exercises of notebooks/kafka/05_be_the_adversary: wrong, and other right ones.

Of the wrong ones of each, one lets the harm happen and one forbids too much.
"""

from kafka_spec.bounded_log import has_offset
from kafka_spec.isr_changes.actions import write_isr
from kafka_spec.kip_320 import is_following_leader_epoch
from kafka_spec.leader_election.actions.clean_elections import lead
from kafka_spec.leader_election.actions.isr_membership import has_reached_high_watermark
from kafka_spec.leader_election.model import (
    common_prefix,
    has_no_leader,
    is_alive,
    is_in_isr,
    is_leader,
    leo,
    log_of,
)
from kafka_spec.replication.model import is_following, presumes_leadership
from protocol_lab import TAKEN, is_subset, members

# --- refuse_an_old_request -------------------------------------------------------------------


def accept_all(s, c, message):
    write_isr(s, message.isr)
    return TAKEN


def accept_none(s, c, message):
    return "no"


def accept_smaller_or_present(s, c, message):
    present = message.version == s.controller_state.version
    if not present and not is_subset(message.isr, s.controller_state.isr):
        return "the request is old, and adds somebody"
    write_isr(s, message.isr)
    return TAKEN


# --- fence_the_commit ------------------------------------------------------------------------


def commit_with_any(s, c, leader):
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if not has_offset(s.replica_log[leader], hw):
        return "the replica has committed its whole log"
    if not all(
        is_following(s, follower, leader) and has_offset(s.replica_log[follower], hw)
        for follower in members(s.replica_state[leader].isr)
    ):
        return "a member of the ISR does not follow, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_with_everybody(s, c, leader):
    hw = s.replica_state[leader].hw
    if not all(
        is_following_leader_epoch(s, leader, each) and has_offset(s.replica_log[each], hw)
        for each in range(1, c.replicas + 1)
    ):
        return "somebody is in another epoch, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_with_none_older(s, c, leader):
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if not has_offset(s.replica_log[leader], hw):
        return "the replica has committed its whole log"
    for follower in members(s.replica_state[leader].isr):
        if not is_following(s, follower, leader) or not has_offset(s.replica_log[follower], hw):
            return "a member of the ISR does not follow, or has nothing at that offset"
        if s.replica_state[follower].leader_epoch < s.replica_state[leader].leader_epoch:
            return "a member of the ISR is in an older epoch"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- tame_the_load_balancer ------------------------------------------------------------------


def never_move(s, c):
    return "leadership stays where it is"


def move_to_what_is_committed(s, c):
    preferred = s.zk_state.preferred_leader
    if has_no_leader(s) or is_leader(s, preferred):
        return "there is nothing to move"
    if not is_in_isr(s, preferred) or not is_alive(s, preferred):
        return "the preferred replica is not alive and in sync"
    if not has_reached_high_watermark(s, preferred):
        return "the preferred replica lacks what is committed"
    lead(s, c, preferred)
    return TAKEN


def move_to_an_equal_log(s, c):
    preferred = s.zk_state.preferred_leader
    if has_no_leader(s) or is_leader(s, preferred):
        return "there is nothing to move"
    if not is_in_isr(s, preferred) or not is_alive(s, preferred):
        return "the preferred replica is not alive and in sync"
    shared = common_prefix(log_of(s, preferred), log_of(s, s.zk_state.leader))
    if shared < leo(s, preferred):
        return "the preferred replica has something that the leader has not"
    lead(s, c, preferred)
    return TAKEN


WRONG = {
    "refuse_an_old_request": [
        (accept_all, "valid_high_watermark breaks after 6 steps"),
        (accept_none, "controller_handle_request never happens"),
    ],
    "fence_the_commit": [
        (commit_with_any, "weak_isr breaks after 12 steps"),
        (commit_with_everybody, "never: a leader commits a record that a slow replica lacks"),
    ],
    "tame_the_load_balancer": [
        (never_move, "preferred_leader_election never happens"),
        (move_to_what_is_committed, "committed_messages_never_lost breaks after 15 steps"),
    ],
}

OTHER_RIGHT = {
    "refuse_an_old_request": [accept_smaller_or_present],
    "fence_the_commit": [commit_with_none_older],
    "tame_the_load_balancer": [move_to_an_equal_log],
}
