"""The state of KRaft: servers with their logs, the network between them, and what clients know.

Servers count from 1 and are never used again: a server that lost its disk comes back, if it does,
as another server. In the field of a server NONE (0) stands for nobody. Offsets count from 1, as
in the original; the pictures and Kafka count from 0.

A server that was never started has zeros everywhere.

With three servers and the default storage a state takes 1,000 bytes: 734 for the messages, half of
them under way and half processed, 148 for the logs, 32 for the fetches that servers wait for, and
86 for everything else. `python -m benchmarks.kraft` prints all fields.
"""

from kraft_spec.constants import Constants
from protocol_lab import (
    NONE,
    TAKEN,
    Bag,
    Bool,
    Int8,
    Named,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
    Where,
    append,
    nodes_up_to,
)

# --- Names -----------------------------------------------------------------------------------

VOTER, OBSERVER = 1, 2
Role = Named(("nil", "voter", "observer"))

UNATTACHED, FOLLOWER, CANDIDATE, LEADER, VOTED, RESIGNED, DEAD_NO_STATE, ILLEGAL_STATE = range(1, 9)
ServerState = Named(
    (
        "nil",
        "unattached",
        "follower",
        "candidate",
        "leader",
        "voted",
        "resigned",
        "dead_no_state",
        "illegal_state",
    )
)

APPEND_COMMAND, INIT_CLUSTER_COMMAND, ADD_VOTER_COMMAND = 1, 2, 3
REMOVE_VOTER_COMMAND, LEADER_CHANGE_RECORD = 4, 5
Command = Named(
    (
        "nil",
        "append_command",
        "init_cluster_command",
        "add_voter_command",
        "remove_voter_command",
        "leader_change_record",
    )
)

OK, NOT_OK, DIVERGING = 1, 2, 3
Result = Named(("nil", "ok", "not_ok", "diverging"))

NO_ERROR, FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER, UNKNOWN_MEMBER = range(5)
ALREADY_MEMBER, RECONFIG_IN_PROGRESS, LEADER_NOT_READY = range(5, 8)
Error = Named(
    (
        "nil",
        "fenced_leader_epoch",
        "not_leader",
        "unknown_leader",
        "unknown_member",
        "already_member",
        "reconfig_in_progress",
        "leader_not_ready",
    )
)

Server = Node("max_spawned_servers", noun="server")
Pair = Node("max_spawned_servers * (max_spawned_servers - 1) // 2")  # see `network.pair`
Host = Node("hosts")
Value = Node("value")
Epoch = Int8.bounded_by("max_epoch")
Offset = Int8.bounded_by("log_slots")


# --- Servers ---------------------------------------------------------------------------------


class Identity(Struct):
    """Which host a server runs on, and which of the disks that were ever made it has."""

    host: Host  # NONE: never started
    disk_id: Int8


class Configuration(Struct):
    """Who votes, as a server believes: the last configuration command of its log."""

    id: Int8
    members: NodeSet(Server)
    committed: Bool


class Entry(Struct):
    """One entry of a log. Configuration commands carry the whole new configuration."""

    command: Command
    epoch: Epoch
    value: Value  # of an append_command
    id: Int8  # of the configuration; the rest is of configuration commands as well
    server: Server  # who is added or removed
    members: NodeSet(Server)


# --- Messages --------------------------------------------------------------------------------


class RequestVoteRequest(Struct):
    """A candidate asks for a vote, and says how far its log goes."""

    source: Server
    dest: Server
    epoch: Epoch
    last_log_epoch: Epoch
    last_log_offset: Offset


class RequestVoteResponse(Struct):
    """The answer, with the leader if the voter knows one."""

    source: Server
    dest: Server
    epoch: Epoch
    leader: Server
    vote_granted: Bool
    error: Error


class BeginQuorumEpochRequest(Struct):
    """A new leader says so. There is no answer; Kafka's serves only to repeat it."""

    source: Server
    dest: Server
    epoch: Epoch


class FetchRequest(Struct):
    """A follower or observer asks for what follows its log's last entry."""

    source: Server
    dest: Server
    epoch: Epoch
    fetch_offset: Offset
    last_fetched_epoch: Epoch
    observer: Bool


class Correlation(Struct):
    """The request that a fetch response answers: what is not told by the response's two ends."""

    epoch: Epoch
    fetch_offset: Offset
    last_fetched_epoch: Epoch
    observer: Bool


class FetchResponse(Struct):
    """One entry or none (ok), where the logs part (diverging), or an error (not_ok)."""

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


class EndQuorumEpochRequest(Struct):
    """A leader that has resigned says so (see `resignation`)."""

    source: Server
    dest: Server
    epoch: Epoch


class JoinRequest(Struct):
    """An observer, whose number is its identity, asks to be made a voter."""

    source: Server
    dest: Server


