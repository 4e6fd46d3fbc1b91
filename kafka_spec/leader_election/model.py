"""The model of the talk: one partition, its replicas, ZooKeeper, and what producers were promised.

A new leader is known at once to everybody who reads `zk_state`; only followers lag, since each must
become a follower of the new leader before it fetches. The replica list has the replicas in the
order of their numbers, and keeps it: as in the original, `preferred_leader` is a field of its own
(in Kafka it is the first of the list), so that moving the preference does not reorder the list.
"""

from typing import Annotated, NamedTuple

from protocol_lab import (
    NONE,
    TAKEN,
    Bool,
    Configuration,
    Int8,
    Limits,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
    append,
    choice,
    contains,
    flag,
    nodes_up_to,
    storage,
)

# --- Constants -------------------------------------------------------------------------------

LATEST_OFFSET, FIRST_ALIVE, ELIGIBLE_LEADER_REPLICAS = 0, 1, 2


class Constants(NamedTuple):
    """The size of the model, what is configured, and how far to look."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition", classes=(3, 7))] = 3
    unstable_replica: Annotated[int, Limits(1, "replicas", "the one that leads first and dies")] = 1
    min_isr: Annotated[
        int, Limits(0, 99, "members that the ISR needs to commit (min.insync.replicas)")
    ] = 2
    producers: Annotated[
        int, Limits(0, 7, "producers, each with one message in flight at most", classes=(7,))
    ] = 2
    election_rule: Annotated[
        int,
        choice(
            "latest_offset",
            "first_alive",
            "eligible_leader_replicas",
            meaning="who is elected when nobody of the ISR is alive",
        ),
    ] = LATEST_OFFSET
    first_record_committed: Annotated[
        int, flag("start with one committed message, as the original does, or with empty logs")
    ] = 1
    max_leader_epoch: Annotated[
        int, Limits(0, 99, "constraint: look no further in later epochs", may_be_none=True)
    ] = 3
    max_log_length: Annotated[
        int, Limits(0, 59, "constraint: look no further with longer logs", may_be_none=True)
    ] = 3
    log_slots: Annotated[int, storage(1, 60, "messages that fit into a log", classes=(12, 60))] = 12


CONFIGURATIONS = (
    Configuration(
        "default",
        "few elections and short logs: enough for the loss of the talk",
        "violated in 16 states, after 137,780 distinct states",
    ),
    Configuration(
        "shipped",
        "no bounds, as in UncleanLeaderElectionSafety.cfg, which comes with the original",
        "violated in 16 states, after 1,588,512 distinct states",
        {"max_leader_epoch": None, "max_log_length": None},
    ),
)


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas")
Producer = Node("producers")
LeaderEpoch = Int8.bounded_by("max_leader_epoch")


class Message(Struct):
    """What a producer wrote; its offset is its position in the log."""

    leader_epoch: LeaderEpoch
    producer: Int8


class ZkState(Struct):
    """What ZooKeeper holds (in KRaft, the controller); everybody knows it at once."""

    leader_epoch: LeaderEpoch
    leader: Replica
    isrs: NodeSet(Replica)
    alive_replicas: NodeSet(Replica)
    preferred_leader: Replica
    eligible: NodeSet(Replica)  # empty, except with eligible_leader_replicas


class ReplicaState(Struct):
    """A replica's log, and two flags."""

    local_log: Seq(Message, "log_slots")
    is_shutdown: Bool  # it has died once; it may be back
    ready_to_fetch: Bool  # it has become a follower of the current leader


class State(Struct):
    """The partition, and what was promised: the messages that producers know to be committed."""

    committed_messages: Seq(Message, "log_slots")
    zk_state: ZkState
    replica_states: Per(Replica, ReplicaState)
    inflight_producers: NodeSet(Producer)


def init(s: State, c: Constants):
    """The unstable replica leads, everybody is alive and in sync, and one message is committed."""
    if c.first_record_committed:
        first = Message(leader_epoch=1, producer=1)
        append(s.committed_messages, first)
        for replica in range(1, c.replicas + 1):
            append(s.replica_states[replica].local_log, first)
    s.zk_state.leader_epoch = 1
    s.zk_state.leader = c.unstable_replica
    s.zk_state.isrs = nodes_up_to(c.replicas)
    s.zk_state.alive_replicas = nodes_up_to(c.replicas)
    s.zk_state.preferred_leader = c.unstable_replica
    for replica in range(1, c.replicas + 1):
        s.replica_states[replica].ready_to_fetch = replica != c.unstable_replica
    return TAKEN


# --- Reads -----------------------------------------------------------------------------------


def log_of(s, replica):
    """The replica's log; the log of NONE is empty."""
    return s.replica_states[replica].local_log


def leo(s, replica) -> int:
    """The log end offset, as the original counts it: how many messages the log holds.

    That of nobody (NONE) is 0.
    """
    return 0 if replica == NONE else s.replica_states[replica].local_log.length


def has_no_leader(s) -> bool:
    """Is the partition offline?"""
    return s.zk_state.leader == NONE


def is_leader(s, replica) -> bool:
    """Does the replica lead?"""
    return s.zk_state.leader == replica


def is_in_isr(s, replica) -> bool:
    """Is the replica in sync, as far as ZooKeeper knows?"""
    return contains(s.zk_state.isrs, replica)


def is_alive(s, replica) -> bool:
    """Is the replica's broker connected?"""
    return contains(s.zk_state.alive_replicas, replica)


def is_isr_dead(s) -> bool:
    """Is no member of the ISR alive?"""
    return s.zk_state.alive_replicas & s.zk_state.isrs == 0


def is_shut_down(s, replica) -> bool:
    """Has the replica died already?"""
    return bool(s.replica_states[replica].is_shutdown)


def is_ready_to_fetch(s, replica) -> bool:
    """Has the replica become a follower of the current leader?"""
    return bool(s.replica_states[replica].ready_to_fetch)


def missing(s, replica) -> int:
    """How many messages the leader has that the replica lacks."""
    return leo(s, s.zk_state.leader) - leo(s, replica)


def common_prefix(log, other) -> int:
    """How many messages from the start on are the same in both logs."""
    length = 0
    while length < min(log.length, other.length) and log.items[length] == other.items[length]:
        length += 1
    return length
