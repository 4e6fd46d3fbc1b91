"""Elections when nobody of the ISR is alive: one action for each election rule."""

from kafka_spec.leader_election.actions.clean_elections import lead
from kafka_spec.leader_election.actions.isr_membership import change_isr
from kafka_spec.leader_election.model import (
    ELIGIBLE_LEADER_REPLICAS,
    FIRST_ALIVE,
    LATEST_OFFSET,
    Constants,
    Replica,
    State,
    has_no_leader,
    is_alive,
    is_isr_dead,
    is_shut_down,
    leo,
    log_of,
)
from protocol_lab import TAKEN, contains, members, only, smallest


def last_epoch(s, replica) -> int:
    """The leader epoch of the replica's last message; 0 if its log is empty."""
    log = log_of(s, replica)
    return log.items[log.length - 1].leader_epoch if log.length > 0 else 0


def is_as_late_as(s, replica, other) -> bool:
    """Is its last message of a later epoch than the other's, or of the same and its log as long?"""
    mine, theirs = last_epoch(s, replica), last_epoch(s, other)
    return mine > theirs or (mine == theirs and leo(s, replica) >= leo(s, other))


def lead_alone(s, c, replica) -> None:
    """Make a replica from outside of the ISR the leader: it is then the whole ISR."""
    change_isr(s, c, only(replica))
    lead(s, c, replica)


def unclean_leader_election_choose_latest_offset(s: State, c: Constants, replica: Replica):
    """The unstable replica has died: elect the alive replica with the latest offset.

    Latest means the highest epoch of the last record, and among equal ones the longest log.
    """
    if c.election_rule != LATEST_OFFSET:
        return "another election rule is set"
    if not has_no_leader(s):
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not is_shut_down(s, c.unstable_replica):
        return "the unstable replica has not died: it may be back soon"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if not all(is_as_late_as(s, replica, other) for other in members(s.zk_state.alive_replicas)):
        return "another alive replica has a later last epoch, or the same and a longer log"
    lead_alone(s, c, replica)
    return TAKEN


def unclean_leader_election_choose_first_alive(s: State, c: Constants, replica: Replica):
    """unclean.leader.election.enable: elect the list's first alive replica, whatever it has."""
    if c.election_rule != FIRST_ALIVE:
        return "another election rule is set"
    if not has_no_leader(s):
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if replica != smallest(s.zk_state.alive_replicas):
        return "another alive replica comes first in the replica list"
    lead_alone(s, c, replica)
    return TAKEN


def elect_eligible_leader_replica(s: State, c: Constants, replica: Replica):
    """KIP-966: elect the first alive replica in the list whose leaving left the ISR too small.

    Nothing has been committed since then, so it has all committed messages: the election is clean.
    """
    if c.election_rule != ELIGIBLE_LEADER_REPLICAS:
        return "another election rule is set"
    if not has_no_leader(s):
        return "there is a leader"
    if s.zk_state.isrs != 0:
        return "the ISR is not empty"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if not contains(s.zk_state.eligible, replica):
        return "the replica left the ISR when it was still large enough to commit"
    if replica != smallest(s.zk_state.eligible & s.zk_state.alive_replicas):
        return "another alive replica comes first among the eligible ones"
    lead_alone(s, c, replica)
    return TAKEN
