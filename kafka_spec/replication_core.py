"""What the five truncation variants share: one partition, its replicas and its controller.

The controller decides who leads and who is in the ISR. It writes each decision into its own record
(`quorum_state`, ZooKeeper's copy) and sends it as a request with a new leader epoch; a replica
learns of it by picking one of the requests, in any order, and never goes back to a lower epoch.
Leaders append records and raise the high watermark; followers copy.

The variants differ in what a follower does with its log when it meets a new leader, and in what
is fenced by the leader epoch; each has its own module beside this one.

Left out: time, batches, several partitions, crashes (a replica that is not heard of for a long
time looks the same), and the loss of requests (they stay, and may be picked late or never).

Source: KafkaReplication in the Kafka replication specs.
"""

from typing import Annotated, NamedTuple

from kafka_spec.replicated_log import Log, Record, append, has_offset, has_same_record
from protocol_lab import (
    HOLDS,
    NONE,
    TAKEN,
    Int8,
    Limits,
    Member,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
    contains,
    members,
    nodes_up_to,
    only,
    with_node,
    without_node,
)
from protocol_lab import append as append_to


class Constants(NamedTuple):
    """The size of the model."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition", classes=(3, 7))] = 3
    log_size: Annotated[int, Limits(1, 32, "records that fit into a log", classes=(2, 4, 8, 32))] = 2
    max_records: Annotated[int, Limits(0, 99, "records written in total")] = 2
    max_leader_epoch: Annotated[
        int, Limits(0, 39, "the last leader epoch, counted from 0", classes=(2, 4, 9, 39))
    ] = 1


Replica = Node("replicas")


class ReplicaState(Struct):
    """What a replica believes: leader, leader epoch and ISR may all be out of date."""

    hw: Int8  # the high watermark: the first offset that is not known to be committed
    leader_epoch: Int8
    leader: Replica
    isr: NodeSet(Replica)


class QuorumState(Struct):
    """What the controller has decided last."""

    leader_epoch: Int8
    leader: Replica
    isr: NodeSet(Replica)


class LeaderAndIsrRequest(Struct):
    """A decision on its way to the replicas; each has an epoch of its own."""

    leader: Replica
    leader_epoch: Int8
    isr: NodeSet(Replica)


class State(Struct):
    """The partition: controller, requests, replicas and their logs."""

    next_record_id: Int8
    next_leader_epoch: Int8
    replica_log: Per(Replica, Log)
    replica_state: Per(Replica, ReplicaState)
    quorum_state: QuorumState
    leader_and_isr_requests: Seq(LeaderAndIsrRequest, "max_leader_epoch + 1")


Request = Member("leader_and_isr_requests")

NO_EPOCH = -1


# --- The initial state -----------------------------------------------------------------------


def init(s: State, c: Constants):
    """All logs are empty, every replica is in the ISR, and nobody leads."""
    for replica in range(1, c.replicas + 1):
        s.replica_state[replica].leader_epoch = NO_EPOCH
    s.quorum_state.leader_epoch = NO_EPOCH
    s.quorum_state.isr = nodes_up_to(c.replicas)
    return TAKEN


# --- What the guards ask ---------------------------------------------------------------------


def presumes_leadership(s, replica) -> bool:
    """Does the replica believe that it leads? A deposed leader may still do so (a zombie)."""
    return s.replica_state[replica].leader == replica


def is_following(s, follower, leader) -> bool:
    """Does the follower follow this leader, in whichever epoch? A leader follows itself."""
    return s.replica_state[follower].leader == leader


def is_true_leader(s, replica) -> bool:
    """Is this the leader that the controller knows, in the same epoch?"""
    return (
        s.quorum_state.leader == replica
        and presumes_leadership(s, replica)
        and s.replica_state[replica].leader_epoch == s.quorum_state.leader_epoch
    )


# --- The controller --------------------------------------------------------------------------


def publish(s, leader, isr) -> None:
    """Decide: take the next epoch, write it down, and send it."""
    epoch = s.next_leader_epoch
    s.next_leader_epoch += 1
    s.quorum_state.leader_epoch = epoch
    s.quorum_state.leader = leader
    s.quorum_state.isr = isr
    append_to(
        s.leader_and_isr_requests,
        LeaderAndIsrRequest(leader=leader, leader_epoch=epoch, isr=isr),
    )


def controller_elect_leader(s: State, c: Constants, new_leader: Replica):
    """The controller makes a member of the ISR the leader."""
    if s.next_leader_epoch > c.max_leader_epoch:
        return "the last leader epoch is used up"
    if not contains(s.quorum_state.isr, new_leader):
        return "the replica is not in the ISR"
    if s.quorum_state.leader == new_leader:
        return "the replica leads already"
    publish(s, new_leader, s.quorum_state.isr)
    return TAKEN


def controller_shrink_isr(s: State, c: Constants, replica: Replica):
    """The controller notices that a broker is gone: it no longer leads, and leaves the ISR.

    The last member of the ISR stays in it while it leads, so that it can come back. With no leader
    the ISR can be emptied, replica by replica; then nobody can be elected any more.
    """
    if s.next_leader_epoch > c.max_leader_epoch:
        return "the last leader epoch is used up"
    if s.quorum_state.leader != replica and not contains(s.quorum_state.isr, replica):
        return "the replica is neither the leader nor in the ISR"
    leader, isr = s.quorum_state.leader, s.quorum_state.isr
    if leader != replica:
        publish(s, leader, without_node(isr, replica))
    elif isr == only(replica):
        publish(s, NONE, isr)
    else:
        publish(s, NONE, without_node(isr, replica))
    return TAKEN


# --- Leaders ---------------------------------------------------------------------------------


def become_leader(s: State, c: Constants, request: Request):
    """A replica picks a request that makes it the leader; its log stays as it is."""
    leader = request.leader
    if leader == NONE:
        return "the request names no leader"
    if request.leader_epoch <= s.replica_state[leader].leader_epoch:
        return "the replica knows this epoch or a later one"
    s.replica_state[leader].leader_epoch = request.leader_epoch
    s.replica_state[leader].leader = leader
    s.replica_state[leader].isr = request.isr
    return TAKEN


def leader_write(s: State, c: Constants, replica: Replica):
    """A leader, or a replica that still believes to be one, appends a new record."""
    if not presumes_leadership(s, replica):
        return "the replica does not believe that it leads"
    if s.next_record_id >= c.max_records:
        return "all records are written"
    if s.replica_log[replica].end_offset >= c.log_size:
        return "the log is full"
    append(
        s.replica_log[replica],
        Record(id=s.next_record_id, epoch=s.replica_state[replica].leader_epoch),
    )
    s.next_record_id += 1
    return TAKEN


def update_isr(s, leader, isr) -> None:
    """The true leader changes the ISR: at once in both places, with no new epoch or request."""
    s.quorum_state.isr = isr
    s.replica_state[leader].isr = isr


def high_watermark_reached_epoch(s, leader) -> bool:
    """Has the leader committed everything from before its epoch?"""
    log, hw = s.replica_log[leader], s.replica_state[leader].hw
    return hw == log.end_offset or (
        has_offset(log, hw) and log.records[hw].epoch == s.replica_state[leader].leader_epoch
    )


# --- Followers -------------------------------------------------------------------------------


def follow(s, follower, request) -> None:
    """Adopt a request's leader, epoch and ISR."""
    mine = s.replica_state[follower]
    mine.leader_epoch = request.leader_epoch
    mine.leader = request.leader
    mine.isr = request.isr


