"""The model of the five truncation variants: one partition, its replicas, and requests to them.

`quorum_state` is the partition's shared record (ZooKeeper's, or a metadata log's): who leads, in
which leader epoch, and who is in the ISR. The controller writes it, with a new leader epoch each
time; so does the leader, which changes the ISR in its own epoch. Both read and write it at once,
and the controller has no state besides: where reasons and pictures speak of the controller's leader
or ISR, they mean this record.

Each change that the controller makes is also sent as a request. Requests stay in the state, and a
replica may pick any of them at any time, if its leader epoch is later than what the replica knows.
So a request may be late, overtaken, or lost (never picked), and a duplicate of it has no effect.

Throughout: `s` is the state and `c` the constants. Replicas count from 1, NONE (0) is nobody;
offsets and leader epochs count from 0. `end_offset` and the high watermark `hw` are one past the
last record in the log, and the last that is known to be committed. `isr`: the replicas in sync, as
the controller (`quorum_state`) or a replica (`replica_state`) knows them. Who acts comes first
among parameters; functions about a pair take the follower, then the leader.

Left out: time, batches, and several partitions; requests between leader and follower, since a step
of one reads the other's state as it is at that moment; what a broker loses when it crashes (one
that is gone looks the same as one that is not heard of for a long time); producers and consumers,
and with them acks and min.insync.replicas; unclean elections; reassignment; retention and
compaction.

Source: KafkaReplication.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from typing import Annotated, NamedTuple

from protocol_lab import *

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model."""

    replicas: Annotated[int, Limits(0, 7, "brokers that hold the partition")] = 3
    log_size: Annotated[int, Limits(0, 32, "records that fit into a log")] = 2
    max_records: Annotated[int, Limits(0, 99, "records written in total")] = 2
    max_leader_epoch: Annotated[int, Limits(0, 39, "the last leader epoch, counted from 0")] = 2


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas", noun="broker")

NO_EPOCH = -1


class Record(Struct):
    """One record: a unique id and the epoch of the leader that wrote it."""

    id: Int8
    epoch: Int8


class Log(Struct):
    """One replica's log: its records have the offsets 0, 1, ..., end_offset - 1."""

    end_offset: Int8
    records: Array(Record, "log_size")


class ReplicaState(Struct):
    """What a replica believes: leader, leader epoch and ISR may all be out of date."""

    hw: Int8  # the high watermark: the first offset that is not known to be committed
    leader_epoch: Int8
    leader: Replica
    isr: NodeSet(Replica)


class QuorumState(Struct):
    """The shared record: who leads, in which epoch, and who is in sync."""

    leader_epoch: Int8
    leader: Replica
    isr: NodeSet(Replica)


class LeaderAndIsrRequest(Struct):
    """What the controller wrote, on its way to the replicas. No two have the same epoch."""

    leader: Replica
    leader_epoch: Int8
    isr: NodeSet(Replica)


class State(Struct):
    """The partition: two counters, the replicas and their logs, the quorum state, the requests."""

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


# --- What a log holds ------------------------------------------------------------------------


def has_offset(log, offset) -> bool:
    """Is there a record at this offset?"""
    return offset < log.end_offset


def has_same_record(log, other, offset) -> bool:
    """Do both logs hold the same record, with the same epoch, at this offset?"""
    return (
        has_offset(log, offset)
        and has_offset(other, offset)
        and log.records[offset] == other.records[offset]
    )


def holds_committed(s, replica, leader) -> bool:
    """Does the replica hold what the leader regards as committed, record by record?"""
    return all(
        has_same_record(s.replica_log[leader], s.replica_log[replica], offset)
        for offset in range(s.replica_state[leader].hw)
    )


# --- What a replica believes -----------------------------------------------------------------


def presumes_leadership(s, replica) -> bool:
    """Does the replica believe that it leads? A deposed leader may still do so (a zombie)."""
    return s.replica_state[replica].leader == replica


def is_following(s, follower, leader) -> bool:
    """Does the follower follow this leader, in whichever epoch? A leader follows itself."""
    return s.replica_state[follower].leader == leader


def is_true_leader(s, replica) -> bool:
    """Is this the leader that the quorum state names, in the same epoch?

    Kafka's leader does not ask. It writes the ISR on condition that ZooKeeper's version of the
    record is the one that it knows (zkVersion). A controller's change makes that write fail.
    """
    return (
        s.quorum_state.leader == replica
        and presumes_leadership(s, replica)
        and s.replica_state[replica].leader_epoch == s.quorum_state.leader_epoch
    )


def is_in_isr(s, follower, leader) -> bool:
    """Does the leader count the follower as in sync?"""
    return follower in s.replica_state[leader].isr


def has_high_watermark_reached_current_epoch(s, leader) -> bool:
    """Has the leader committed everything from before its own epoch?"""
    log, hw = s.replica_log[leader], s.replica_state[leader].hw
    return hw == log.end_offset or (
        has_offset(log, hw) and log.records[hw].epoch == s.replica_state[leader].leader_epoch
    )
