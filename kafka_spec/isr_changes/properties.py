"""The constraint, invariants and sometimes properties of `kafka.async_isr`.

valid_high_watermark and type_ok are the original's.
"""

from kafka_spec.isr_changes.model import (
    Constants,
    State,
    has_reached_high_watermark,
    high_watermark,
)
from protocol_lab import HOLDS, is_subset, members, nodes_up_to


def within_bounds(s: State, c: Constants):
    """Which states a search expands: the leader's log and the controller's version are bounded.

    Followers' logs are never longer than the leader's, and no version is later than the
    controller's, so these two bound everything. Either may be switched off.
    """
    if s.leader_state.offsets[c.leader] > c.max_leader_offset:
        return "the leader's log is longer than max_leader_offset"
    if s.controller_state.version > c.max_version:
        return "the controller's version is beyond max_version"
    return HOLDS


def valid_high_watermark(s: State, c: Constants):
    """Every member of the controller's ISR holds all that the leader calls committed."""
    for replica in members(s.controller_state.isr):
        if not has_reached_high_watermark(s, replica):
            return "a member of the controller's ISR has not reached the high watermark"
    return HOLDS


def type_ok(s: State, c: Constants):
    """Every variable has a value of its type: the original's, and false in the initial state.

    It requires all versions to be natural numbers, but -1 stands for "no pending version".
    """
    everybody = nodes_up_to(c.replicas)
    controller, leader = s.controller_state, s.leader_state
    if not is_subset(controller.isr, everybody) or controller.version < 0:
        return "the controller's ISR or version is out of range"
    if not is_subset(leader.isr | leader.pending_isr, everybody) or leader.version < 0:
        return "the leader's ISR, pending ISR or version is out of range"
    if leader.pending_version < 0:
        return "the pending version is not a natural number"
    if any(leader.offsets[replica] < 0 for replica in range(1, c.replicas + 1)):
        return "an offset is not a natural number"
    if not are_messages(s.requests, everybody) or not are_messages(s.updates, everybody):
        return "a message's ISR or version is out of range"
    return HOLDS


def are_messages(bag, everybody) -> bool:
    """Do all of these name known replicas and a version?"""
    return all(
        is_subset(bag.items[k].isr, everybody) and bag.items[k].version >= 0
        for k in range(bag.size)
    )


def high_watermark_never_falls(before: State, after: State, c: Constants):
    """What is committed once stays committed. Not in the original."""
    if high_watermark(after) < high_watermark(before):
        return "the high watermark has gone down"
    return HOLDS


# --- Sometimes: states that must be reachable ------------------------------------------------


def a_record_is_committed(s: State, c: Constants):
    """The high watermark rises."""
    return HOLDS if high_watermark(s) > 0 else "nothing is committed"


def the_isr_has_grown(s: State, c: Constants):
    """A version of the ISR has a member that the version before it lacks."""
    for k in range(s.updates.size):
        for j in range(s.updates.size):
            later, earlier = s.updates.items[k], s.updates.items[j]
            if later.version == earlier.version + 1 and not is_subset(later.isr, earlier.isr):
                return HOLDS
    return "the ISR has only shrunk so far"


def a_request_is_stale(s: State, c: Constants):
    """A request can no longer be accepted, because the ISR was written after it was sent."""
    if any(
        s.requests.items[k].version < s.controller_state.version for k in range(s.requests.size)
    ):
        return HOLDS
    return "all requests are based on the present version"


def the_leader_waits_for_more_than_the_isr(s: State, c: Constants):
    """The leader waits for a replica that is not in the ISR, because it might be."""
    if is_subset(s.leader_state.isr | s.leader_state.pending_isr, s.controller_state.isr):
        return "all that the leader waits for are in the ISR"
    return HOLDS