def copy_next_record(s, follower, leader) -> None:
    """Append the leader's record at the follower's end, and learn the high watermark.

    The follower's high watermark is set, not raised: it may go down.
    """
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    append(mine, theirs.records[mine.end_offset])
    s.replica_state[follower].hw = min(s.replica_state[leader].hw, mine.end_offset)


def end_of_common_prefix(s, follower, leader) -> int:
    """KIP-279: one past the last offset at which both logs hold the same record; 0 if none."""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    offset = min(mine.end_offset, theirs.end_offset)
    while offset > 0 and not has_same_record(mine, theirs, offset - 1):
        offset -= 1
    return offset


# --- Invariants ------------------------------------------------------------------------------


def holds_committed(s, replica, leader) -> bool:
    """Does the replica hold what the leader regards as committed, record by record?"""
    return all(
        has_same_record(s.replica_log[leader], s.replica_log[replica], offset)
        for offset in range(s.replica_state[leader].hw)
    )


def weak_isr(s: State, c: Constants):
    """Whoever a presumed leader counts as in sync has all that the leader calls committed."""
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in members(s.replica_state[leader].isr):
                if not holds_committed(s, replica, leader):
                    return "a replica in a leader's own ISR lacks a committed record"
    return HOLDS


def strong_isr(s: State, c: Constants):
    """Whoever may be elected has all that any presumed leader calls committed."""
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in members(s.quorum_state.isr):
                if not holds_committed(s, replica, leader):
                    return "a replica in the true ISR lacks a committed record"
    return HOLDS


__all__ = ["with_node"]
