"""Reconfiguration: servers are started, and added or removed as voters, one at a time.

A new server begins as an observer. A command in the leader's log makes it a voter, or removes one;
it holds for every server as soon as it is in that server's log, committed or not. So it can be
taken back, if the log is truncated. A leader appends a command only if the last one is committed,
and an entry of its own epoch as well: without the second rule two leaders could each commit with
configurations that share no majority, the bug of Raft's thesis.

A leader may remove itself. It goes on leading as an observer, does not count itself, and resigns
when the removal is committed.
"""

from kraft_spec.actions.high_watermark import commit_if_alone
from kraft_spec.actions.logs import adopt_last_config, has_committed_in_own_epoch, track_members
from kraft_spec.actions.network import send
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.messages import BeginQuorumEpochRequest, Entry, FetchRequest
from kraft_spec.model.names import (
    ADD_VOTER_COMMAND,
    ALREADY_MEMBER,
    LEADER,
    LEADER_NOT_READY,
    NO_ERROR,
    NOT_LEADER,
    OBSERVER,
    RECONFIG_IN_PROGRESS,
    REMOVE_VOTER_COMMAND,
    UNATTACHED,
    UNKNOWN_MEMBER,
    VOTER,
    Host,
    Server,
)
from kraft_spec.model.state import State, has_started, is_member
from protocol_lab import TAKEN, append, members, nodes_up_to, size, with_node, without_node

# --- New servers ---------------------------------------------------------------------------------


def started_servers(s, c) -> int:
    """How many servers were ever started: they have the numbers from 1 up to this."""
    return sum(1 for server in range(1, c.max_spawned_servers + 1) if has_started(s, server))


def hosts_without_a_server(c) -> int:
    """The hosts on which no server runs at the start; they are interchangeable."""
    return nodes_up_to(c.hosts) & ~nodes_up_to(c.init_cluster_size)


def start_new_server(s: State, c: Constants, host: Host, any_leader: Server):
    """A server with an empty disk starts as an observer, and fetches from a server that leads.

    It begins with that leader's configuration, a shortcut. It does not wait for the response to
    this first fetch, which nobody ever handles; it finds the leader by its second.
    """
    new = started_servers(s, c) + 1
    if new > c.max_spawned_servers:
        return "no server is left to be started (max_spawned_servers)"
    if s.state[any_leader] != LEADER:
        return "the server that it would fetch from is not a leader"
    s.aux_disk_id_gen += 1
    s.server_ids[new].host = host
    s.server_ids[new].disk_id = s.aux_disk_id_gen
    s.config[new] = s.config[any_leader]
    s.role[new] = OBSERVER
    s.state[new] = UNATTACHED
    fetch = FetchRequest(source=new, dest=any_leader, observer=True)
    if c.first_fetch_fixed:
        s.fetch_state[new].pending_fetch = fetch
    send(s, s.net_messages.fetch_requests, fetch)
    return TAKEN


# --- Checks --------------------------------------------------------------------------------------


def reconfiguration_error(s, c, server) -> int:
    """The error that any reconfiguration by this leader gets; the membership is checked before."""
    if not s.config[server].committed:
        return RECONFIG_IN_PROGRESS
    if not has_committed_in_own_epoch(s, server) and not c.reconfigure_before_own_commit:
        return LEADER_NOT_READY
    return NO_ERROR


def add_voter_check(s, c, server, add_server) -> int:
    """The error that a request to add a voter gets."""
    if s.state[server] != LEADER:
        return NOT_LEADER
    if is_member(s, add_server, server):
        return ALREADY_MEMBER
    return reconfiguration_error(s, c, server)


def remove_voter_check(s, c, server, remove_server) -> int:
    """The error that a request to remove a voter gets."""
    if s.state[server] != LEADER:
        return NOT_LEADER
    if not is_member(s, remove_server, server):
        return UNKNOWN_MEMBER
    return reconfiguration_error(s, c, server)


def reason(error) -> str:
    """An error in words."""
    if error == NOT_LEADER:
        return "NotLeader: the server is not a leader"
    if error == ALREADY_MEMBER:
        return "AlreadyMember: the server to be added is a voter already"
    if error == UNKNOWN_MEMBER:
        return "UnknownMember: the server to be removed is not a voter"
    if error == RECONFIG_IN_PROGRESS:
        return "ReconfigInProgress: the last configuration is not committed"
    if error == LEADER_NOT_READY:
        return "LeaderNotReady: nothing of the leader's epoch is committed"
    return ""


