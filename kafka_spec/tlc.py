"""How often TLC counts a step as generated, where the original's guard says "or" (see
`Spec.action`)."""

from kafka_spec.kip_279 import become_follower_truncate_kip_279
from kafka_spec.kip_320 import fenced_leader_shrink_isr, is_following_leader_epoch, is_shorter


def truncations(s, c, follower, request) -> int:
    """The original says "the log is empty, or ...", and both hold if it is empty."""
    return 2 if s.replica_log[follower].end_offset == 0 else 1


def reasons_to_shrink(s, c, leader, follower) -> int:
    """The original says "in another epoch, or lagging", and both may be true."""
    return (
        1 if is_following_leader_epoch(s, follower, leader) else 1 + is_shorter(s, follower, leader)
    )


MULTIPLICITIES = {
    become_follower_truncate_kip_279: truncations,
    fenced_leader_shrink_isr: reasons_to_shrink,
}
