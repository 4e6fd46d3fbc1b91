"""The model: what a server has, the messages between servers, and the links that carry them.

Servers count from 1, and a number is never used again: a server that lost its disk comes back, if
at all, under another number. NONE (0) in the field of a server stands for nobody. Offsets count
from 1, as in the original, so that the entry at offset k is `log[k - 1]`; the pictures and Kafka
count from 0. A server that was never started has zeros everywhere.

Throughout: `s` is the state and `c` the constants; `server` acts, and comes first among parameters,
then its `peer` or the `message`. `hwm` is the high watermark: the last offset that is known to be
committed, 0 for none. `config` is the last configuration in a server's log, committed or not.
`aux_` and `inv_` mark what only the model counts or checks.

With three servers and the default storage a state takes 936 bytes: 734 for the messages, half of
them in flight and half processed, 111 for the logs, 24 for the fetches that servers wait for, and
67 for everything else. `python -m benchmarks.kraft` prints all fields.
"""

from kraft_spec.constants import Constants
from protocol_lab import *

# --- Names -------------------------------------------------------------------------------------

Server = Node("max_spawned_servers", noun="server")
Pair = Node("max_spawned_servers * (max_spawned_servers - 1) // 2")  # a link, see `pair`
Host = Node("hosts")
Value = Node("value")
Epoch = Int8.bounded_by("max_epoch")
Offset = Int8.bounded_by("log_slots")

Role = Named("nil", "voter", "observer")
ServerState = Named(
    "nil",
    "unattached",
    "follower",
    "candidate",
    "leader",
    "voted",  # not in kip_996
    "resigned",
    "dead_no_state",
    "illegal_state",
    "prospective",  # only in kip_996
)
Command = Named(
    "nil",
    "append_command",
    "init_cluster_command",
    "add_voter_command",
    "remove_voter_command",
    "leader_change_record",
)
Result = Named("nil", "ok", "not_ok", "diverging")
Error = Named(
    "nil",
    "fenced_leader_epoch",
    "not_leader",
    "unknown_leader",
    "unknown_member",
    "already_member",
    "reconfig_in_progress",
    "leader_not_ready",
    "invalid_request",  # only in kip_996
)


class Entry(Struct):
    """One entry of a log. Configuration commands carry the whole new configuration."""

    command: Command
    epoch: Epoch
    value: Value  # of an append_command
    id: Int8  # this and the rest: of a configuration command
    server: Server  # who is added or removed
    members: NodeSet(Server)


# --- Messages: each kind is a set --------------------------------------------------------------


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
    """A new leader announces itself. The response, by which Kafka 3.8 resends, is left out."""

    source: Server
    dest: Server
    epoch: Epoch


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
    """Messages of all kinds."""

    vote_requests: Bag(RequestVoteRequest, "vote_slots")
    vote_responses: Bag(RequestVoteResponse, "vote_slots")
    begin_quorum_requests: Bag(BeginQuorumEpochRequest, "vote_slots")
    fetch_requests: Bag(FetchRequest, "fetch_slots")
    fetch_responses: Bag(FetchResponse, "fetch_slots")


# --- The state ---------------------------------------------------------------------------------


class Identity(Struct):
    """The host that a server runs on, and its disk.

    The disks of the first servers all have number 0. Each later one has a number of its own.
    """

    host: Host  # NONE: never started
    disk_id: Int8


class Config(Struct):
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


class Counters(Struct):
    """How often each limited event has happened."""

    crash_ctr: Int8
    restart_ctr: Int8
    add_reconfig_ctr: Int8
    remove_reconfig_ctr: Int8


class State(Struct):
    """All variables, under the original's names."""

    server_ids: Per(Server, Identity)

    # On disk: role, state, current_epoch, leader, voted_for, log, config.
    role: Per(Server, Role)
    state: Per(Server, ServerState)
    current_epoch: Per(Server, Epoch)
    voted_for: Per(Server, Server)
    leader: Per(Server, Server)
    config: Per(Server, Config)
    log: Per(Server, Seq(Entry, "log_slots"))

    # In memory.
    hwm: Per(Server, Offset)  # inclusive; 0 if nothing is known to be committed
    votes_recv: Per(Server, NodeSet(Server))  # kept by a restart, as in the original
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


def init(s: State, c: Constants):
    """Server 1 leads in epoch 1, all others follow, and all have committed the configuration."""
    servers = nodes_up_to(c.init_cluster_size)
    for server in servers:
        s.server_ids[server].host = server
        s.role[server] = "voter"
        s.state[server] = "leader" if server == 1 else "follower"
        s.current_epoch[server] = 1
        s.leader[server] = 1
        s.config[server].id = 1
        s.config[server].members = servers
        s.config[server].committed = True
        first = Entry(command="init_cluster_command", epoch=1, id=1, members=servers)
        append(s.log[server], first)
        s.hwm[server] = 1
        s.tracked[server] = servers
        for member in servers:
            s.flwr_end_offset[server][member] = 1
    s.net_connectivity = all_pairs(c)
    return TAKEN


