"""The model of the ISR's two writers: the leader's state, the controller's, and their messages."""

from typing import Annotated, NamedTuple

from protocol_lab import (
    TAKEN,
    Bag,
    Configuration,
    Int8,
    Limits,
    Member,
    Node,
    NodeSet,
    Per,
    Struct,
    members,
    nodes_up_to,
    storage,
    without_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and how far to look."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition", classes=(3, 7))] = 3
    leader: Annotated[int, Limits(1, "replicas", "the replica that leads")] = 1
    max_offset: Annotated[int, Limits(1, 99, "unused, as in the original")] = 2
    max_leader_offset: Annotated[
        int, Limits(0, 99, "constraint: look no further with longer logs", may_be_none=True)
    ] = 2
    max_version: Annotated[
        int, Limits(0, 99, "constraint: look no further in later ISR versions", may_be_none=True)
    ] = 3
    message_slots: Annotated[
        int, storage(1, 120, "requests, and updates, ever sent", classes=(12, 48, 120))
    ] = 12


CONFIGURATIONS = (
    Configuration(
        "default", "three replicas, two records, four ISR versions", "22,456 distinct states"
    ),
)


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas")
Version = Int8.bounded_by("max_version")
Offset = Int8.bounded_by("max_leader_offset")

NO_VERSION = -1


class ControllerState(Struct):
    """The ISR as it is, and how often it was written."""

    isr: NodeSet(Replica)
    version: Version


class LeaderState(Struct):
    """The ISR that the leader knows, the one it has asked for, and every log's end offset."""

    isr: NodeSet(Replica)
    version: Version
    pending_isr: NodeSet(Replica)
    pending_version: Version
    offsets: Per(Replica, Offset)


class Message(Struct):
    """A request with the version it is based on, or an update with the version it announces."""

    isr: NodeSet(Replica)
    version: Version


class State(Struct):
    """Controller, leader, and the messages between them, which stay: they may be late or lost."""

    controller_state: ControllerState
    leader_state: LeaderState
    requests: Bag(Message, "message_slots")
    updates: Bag(Message, "message_slots")


Request = Member("requests")
Update = Member("updates")


def init(s: State, c: Constants):
    """All logs are empty, and every replica is in the ISR."""
    s.controller_state.isr = nodes_up_to(c.replicas)
    s.leader_state.isr = nodes_up_to(c.replicas)
    s.leader_state.pending_version = NO_VERSION
    return TAKEN


# --- Reads -----------------------------------------------------------------------------------


def high_watermark(s) -> int:
    """The smallest end offset of all that may be in the ISR; what is below it is committed."""
    potential = s.leader_state.isr | s.leader_state.pending_isr
    return min(s.leader_state.offsets[replica] for replica in members(potential))


def has_reached_high_watermark(s, replica) -> bool:
    """Does the replica hold all that is committed?"""
    return s.leader_state.offsets[replica] >= high_watermark(s)


def followers(c) -> int:
    """All replicas but the leader: the ones that symmetry reduction may permute."""
    return without_node(nodes_up_to(c.replicas), c.leader)
