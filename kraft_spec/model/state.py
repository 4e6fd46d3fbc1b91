"""The state: servers with their logs, the network between them, and what clients were told.

A server that was never started has zeros everywhere.

With three servers and the default storage a state takes 936 bytes: 734 for the messages, half of
them in flight and half processed, 111 for the logs, 24 for the fetches that servers wait for, and
67 for everything else. `python -m benchmarks.kraft` prints all fields.
"""

from kraft_spec.extensions.added_messages import EndQuorumEpochRequest, MembershipRequests
from kraft_spec.model.constants import Constants
from kraft_spec.model.messages import Entry, FetchRequest, Messages
from kraft_spec.model.names import (
    DEAD_NO_STATE,
    FOLLOWER,
    INIT_CLUSTER_COMMAND,
    LEADER,
    VOTER,
    Epoch,
    Error,
    Host,
    Offset,
    Pair,
    Role,
    Server,
    ServerState,
    Value,
)
from protocol_lab import (
    NONE,
    TAKEN,
    Bag,
    Bool,
    Int8,
    NodeSet,
    Per,
    Seq,
    Struct,
    Where,
    append,
    nodes_up_to,
)

# --- What a server has -------------------------------------------------------------------------


class Identity(Struct):
    """The host that a server runs on, and its disk: every disk has a number of its own."""

    host: Host  # NONE: never started
    disk_id: Int8


class Configuration(Struct):
    """The voters, as a server believes: the last configuration command of its log."""

    id: Int8
    members: NodeSet(Server)
    committed: Bool


class FetchResult(Struct):
    """Who sent the last fetch response, and its error."""

    peer: Server
    error: Error


class FetchState(Struct):
    """What a server remembers of its fetching: the pending request, and the last response."""

    pending_fetch: FetchRequest  # source NONE: none is pending
    last_fetch_res: FetchResult  # peer NONE: there was none


# --- The variables -----------------------------------------------------------------------------


class Counters(Struct):
    """How often each limited event has happened."""

    crash_ctr: Int8
    restart_ctr: Int8
    add_reconfig_ctr: Int8
    remove_reconfig_ctr: Int8
    empty_restart_ctr: Where("max_empty_restarts", Int8)  # of an extension


class State(Struct):
    """All variables, under the original's names; the last two are those of extensions."""

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

    # What clients have sent, and what they were told.
    inv_sent: NodeSet(Value)
    inv_pos_acked: NodeSet(Value)
    inv_neg_acked: NodeSet(Value)

    aux_ctrs: Counters
    aux_disk_id_gen: Int8

    net_connectivity_ctr: Int8
    net_connectivity: NodeSet(Pair)  # the links that work
    net_messages: Messages  # in flight
    net_messages_processed: Messages  # delivered or lost

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


# --- Small reads of it -------------------------------------------------------------------------


def has_started(s, server) -> bool:
    """Was the server ever started? It may have lost its disk since."""
    return s.server_ids[server].host != NONE


def is_alive(s, server) -> bool:
    """Has the server been started, and not lost its disk?"""
    return s.server_ids[server].host != NONE and s.state[server] != DEAD_NO_STATE


def is_member(s, server, of) -> bool:
    """Does `of` believe that the server is a member of the present configuration?"""
    return (s.config[of].members >> server) & 1 == 1


def is_current_leader(s, c, server) -> bool:
    """Does the server lead, and is no server in a later epoch?"""
    return s.state[server] == LEADER and all(
        s.current_epoch[other] <= s.current_epoch[server]
        for other in range(1, c.max_spawned_servers + 1)
    )
