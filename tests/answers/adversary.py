"""Answers to the exercises of notebooks/kafka/05_be_the_adversary: wrong, and other right ones.

Of the wrong ones of each, one lets the harm happen and one forbids too much.
"""

from kafka_spec.async_isr import write_isr
from kafka_spec.kip_320 import is_following_leader_epoch
from kafka_spec.model import has_offset, has_same_record, presumes_leadership
from kafka_spec.unclean_leader_election import common_prefix, lead, leo, log_of
from protocol_lab import NONE, TAKEN, is_subset

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


def commit_what_is_the_same(s, c, leader):
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    for member in s.replica_state[leader].isr:
        if not has_same_record(s.replica_log[leader], s.replica_log[member], hw):
            return "a member of the ISR does not hold this record"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_what_this_epoch_wrote(s, c, leader):
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    for member in s.replica_state[leader].isr:
        log = s.replica_log[member]
        if not has_offset(log, hw):
            return "a member of the ISR has nothing at that offset"
        if log.records[hw].epoch != s.replica_state[leader].leader_epoch:
            return "the record is not of this epoch"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_with_everybody(s, c, leader):
    hw, epoch = s.replica_state[leader].hw, s.replica_state[leader].leader_epoch
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    for replica in range(1, c.replicas + 1):
        log = s.replica_log[replica]
        if not has_offset(log, hw):
            return "somebody has nothing at that offset"
        if log.records[log.end_offset - 1].epoch != epoch:
            return "somebody holds nothing of this epoch"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_unless_an_older_record_is_last(s, c, leader):
    hw, epoch = s.replica_state[leader].hw, s.replica_state[leader].leader_epoch
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    for member in s.replica_state[leader].isr:
        log = s.replica_log[member]
        if not has_offset(log, hw) or log.records[log.end_offset - 1].epoch < epoch:
            return "a member of the ISR lags, or is in an older epoch"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_where_logs_end_alike(s, c, leader):
    hw, mine = s.replica_state[leader].hw, s.replica_log[leader]
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if not has_offset(mine, hw):
        return "the replica has committed its whole log"
    last = mine.end_offset - 1
    if mine.records[last].epoch != s.replica_state[leader].leader_epoch:
        return "the leader has written nothing in its epoch"
    for member in s.replica_state[leader].isr:
        if not has_same_record(mine, s.replica_log[member], last):
            return "a member of the ISR lacks the leader's last record"
    s.replica_state[leader].hw += 1
    return TAKEN


def commit_after_asking_for_epochs(s, c, leader):
    mine, hw = s.replica_log[leader], s.replica_state[leader].hw
    if not has_offset(mine, hw):
        return "the replica has committed its whole log"
    for member in s.replica_state[leader].isr:
        if not is_following_leader_epoch(s, member, leader):
            return "a member of the ISR does not follow in this epoch"
        if not has_offset(s.replica_log[member], hw):
            return "a member of the ISR has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- tame_the_load_balancer ------------------------------------------------------------------


def never_move(s, c):
    return "leadership stays where it is"


def move_to_what_is_committed(s, c):
    preferred = s.zk_state.preferred_leader
    if s.zk_state.leader == NONE or s.zk_state.leader == preferred:
        return "there is nothing to move"
    if preferred not in s.zk_state.isrs or preferred not in s.zk_state.alive_replicas:
        return "the preferred replica is not alive and in sync"
    if leo(s, preferred) < len(s.committed_messages):
        return "the preferred replica lacks what is committed"
    lead(s, c, preferred)
    return TAKEN


def move_to_an_equal_log(s, c):
    preferred = s.zk_state.preferred_leader
    if s.zk_state.leader == NONE or s.zk_state.leader == preferred:
        return "there is nothing to move"
    if preferred not in s.zk_state.isrs or preferred not in s.zk_state.alive_replicas:
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
        (commit_what_is_the_same, "weak_isr breaks after 12 steps"),
        (commit_unless_an_older_record_is_last, "weak_isr breaks after 8 steps"),
        (commit_what_this_epoch_wrote, "never: a leader commits a record of an earlier leader"),
        (commit_with_everybody, "never: a leader commits a record that a slow replica lacks"),
        (commit_after_asking_for_epochs, "Leader 1 can't know that"),
    ],
    "tame_the_load_balancer": [
        (never_move, "preferred_leader_election never happens"),
        (move_to_what_is_committed, "committed_messages_never_lost breaks after 15 steps"),
    ],
}

OTHER_RIGHT = {
    "refuse_an_old_request": [accept_smaller_or_present],
    "fence_the_commit": [commit_where_logs_end_alike],
    "tame_the_load_balancer": [move_to_an_equal_log],
}