class JoinResponse(Struct):
    """The answer at once: accepted, or why not; and who leads, as far as the answerer knows."""

    source: Server
    dest: Server
    epoch: Epoch
    leader: Server
    error: Error


class RemoveRequest(Struct):
    """An administrator asks a server to have a voter removed."""

    dest: Server
    remove_server: Server


class RemoveResponse(Struct):
    """The answer to the administrator."""

    source: Server
    remove_server: Server
    leader: Server
    error: Error


class MembershipRequests(Struct):
    """What is under way about joining and removing, and whose answer a joining server waits for."""

    join_requests: Bag(JoinRequest, "request_slots")
    join_responses: Bag(JoinResponse, "request_slots")
    remove_requests: Bag(RemoveRequest, "request_slots")
    remove_responses: Bag(RemoveResponse, "request_slots")
    asked: Per(Server, Server)  # NONE: the server does not wait for an answer


class Messages(Struct):
    """Messages of all kinds, each kind as a set."""

    vote_requests: Bag(RequestVoteRequest, "vote_slots")
    vote_responses: Bag(RequestVoteResponse, "vote_slots")
    begin_quorum_requests: Bag(BeginQuorumEpochRequest, "vote_slots")
    fetch_requests: Bag(FetchRequest, "fetch_slots")
    fetch_responses: Bag(FetchResponse, "fetch_slots")


# --- The state -------------------------------------------------------------------------------


class FetchResult(Struct):
    """Whom the last answer to a fetch came from, and what was wrong."""

    peer: Server
    error: Error


class FetchState(Struct):
    """What a server remembers of its fetching: the request under way, and the last answer."""

    pending_fetch: FetchRequest  # source NONE: none is under way
    last_fetch_res: FetchResult  # peer NONE: there was none


class Counters(Struct):
    """How often what is limited has happened."""

    crash_ctr: Int8
    restart_ctr: Int8
    add_reconfig_ctr: Int8
    remove_reconfig_ctr: Int8
    empty_restart_ctr: Where("max_empty_restarts", Int8)


class State(Struct):
    """Everything; the fields are the original's variables, and last those of additions."""

    server_ids: Per(Server, Identity)

    # On disk: role, state, current_epoch, leader, voted_for, log, config.
    role: Per(Server, Role)
    state: Per(Server, ServerState)
    current_epoch: Per(Server, Epoch)
    voted_for: Per(Server, Server)
    leader: Per(Server, Server)
    config: Per(Server, Configuration)
    log: Per(Server, Seq(Entry, "log_slots"))

    # In memory.
    hwm: Per(Server, Offset)  # inclusive; 0 if nothing is known to be committed
    votes_recv: Per(Server, NodeSet(Server))
    fetch_state: Per(Server, FetchState)
    pending_ack: Per(Server, NodeSet(Value))
    flwr_end_offset: Per(Server, Per(Server, Offset))
    tracked: Per(Server, NodeSet(Server))  # whose end offsets are kept: the map's domain

    # What clients have asked for, and what they were told.
    inv_sent: NodeSet(Value)
    inv_pos_acked: NodeSet(Value)
    inv_neg_acked: NodeSet(Value)

    aux_ctrs: Counters
    aux_disk_id_gen: Int8

    net_connectivity_ctr: Int8
    net_connectivity: NodeSet(Pair)  # the links that work
    net_messages: Messages
    net_messages_processed: Messages

    membership: Where("membership_requests", MembershipRequests)
    end_quorum_requests: Where("end_quorum_epoch", Bag(EndQuorumEpochRequest, "vote_slots"))


def init(s: State, c: Constants):
    """Server 1 leads in epoch 1, all others follow, and all have committed the configuration."""
    servers = nodes_up_to(c.init_cluster_size)
    for server in range(1, c.init_cluster_size + 1):
        s.server_ids[server].host = server
        s.role[server] = VOTER
        s.state[server] = LEADER if server == 1 else FOLLOWER
        s.current_epoch[server] = 1
        s.leader[server] = 1
        s.config[server].id = 1
        s.config[server].members = servers
        s.config[server].committed = True
        first = Entry(command=INIT_CLUSTER_COMMAND, epoch=1, id=1, members=servers)
        append(s.log[server], first)
        s.hwm[server] = 1
        s.tracked[server] = servers
        for member in range(1, c.init_cluster_size + 1):
            s.flwr_end_offset[server][member] = 1
    s.net_connectivity = nodes_up_to(c.max_spawned_servers * (c.max_spawned_servers - 1) // 2)
    return TAKEN


def has_started(s, server) -> bool:
    """Was the server ever started? It may be dead since."""
    return s.server_ids[server].host != NONE


def is_alive(s, server) -> bool:
    """Has the server been started, and not lost its disk?"""
    return s.server_ids[server].host != NONE and s.state[server] != DEAD_NO_STATE


def is_member(s, server, of) -> bool:
    """Does `of` believe that the server is a member of the present configuration?"""
    return (s.config[of].members >> server) & 1 == 1
