"""What the five truncation variants share: one partition, its replicas and its controller.

The controller decides who leads and who is in the ISR. It writes each decision into its own record
(`quorum_state`, ZooKeeper's copy) and sends it as a request with a new leader epoch; a replica
learns of it by picking one of the requests, in any order, and never goes back to a lower epoch.
Leaders append records and raise the high watermark; followers copy.

Truncation is where the variants differ: what a follower does with its log when it meets a leader,
and which of these meetings the leader epoch forbids. Each variant is a module beside this one; its
last block lists all its actions, those from here included, in the order of the original's Next.

Left out: time, batches, several partitions, crashes (a replica that is not heard of for a long
time looks the same), and the loss of requests (they stay, and may be picked late or never).

Source: KafkaReplication in the Kafka replication specs.
"""

from typing import Annotated, NamedTuple

from kafka_spec.finite_replicated_log import (
    cut_off,
    has_offset,
    is_full,
    write_next,
)
from protocol_lab import (
    NONE,
    TAKEN,
    Array,
    Int8,
    Limits,
    Member,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
    append,
    contains,
    members,
    nodes_up_to,
    only,
    with_node,
    without_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model."""

    replicas: Annotated[int, Limits(0, 7, "brokers that hold the partition", classes=(3, 7))] = 3
    log_size: Annotated[int, Limits(0, 32, "records that fit into a log", classes=(3, 8, 32))] = 2
    max_records: Annotated[int, Limits(0, 99, "records written in total")] = 2
    max_leader_epoch: Annotated[
        int, Limits(0, 39, "the last leader epoch, counted from 0", classes=(3, 9, 39))
    ] = 2


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas")

NO_EPOCH = -1


class Record(Struct):
    """One record: a unique id and the epoch of the leader that wrote it."""

    id: Int8
    epoch: Int8


class Log(Struct):
    """One replica's log."""

    end_offset: Int8
    records: Array(Record, "log_size")


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
    """The partition: counters, replicas and their logs, controller, requests."""

    next_record_id: Int8
    next_leader_epoch: Int8
    replica_log: Per(Replica, Log)
    replica_state: Per(Replica, ReplicaState)
    quorum_state: QuorumState
    leader_and_isr_requests: Seq(LeaderAndIsrRequest, "max_leader_epoch + 1")


Request = Member("leader_and_isr_requests")


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


def is_in_isr(s, leader, follower) -> bool:
    """Does the leader count the follower as in sync?"""
    return contains(s.replica_state[leader].isr, follower)


def is_caught_up(s, leader, follower, end_offset) -> bool:
    """Does the follower follow this leader and hold something just below the end offset?

    Offsets only: whether the two records there are the same is not looked at.
    """
    if not is_following(s, follower, leader):
        return False
    return end_offset == 0 or (
        has_offset(s.replica_log[leader], end_offset - 1)
        and has_offset(s.replica_log[follower], end_offset - 1)
    )


def has_high_watermark_reached_current_epoch(s, leader) -> bool:
    """Has the leader committed everything from before its own epoch?"""
    log, hw = s.replica_log[leader], s.replica_state[leader].hw
    return hw == log.end_offset or (
        has_offset(log, hw) and log.records[hw].epoch == s.replica_state[leader].leader_epoch
    )


def is_for_another(request, replica) -> bool:
    """Does the request make somebody else the leader?"""
    return request.leader != NONE and request.leader != replica


def is_news(s, replica, request) -> bool:
    """Is the request of a later epoch than the replica knows?"""
    return request.leader_epoch > s.replica_state[replica].leader_epoch


# --- The controller --------------------------------------------------------------------------


def are_epochs_used_up(s, c) -> bool:
    """Has the controller made all the decisions that the model allows?"""
    return s.next_leader_epoch > c.max_leader_epoch


def publish(s, leader, isr) -> None:
    """Decide: take the next epoch, write the decision down, and send it."""
    epoch = s.next_leader_epoch
    s.next_leader_epoch += 1
    s.quorum_state.leader_epoch = epoch
    s.quorum_state.leader = leader
    s.quorum_state.isr = isr
    append(
        s.leader_and_isr_requests,
        LeaderAndIsrRequest(leader=leader, leader_epoch=epoch, isr=isr),
    )


def controller_elect_leader(s: State, c: Constants, new_leader: Replica):
    """The controller makes a member of the ISR the leader.

    It may do so at any time: because the old leader is gone, or to balance the load.
    """
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if not contains(s.quorum_state.isr, new_leader):
        return "the replica is not in the controller's ISR"
    if s.quorum_state.leader == new_leader:
        return "the controller has this leader already"
    publish(s, new_leader, s.quorum_state.isr)
    return TAKEN


def controller_shrink_isr(s: State, c: Constants, replica: Replica):
    """The controller notices that a broker is gone: it no longer leads, and leaves the ISR.

    The last member of the ISR stays in it while it leads, so that it can come back. With no leader
    the ISR can be emptied, replica by replica; then nobody can be elected any more.
    """
    leader, isr = s.quorum_state.leader, s.quorum_state.isr
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if leader != replica and not contains(isr, replica):
        return "the replica is neither the controller's leader nor in its ISR"
    if leader != replica:
        publish(s, leader, without_node(isr, replica))
    elif isr == only(replica):
        publish(s, NONE, isr)
    else:
        publish(s, NONE, without_node(isr, replica))
    return TAKEN


# --- Leaders ---------------------------------------------------------------------------------


def become_leader(s: State, c: Constants, request: Request):
    """A replica picks a request that makes it the leader; log and high watermark stay."""
    leader = request.leader
    if leader == NONE:
        return "the request names no leader"
    if not is_news(s, leader, request):
        return "the replica knows this epoch or a later one"
    adopt(s, leader, request)
    return TAKEN


def adopt(s, replica, request) -> None:
    """Believe a request: its leader, its epoch and its ISR."""
    mine = s.replica_state[replica]
    mine.leader_epoch = request.leader_epoch
    mine.leader = request.leader
    mine.isr = request.isr


def leader_write(s: State, c: Constants, replica: Replica):
    """A leader, or a replica that still believes to be one, appends a new record."""
    if not presumes_leadership(s, replica):
        return "the replica does not believe that it leads"
    if s.next_record_id >= c.max_records:
        return "all records are written"
    if is_full(s.replica_log[replica], c.log_size):
        return "the log is full"
    record = Record(id=s.next_record_id, epoch=s.replica_state[replica].leader_epoch)
    write_next(s.replica_log[replica], record)
    s.next_record_id += 1
    return TAKEN


def leader_shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader drops a follower that lags, or that follows somebody else."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not is_in_isr(s, leader, follower):
        return "the follower is not in the ISR"
    if is_caught_up(s, leader, follower, s.replica_log[leader].end_offset):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


def leader_expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader adds a follower whose log reaches the high watermark."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, leader, follower):
        return "the follower is in the ISR already"
    if not is_caught_up(s, leader, follower, s.replica_state[leader].hw):
        return "the follower does not follow, or has not reached the high watermark"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def update_isr(s, leader, isr) -> None:
    """The true leader changes the ISR: at once in both places, with no new epoch or request."""
    s.quorum_state.isr = isr
    s.replica_state[leader].isr = isr


def leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """A leader commits the next record once everybody in its own ISR has something there."""
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if hw >= c.log_size:
        return "the log is full and all of it is committed"
    if not all(
        is_following(s, follower, leader) and has_offset(s.replica_log[follower], hw)
        for follower in members(s.replica_state[leader].isr)
    ):
        return "a member of the ISR does not follow, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- Followers -------------------------------------------------------------------------------


def become_follower_and_truncate_to(s, follower, request, end_offset) -> None:
    """Believe the request and cut the log off there: all that the KIPs changed is where."""
    cut_off(s.replica_log[follower], end_offset)
    adopt(s, follower, request)
    s.replica_state[follower].hw = min(s.replica_state[follower].hw, end_offset)


def follower_replicate(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower copies the next record; neither epochs nor what is before it are compared."""
    if not presumes_leadership(s, leader):
        return "the leader does not believe that it leads"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if not has_offset(s.replica_log[leader], s.replica_log[follower].end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN


def copy_next_record(s, follower, leader) -> None:
    """Append the leader's record at the follower's end, and learn the high watermark.

    The follower's high watermark is set, not raised: it may go down.
    """
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    write_next(mine, theirs.records[mine.end_offset])
    s.replica_state[follower].hw = min(s.replica_state[leader].hw, mine.end_offset)