def keeps_majority_with(s, server, add_server) -> bool:
    """Would the leader be connected to a majority of the voters, with this one added?"""
    voters = s.config[server].members
    reached = 1 + sum(
        1 for peer in members(voters) if peer != server and is_connected(s, server, peer)
    )
    return reached + is_connected(s, server, add_server) > (size(voters) + 1) // 2


def keeps_majority_without(s, c, server, remove_server) -> bool:
    """Is the leader connected to a majority of the present voters, without this one?"""
    voters = s.config[server].members
    reached = sum(
        1
        for peer in members(voters)
        if peer != remove_server and s.role[peer] == VOTER and is_connected(s, server, peer)
    )
    return reached > size(voters) // 2 or (c.removal_guard_relaxed and 2 * reached >= size(voters))


# --- Commands ------------------------------------------------------------------------------------


def append_config_command(s, c, server, command, changed, voters) -> None:
    """Append a command with the next configuration, and assume that at once."""
    entry = Entry(
        command=command,
        epoch=s.current_epoch[server],
        id=s.config[server].id + 1,
        server=changed,
        members=voters,
    )
    append(s.log[server], entry)
    adopt_last_config(s, server, s.hwm[server])
    track_members(s, c, server)


def append_addition(s, c, server, add_server) -> None:
    """The leader's configuration has one more voter from now on."""
    voters = with_node(s.config[server].members, add_server)
    append_config_command(s, c, server, ADD_VOTER_COMMAND, add_server, voters)
    s.aux_ctrs.add_reconfig_ctr += 1


def append_removal(s, c, server, remove_server) -> None:
    """The leader's configuration has one voter fewer from now on: perhaps itself."""
    voters = without_node(s.config[server].members, remove_server)
    append_config_command(s, c, server, REMOVE_VOTER_COMMAND, remove_server, voters)
    if server == remove_server:
        s.role[server] = OBSERVER
    if c.single_voter_commit_fixed:
        commit_if_alone(s, c, server)
    s.aux_ctrs.remove_reconfig_ctr += 1


def accept_add_voter_request(s: State, c: Constants, server: Server, add_server: Server):
    """A leader makes a server a voter: it appends the command, and announces itself to the server.

    The server may lag behind or be dead; Kafka waits until it has caught up. The request itself and
    its answer are left out.
    """
    if s.aux_ctrs.add_reconfig_ctr >= c.max_add_reconfigs:
        return "no addition is left (max_add_reconfigs)"
    error = add_voter_check(s, c, server, add_server)
    if not has_started(s, add_server):
        return "the server to be added was never started"
    if error != NO_ERROR:
        return reason(error)
    if size(s.config[server].members) >= c.max_cluster_size:
        return "there are as many voters as max_cluster_size allows"
    if c.test_liveness and not keeps_majority_with(s, server, add_server):
        return "the leader would not be connected to a majority of the voters"
    append_addition(s, c, server, add_server)
    epoch = s.current_epoch[server]
    request = BeginQuorumEpochRequest(source=server, dest=add_server, epoch=epoch)
    send(s, s.net_messages.begin_quorum_requests, request)
    return TAKEN


def accept_remove_voter_request(s: State, c: Constants, server: Server, remove_server: Server):
    """A leader removes a voter, perhaps itself: it appends the command."""
    if s.aux_ctrs.remove_reconfig_ctr >= c.max_remove_reconfigs:
        return "no removal is left (max_remove_reconfigs)"
    error = remove_voter_check(s, c, server, remove_server)
    if not has_started(s, remove_server):
        return "the server to be removed was never started"
    if error != NO_ERROR:
        return reason(error)
    if size(s.config[server].members) <= c.min_cluster_size:
        return "there would be fewer voters than min_cluster_size"
    if c.test_liveness and not keeps_majority_without(s, c, server, remove_server):
        return "the leader would not be connected to a majority of the voters"
    append_removal(s, c, server, remove_server)
    return TAKEN