# --- What a server is ----------------------------------------------------------------------------


def has_started(s, server) -> bool:
    """Was the server ever started? It may have lost its disk since."""
    return s.server_ids[server].host != NONE


def is_alive(s, server) -> bool:
    """Has the server been started, and not lost its disk?"""
    return s.server_ids[server].host != NONE and s.state[server] != "dead_no_state"


def is_member(s, server, of) -> bool:
    """Does `of` believe that the server is a member of the present configuration?"""
    return server in s.config[of].members


def is_current_leader(s, c, server) -> bool:
    """Does the server lead, and is no server in a later epoch?"""
    return s.state[server] == "leader" and all(
        s.current_epoch[other] <= s.current_epoch[server]
        for other in range(1, c.max_spawned_servers + 1)
    )


def is_majority(voters: NodeSet(Server), of: NodeSet(Server)) -> bool:
    """Are the voters all members, and more than half of them?"""
    return is_subset(voters, of) and 2 * len(voters) > len(of)


# --- Links -------------------------------------------------------------------------------------
# A link is a pair of servers, numbered so that more servers only add numbers: 1 is the link of 1
# and 2, 2 and 3 those of server 3 with 1 and 2, 4 to 6 those of server 4, and so on.


def pair(one, other) -> int:
    """The number of the link between two different servers."""
    low, high = min(one, other), max(one, other)
    return (high - 1) * (high - 2) // 2 + low


def all_pairs(c) -> NodeSet(Pair):
    """All links, including those of servers that are not started yet."""
    return nodes_up_to(c.max_spawned_servers * (c.max_spawned_servers - 1) // 2)


def pairs_of(c, server) -> NodeSet(Pair):
    """The links of one server."""
    links = nodes_up_to(0)
    for other in range(1, c.max_spawned_servers + 1):
        if other != server:
            links = with_node(links, pair(server, other))
    return links


def pairs_of_the_dead(s, c) -> NodeSet(Pair):
    """The links of the servers that have lost their disks: always down."""
    links = nodes_up_to(0)
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "dead_no_state":
            links = links | pairs_of(c, server)
    return links


def down_pairs(s, c) -> NodeSet(Pair):
    """The links that are down."""
    return all_pairs(c) & ~s.net_connectivity


def is_connected(s, one, other) -> bool:
    """Can the two exchange messages?"""
    return one == other or pair(one, other) in s.net_connectivity


# --- The network -------------------------------------------------------------------------------
# Messages are sets: sending one that is in flight already changes nothing. They arrive in any
# order, and none is lost unless its link is down when it is sent, or goes down while it is in
# flight. What was delivered or lost is remembered (`net_messages_processed`), since some messages
# are sent only once. A message that nobody can ever accept stays in flight forever, and is part of
# the state.


def send(s, messages, message) -> None:
    """Send a message; it is lost if the link is down."""
    if is_connected(s, message.source, message.dest):
        add_once(messages, message)


def discard(messages, processed, message) -> None:
    """The message is no longer in flight: it was delivered, or lost."""
    take(messages, message)
    add_once(processed, message)


def is_receivable(s, message) -> bool:
    """Does the message's receiver still have its disk?"""
    return s.state[message.dest] != "dead_no_state"


def messages_in_flight(s) -> int:
    """How many messages are in flight."""
    messages = s.net_messages
    return (
        len(messages.vote_requests)
        + len(messages.vote_responses)
        + len(messages.begin_quorum_requests)
        + len(messages.fetch_requests)
        + len(messages.fetch_responses)
    )


def crosses(message, links: NodeSet(Pair)) -> bool:
    """Is the message in flight across one of these links?"""
    return message.source != message.dest and pair(message.source, message.dest) in links


def remove_across(messages, links: NodeSet(Pair)) -> None:
    """Messages of one kind are no longer in flight across these links."""
    k = 0
    while k < len(messages):
        if crosses(messages.items[k], links):
            take(messages, messages.items[k])
        else:
            k += 1


def lose_across(messages, processed, links: NodeSet(Pair)) -> None:
    """Messages of one kind that are in flight across one of these links are lost."""
    for message in messages:
        if crosses(message, links):
            add_once(processed, message)
    remove_across(messages, links)


def lose_all_across(s, links: NodeSet(Pair)) -> None:
    """All messages that are in flight across one of these links are lost."""
    in_flight, processed = s.net_messages, s.net_messages_processed
    lose_across(in_flight.vote_requests, processed.vote_requests, links)
    lose_across(in_flight.vote_responses, processed.vote_responses, links)
    lose_across(in_flight.begin_quorum_requests, processed.begin_quorum_requests, links)
    lose_across(in_flight.fetch_requests, processed.fetch_requests, links)
    lose_across(in_flight.fetch_responses, processed.fetch_responses, links)
