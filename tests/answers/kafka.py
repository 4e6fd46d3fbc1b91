"""Answers to the exercises of Kafka's notebooks, wrong ones with what they are told."""

from kafka_spec.actions import update_isr
from kafka_spec.async_isr import write_isr
from kafka_spec.kip_320 import is_following_leader_epoch
from kafka_spec.model import (
    has_high_watermark_reached_current_epoch,
    has_offset,
    has_same_record,
    is_in_isr,
    is_true_leader,
    presumes_leadership,
)
from kafka_spec.unclean_leader_election import (
    common_prefix,
    is_isr_dead,
    lead,
    lead_alone,
    leo,
    log_of,
)
from protocol_lab import HOLDS, NONE, TAKEN, is_subset, smallest, with_node

# === start ===

# --- count_the_states ------------------------------------------------------------------------


def full_logs_only(replicas, log_records, log_size):
    return log_records ** (log_size * replicas)


def logs_added_up(replicas, log_records, log_size):
    return replicas * sum(log_records**length for length in range(log_size + 1))


# --- logs_agree_where_both_have_records ------------------------------------------------------


def same_length_too(s, c):
    for replica in range(1, c.replicas + 1):
        if s.logs[replica].end_offset != s.logs[1].end_offset:
            return "the logs have different lengths"
        for offset in range(s.logs[1].end_offset):
            if s.logs[replica].records[offset] != s.logs[1].records[offset]:
                return "the logs differ"
    return HOLDS


def first_record_only(s, c):
    for replica in range(1, c.replicas + 1):
        for other in range(1, replica):
            one, two = s.logs[replica], s.logs[other]
            if one.end_offset > 0 and two.end_offset > 0 and one.records[0] != two.records[0]:
                return "the first records differ"
    return HOLDS


WRONG = {
    "count_the_states": [
        (full_logs_only, "the search finds 2 states; your formula says 1"),
        (logs_added_up, "the search finds 49 states; your formula says 14"),
    ],
    "logs_agree_where_both_have_records": [
        (same_length_too, 'It should hold after these steps, but says "the logs have different'),
        (first_record_only, "It holds after these steps, but should say: two logs hold different"),
    ],
}


# === replication ===

# --- high_watermark_within_the_log -----------------------------------------------------------


def below_the_end(s, c):
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw >= s.replica_log[replica].end_offset:
            return "a high watermark is not below the end of its log"
    return HOLDS


def within_the_room(s, c):
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw > c.log_size:
            return "a high watermark is beyond the room for records"
    return HOLDS


# --- repair_leader_in_isr --------------------------------------------------------------------


def nothing_is_claimed(s, c):
    return HOLDS


def looks_at_the_replicas(s, c):
    for replica in range(1, c.replicas + 1):
        believed = s.replica_state[replica]
        if believed.leader == replica and replica not in s.quorum_state.isr:
            return "a replica that believes it leads is not in the ISR"
    if s.quorum_state.leader == NONE:
        return HOLDS
    return HOLDS


WRONG |= {
    "high_watermark_within_the_log": [
        (below_the_end, "It should hold in the initial state"),
        (within_the_room, "should say: a replica's high watermark is beyond the end of its log"),
    ],
    "repair_leader_in_isr": [
        (nothing_is_claimed, "It holds after these steps, but should say: the controller's leader"),
        (looks_at_the_replicas, 'but says "a replica that believes it leads is not in the ISR"'),
    ],
}


# === truncation ===

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


WRONG |= {
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


# === adversary ===

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


WRONG |= {
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


# === the_talk and async_isr ===


def the_isr_is_large_enough(s, c):
    return HOLDS if len(s.zk_state.isrs) >= c.min_isr else "the ISR is too small"


def somebody_has_as_many(s, c):
    longest = max(leo(s, replica) for replica in range(1, c.replicas + 1))
    return HOLDS if longest >= len(s.committed_messages) else "all logs are too short"


def elect_the_first(s, c, replica):
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if replica != smallest(s.zk_state.alive_replicas):
        return "another one comes first"
    lead_alone(s, c, replica)
    return TAKEN


def elect_the_longest_log(s, c, replica):
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if any(leo(s, other) > leo(s, replica) for other in s.zk_state.alive_replicas):
        return "another one has a longer log"
    lead_alone(s, c, replica)
    return TAKEN


def elect_an_eligible_one(s, c, replica):
    """The rule of KIP-966, which the notebook has shown: here there is no list."""
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if replica not in s.zk_state.eligible:
        return "the replica is not eligible"
    lead_alone(s, c, replica)
    return TAKEN


def own_isr_only(s):
    return min(s.leader_state.offsets[replica] for replica in s.leader_state.isr)


def all_replicas(s):
    return min(s.leader_state.offsets[replica] for replica in range(1, 4))


def what_was_asked_for(s):
    return min(s.leader_state.offsets[replica] for replica in s.leader_state.pending_isr)


WRONG |= {
    "somebody_has_it": [(the_isr_is_large_enough, ""), (somebody_has_as_many, "")],
    "safe_min_isr": [({2, 3}, "these 15 steps"), ({1, 3}, "these 5 steps"), (set(), "3 is one")],
    "elect_safely": [
        (elect_the_first, "these 7 steps"),
        (elect_the_longest_log, "these 14 steps"),
        (elect_an_eligible_one, "never elects anybody"),
    ],
    "write_the_high_watermark": [
        (own_isr_only, "these 6 steps"),
        (all_replicas, "one slow replica stops everybody"),
        (what_was_asked_for, "min() of nothing"),
    ],
}

SAID = {
    "somebody_has_it": ["under latest_offset it holds", "under first_alive it fails after 8 steps"],
    "safe_min_isr": ["min_isr=1: a loss in 5 steps", "min_isr=2: a loss in 15 steps"],
    "elect_safely": ["lost in any of 169,404 states", "at slide 55 nobody is elected"],
    "write_the_high_watermark": ["22,456 states"],
}
"""What is said of worked answers."""
