"""States of the truncation variants that are worth finding, for a learner to pick.

The first five must be reachable: otherwise a variant might satisfy its invariants only because
nothing happens. The others claim nothing: some can be reached in every variant, some only where the
variant is broken, and two leaders in one epoch in none. The docstrings say what was found with
three replicas, two records and three leader epochs; a test finds it again.
"""

from kafka_spec.model import *
from protocol_lab import *

# --- Who leads, and who is in sync -------------------------------------------------------------


def the_isr_has_shrunk(s: State, c: Constants) -> bool:
    """The leader removes a member from the ISR that the latest request names."""
    return len(s.leader_and_isr_requests) > 0 and not is_subset(
        last(s.leader_and_isr_requests).isr, s.quorum_state.isr
    )


def the_isr_has_grown(s: State, c: Constants) -> bool:
    """The leader adds a member to the ISR that the latest request names."""
    return len(s.leader_and_isr_requests) > 0 and not is_subset(
        s.quorum_state.isr, last(s.leader_and_isr_requests).isr
    )


def the_isr_has_one_member(s: State, c: Constants) -> bool:
    """The ISR has one member."""
    return len(s.quorum_state.isr) == 1


def a_zombie_leads(s: State, c: Constants) -> bool:
    """Two replicas believe that they lead."""
    return sum(1 for replica in range(1, c.replicas + 1) if presumes_leadership(s, replica)) > 1


def two_replicas_lead_in_one_epoch(s: State, c: Constants) -> bool:
    """Two replicas believe that they lead, in the same leader epoch.

    Found in none of the five: the controller takes a new epoch each time.
    """
    return any(
        presumes_leadership(s, replica)
        and presumes_leadership(s, other)
        and s.replica_state[replica].leader_epoch == s.replica_state[other].leader_epoch
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
    )


# --- Logs --------------------------------------------------------------------------------------


def a_follower_is_ahead_of_its_leader(s: State, c: Constants) -> bool:
    """A follower's log is longer than that of the leader it follows."""
    return any(
        presumes_leadership(s, leader)
        and is_following(s, follower, leader)
        and s.replica_log[follower].end_offset > s.replica_log[leader].end_offset
        for leader in range(1, c.replicas + 1)
        for follower in range(1, c.replicas + 1)
    )


def logs_diverge(s: State, c: Constants) -> bool:
    """Two replicas hold different records at the same offset."""
    return any(
        not has_same_record(s.replica_log[replica], s.replica_log[other], offset)
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
        for offset in range(min(s.replica_log[replica].end_offset, s.replica_log[other].end_offset))
    )


# --- What is committed -------------------------------------------------------------------------


def a_record_is_committed(s: State, c: Constants) -> bool:
    """A leader commits a record that another replica holds as well."""
    return any(
        presumes_leadership(s, leader)
        and s.replica_state[leader].hw > 0
        and other != leader
        and holds_committed(s, other, leader)
        for leader in range(1, c.replicas + 1)
        for other in range(1, c.replicas + 1)
    )


def a_follower_does_not_know_what_is_committed(s: State, c: Constants) -> bool:
    """A follower holds a committed record, and its own high watermark does not say so."""
    return any(
        presumes_leadership(s, leader)
        and is_following(s, follower, leader)
        and holds_committed(s, follower, leader)
        and s.replica_state[follower].hw < s.replica_state[leader].hw
        for leader in range(1, c.replicas + 1)
        for follower in range(1, c.replicas + 1)
    )


def a_committed_record_is_on_one_replica(s: State, c: Constants) -> bool:
    """A record that a leader calls committed is in that leader's log only."""
    return any(
        presumes_leadership(s, leader)
        and all(
            other == leader
            or not has_same_record(s.replica_log[leader], s.replica_log[other], offset)
            for other in range(1, c.replicas + 1)
        )
        for leader in range(1, c.replicas + 1)
        for offset in range(s.replica_state[leader].hw)
    )


def the_elected_leader_lacks_a_committed_record(s: State, c: Constants) -> bool:
    """The controller's leader lacks a record that some leader calls committed.

    Found in the three older variants, and neither in KIP-320 nor in its first try.
    """
    leader = s.quorum_state.leader
    return leader != NONE and any(
        presumes_leadership(s, other) and not holds_committed(s, leader, other)
        for other in range(1, c.replicas + 1)
    )


def a_record_is_left_over(s: State, c: Constants) -> bool:
    """A record is on a single replica, which does not lead: it must be cut off, or it stays."""
    return any(
        not presumes_leadership(s, replica)
        and all(
            other == replica
            or not has_same_record(s.replica_log[replica], s.replica_log[other], offset)
            for other in range(1, c.replicas + 1)
        )
        for replica in range(1, c.replicas + 1)
        for offset in range(s.replica_log[replica].end_offset)
    )


EXPECTED = (
    *(a_record_is_committed, the_isr_has_shrunk, the_isr_has_grown),
    *(a_zombie_leads, logs_diverge),
)
"""What must be reachable in every variant."""

SITUATIONS = (
    the_isr_has_one_member,
    two_replicas_lead_in_one_epoch,
    a_follower_is_ahead_of_its_leader,
    a_follower_does_not_know_what_is_committed,
    a_committed_record_is_on_one_replica,
    the_elected_leader_lacks_a_committed_record,
    a_record_is_left_over,
)
"""What every variant offers."""
