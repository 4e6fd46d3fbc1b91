"""Producers write, followers copy, and what all of the ISR hold is committed."""

from kafka_spec.leader_election.model import (
    Constants,
    Message,
    Producer,
    Replica,
    State,
    common_prefix,
    has_no_leader,
    is_leader,
    is_ready_to_fetch,
    log_of,
    missing,
)
from protocol_lab import (
    TAKEN,
    Range,
    append,
    contains,
    members,
    size,
    truncate,
    with_node,
    without_node,
)


def produce_message(s: State, c: Constants, replica: Replica, producer: Producer):
    """A producer sends to the leader, and waits until the message is committed (acks=all)."""
    if not is_leader(s, replica):
        return "the replica is not the leader"
    if contains(s.inflight_producers, producer):
        return "the producer still waits for its last message to be committed"
    append(log_of(s, replica), Message(leader_epoch=s.zk_state.leader_epoch, producer=producer))
    s.inflight_producers = with_node(s.inflight_producers, producer)
    return TAKEN


def most_entries(s, replica) -> int:
    """How many messages a fetch can bring; at least 1, so that there is a step to refuse."""
    return max(1, missing(s, replica))


def replicate(s: State, c: Constants, replica: Replica, entries: Range(1, most_entries)):
    """A follower copies the leader's next messages, which may complete what the ISR must hold."""
    if has_no_leader(s):
        return "there is no leader to fetch from"
    if is_leader(s, replica):
        return "the replica is the leader"
    if not is_ready_to_fetch(s, replica):
        return "the replica has not become a follower of this leader yet"
    if missing(s, replica) <= 0:
        return "the replica's log is at least as long as the leader's"
    for _ in range(entries):
        mine, theirs = log_of(s, replica), log_of(s, s.zk_state.leader)
        append(mine, theirs.items[mine.length])
    commit(s, c)
    return TAKEN


def commit(s, c) -> None:
    """Commit what all members of the ISR hold, and answer the producers of what is new.

    Only if the ISR has at least min_isr members. What was committed before is replaced.
    """
    if size(s.zk_state.isrs) < c.min_isr:
        return
    log, known = log_of(s, s.zk_state.leader), s.committed_messages.length
    held = min(common_prefix(log, log_of(s, member)) for member in members(s.zk_state.isrs))
    truncate(s.committed_messages, 0)
    for position in range(held):
        append(s.committed_messages, log.items[position])
        if position >= known:
            producer = log.items[position].producer
            s.inflight_producers = without_node(s.inflight_producers, producer)
