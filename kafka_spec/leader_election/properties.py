"""The constraint, invariants and sometimes properties of `kafka.unclean_leader_election`.

committed_messages_never_lost is the original's.
"""

from kafka_spec.leader_election.model import (
    ELIGIBLE_LEADER_REPLICAS,
    Constants,
    State,
    common_prefix,
    has_no_leader,
    is_in_isr,
    is_isr_dead,
    is_leader,
    is_shut_down,
    leo,
    log_of,
)
from protocol_lab import HOLDS, NO_LIMIT, members, only


def within_bounds(s: State, c: Constants):
    """Which states a search expands: epochs and logs are bounded. Either may be switched off."""
    if s.zk_state.leader_epoch > c.max_leader_epoch:
        return "the leader epoch is beyond max_leader_epoch"
    if c.max_log_length < NO_LIMIT and any(
        leo(s, replica) > c.max_log_length for replica in range(1, c.replicas + 1)
    ):
        return "a log is longer than max_log_length"
    return HOLDS


def committed_messages_never_lost(s: State, c: Constants):
    """The leader, if there is one, has all committed messages.

    The original looks for them anywhere in the leader's log. As its messages contain their offsets,
    it can find them at the beginning only.
    """
    if has_no_leader(s):
        return HOLDS
    shared = common_prefix(s.committed_messages, log_of(s, s.zk_state.leader))
    if shared < s.committed_messages.length:
        return "the leader lacks a committed message"
    return HOLDS


def elects_where_latest_offset_would(s: State, c: Constants):
    """Where latest_offset would elect a replica, eligible_leader_replicas does as well.

    This is what the third rule may cost: the partition stays offline rather than elect a replica
    that was out of sync while messages were committed.
    """
    if c.election_rule != ELIGIBLE_LEADER_REPLICAS or not has_no_leader(s) or not is_isr_dead(s):
        return HOLDS
    if not is_shut_down(s, c.unstable_replica) or s.zk_state.alive_replicas == 0:
        return HOLDS
    if s.zk_state.eligible & s.zk_state.alive_replicas == 0:
        return "replicas are alive, but none of them is eligible"
    return HOLDS


# --- Sometimes: states that must be reachable ------------------------------------------------


def a_further_message_is_committed(s: State, c: Constants):
    """More is committed than in the initial state."""
    if s.committed_messages.length <= c.first_record_committed:
        return "nothing is committed that was not at the start"
    return HOLDS


def the_isr_is_down_to_one(s: State, c: Constants):
    """Only the leader is in sync."""
    return HOLDS if s.zk_state.isrs == only(s.zk_state.leader) else "the leader is not alone"


def the_isr_has_its_dead_member_back(s: State, c: Constants):
    """The unstable replica has died, is alive again, and is a follower in sync."""
    replica = c.unstable_replica
    if is_shut_down(s, replica) and not has_no_leader(s) and not is_leader(s, replica):
        return HOLDS if is_in_isr(s, replica) else "the unstable replica is not in the ISR"
    return "the unstable replica has not died, or leads, or nobody does"


def nobody_of_the_isr_is_alive(s: State, c: Constants):
    """The partition is offline, and no clean election from the ISR can help: slide 12."""
    if not has_no_leader(s):
        return "there is a leader"
    return HOLDS if is_isr_dead(s) else "a member of the ISR is alive"


def a_deposed_leader_has_other_messages(s: State, c: Constants):
    """An alive replica has a message where the leader has another one."""
    if has_no_leader(s):
        return "there is no leader"
    for replica in members(s.zk_state.alive_replicas):
        log, leaders = log_of(s, replica), log_of(s, s.zk_state.leader)
        if common_prefix(log, leaders) < min(log.length, leaders.length):
            return HOLDS
    return "no alive replica contradicts the leader"
