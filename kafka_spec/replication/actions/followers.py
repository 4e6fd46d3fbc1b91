"""Effects that followers' actions share: becoming a follower, truncating, copying."""

from kafka_spec.bounded_log import cut_off, has_same_record, write_next
from kafka_spec.replication.actions.requests import adopt


def become_follower_and_truncate_to(s, follower, request, end_offset) -> None:
    """Believe the request and cut the log off at an offset, whose choice KIP-101 and KIP-279
    changed."""
    adopt(s, follower, request)
    truncate_to(s, follower, end_offset)


def truncate_to(s, follower, end_offset) -> None:
    """Cut the follower's log off; its high watermark is then at most the log's end."""
    cut_off(s.replica_log[follower], end_offset)
    s.replica_state[follower].hw = min(s.replica_state[follower].hw, end_offset)


def first_non_matching_offset_from_tail(s, leader, follower) -> int:
    """One past the last offset at which both logs hold the same record; 0 if there is none."""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    offset = min(mine.end_offset, theirs.end_offset)
    while offset > 0 and not has_same_record(mine, theirs, offset - 1):
        offset -= 1
    return offset


def copy_next_record(s, follower, leader) -> None:
    """Append the leader's record at the follower's end, and learn the high watermark.

    The follower's high watermark is set, not raised: it may go down.
    """
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    write_next(mine, theirs.records[mine.end_offset])
    s.replica_state[follower].hw = min(s.replica_state[leader].hw, mine.end_offset)
