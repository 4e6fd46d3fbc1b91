"""States of the ISR's two writers that are worth finding, for a learner to pick."""

from kafka_spec.isr_changes.model import Constants, State, high_watermark
from protocol_lab import is_subset, members, size


def the_isr_has_one_member(s: State, c: Constants) -> bool:
    """The ISR has one member."""
    return size(s.controller_state.isr) == 1


def leader_and_controller_disagree(s: State, c: Constants) -> bool:
    """Leader and controller do not have the same ISR."""
    return s.leader_state.isr != s.controller_state.isr


def a_follower_is_ahead_of_the_high_watermark(s: State, c: Constants) -> bool:
    """A follower holds a record that is not committed yet."""
    return any(
        replica != c.leader and s.leader_state.offsets[replica] > high_watermark(s)
        for replica in range(1, c.replicas + 1)
    )


def a_committed_record_is_on_one_replica(s: State, c: Constants) -> bool:
    """A committed record is on the leader only."""
    return high_watermark(s) > 0 and all(
        replica == c.leader or s.leader_state.offsets[replica] < high_watermark(s)
        for replica in range(1, c.replicas + 1)
    )


def an_outsider_holds_the_high_watermark_down(s: State, c: Constants) -> bool:
    """A replica that is not in the controller's ISR keeps the high watermark from rising."""
    return high_watermark(s) < min(
        s.leader_state.offsets[replica] for replica in members(s.controller_state.isr)
    )


def the_leader_does_not_count_a_member(s: State, c: Constants) -> bool:
    """The leader does not wait for a member of the controller's ISR.

    Then the leader could commit without a replica that may be elected: not found with three
    replicas, two records and versions up to 3.
    """
    return not is_subset(s.controller_state.isr, s.leader_state.isr | s.leader_state.pending_isr)
