"""Log entries, and the messages between servers. Each kind of message is a set (see `network`)."""

from kraft_spec.model.names import Command, Epoch, Error, Offset, Result, Server, Value
from protocol_lab import Bag, Bool, Int8, NodeSet, Struct


class Entry(Struct):
    """One entry of a log. Configuration commands carry the whole new configuration."""

    command: Command
    epoch: Epoch
    value: Value  # of an append_command
    id: Int8  # this and the rest: of a configuration command
    server: Server  # who is added or removed
    members: NodeSet(Server)


# --- Elections ---------------------------------------------------------------------------------


class RequestVoteRequest(Struct):
    """A candidate asks for a vote, and says where its log ends."""

    source: Server
    dest: Server
    epoch: Epoch
    last_log_epoch: Epoch
    last_log_offset: Offset


class RequestVoteResponse(Struct):
    """The vote, or its refusal, with the leader that the voter knows."""

    source: Server
    dest: Server
    epoch: Epoch
    leader: Server
    vote_granted: Bool
    error: Error


class BeginQuorumEpochRequest(Struct):
    """A new leader announces itself. The response, which Kafka needs for resending, is left out."""

    source: Server
    dest: Server
    epoch: Epoch


# --- Fetches -----------------------------------------------------------------------------------


class FetchRequest(Struct):
    """A follower or observer asks for the entry that follows the last one of its log."""

    source: Server
    dest: Server
    epoch: Epoch
    fetch_offset: Offset
    last_fetched_epoch: Epoch
    observer: Bool


class Correlation(Struct):
    """The request that a fetch response answers; source and dest are the response's, reversed."""

    epoch: Epoch
    fetch_offset: Offset
    last_fetched_epoch: Epoch
    observer: Bool


class FetchResponse(Struct):
    """One entry or none (ok), where the two logs diverge (diverging), or an error (not_ok)."""

    source: Server
    dest: Server
    epoch: Epoch
    leader: Server
    result: Result
    error: Error
    hwm: Offset
    entry: Entry  # if ok; command nil if there is none
    diverging_epoch: Epoch
    diverging_end_offset: Offset  # exclusive
    correlation: Correlation


class Messages(Struct):
    """Messages of all kinds, each kind as a set."""

    vote_requests: Bag(RequestVoteRequest, "vote_slots")
    vote_responses: Bag(RequestVoteResponse, "vote_slots")
    begin_quorum_requests: Bag(BeginQuorumEpochRequest, "vote_slots")
    fetch_requests: Bag(FetchRequest, "fetch_slots")
    fetch_responses: Bag(FetchResponse, "fetch_slots")
