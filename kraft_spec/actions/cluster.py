"""What happens to the cluster: servers start, are added and removed, restart, and lose their disks;
links go down.

Voters are added or removed one at a time (KIP-853). A new server begins as an observer. A command
in the leader's log makes it a voter, or removes one; it holds for every server as soon as it is in
that server's log, committed or not. So it can be taken back, if the log is truncated. A leader
appends a command only if the last one is committed, and an entry of its own epoch as well: without
the second rule two leaders could each commit with configurations that share no majority, the bug of
Raft's thesis.

A leader may remove itself. It goes on leading as an observer, does not count itself, and resigns
when the removal is committed.
"""

from kraft_spec.actions.replication import (
    adopt_last_config,
    commit_if_alone,
    reset_end_offsets,
    track_members,
)
from kraft_spec.actions.server_states import fail_pending_writes, step_down
from kraft_spec.model import *
from protocol_lab import *

# --- New servers ---------------------------------------------------------------------------------


def started_servers(s, c) -> int:
    """How many servers were ever started: they have the numbers from 1 up to this."""
    return sum(1 for server in range(1, c.max_spawned_servers + 1) if has_started(s, server))


def start_new_server(s: State, c: Constants, host: Host, any_leader: Server):
    """A server with an empty disk starts as an observer, and fetches from a server that leads.

    It begins with that leader's configuration, a shortcut. It does not wait for the response to
    this first fetch, which nobody ever handles (see first_fetch_fixed); it finds the leader by its
    second.
    """
    new = started_servers(s, c) + 1
    if new > c.max_spawned_servers:
        return "no server is left to be started (max_spawned_servers)"
    if s.state[any_leader] != "leader":
        return "the server that it would fetch from is not a leader"
    s.aux_disk_id_gen += 1
    s.server_ids[new].host = host
    s.server_ids[new].disk_id = s.aux_disk_id_gen
    s.config[new] = s.config[any_leader]
    s.role[new] = "observer"
    s.state[new] = "unattached"
    fetch = FetchRequest(source=new, dest=any_leader, observer=True)
    if c.first_fetch_fixed:
        s.fetch_state[new].pending_fetch = fetch
    send(s, s.net_messages.fetch_requests, fetch)
    return TAKEN


# --- What a leader checks ------------------------------------------------------------------------


def has_committed_in_own_epoch(s, server) -> bool:
    """Does the server know an entry of its present epoch to be committed?"""
    log = s.log[server]
    for offset in range(1, min(len(log), s.hwm[server]) + 1):
        if log[offset - 1].epoch == s.current_epoch[server]:
            return True
    return False


def reconfiguration_error(s, c, server) -> Error:
    """The error that any reconfiguration by this leader gets; the membership is checked before.

    One command at a time, and none before the leader has committed an entry of its epoch
    (KIP-853). Without the second rule two leaders remove one voter each, and logs diverge after 30
    states (scenarios reconfigure_before_own_commit, reconfigure_after_own_commit).
    """
    if not s.config[server].committed:
        return "reconfig_in_progress"
    if not has_committed_in_own_epoch(s, server) and not c.reconfigure_before_own_commit:
        return "leader_not_ready"
    return "nil"


def add_voter_check(s, c, server, add_server) -> Error:
    """The error that a request to add a voter gets."""
    if s.state[server] != "leader":
        return "not_leader"
    if is_member(s, add_server, server):
        return "already_member"
    return reconfiguration_error(s, c, server)


def remove_voter_check(s, c, server, remove_server) -> Error:
    """The error that a request to remove a voter gets."""
    if s.state[server] != "leader":
        return "not_leader"
    if not is_member(s, remove_server, server):
        return "unknown_member"
    return reconfiguration_error(s, c, server)


def reason_of(error: Error) -> str:
    """An error in words."""
    if error == "not_leader":
        return "NotLeader: the server is not a leader"
    if error == "already_member":
        return "AlreadyMember: the server to be added is a voter already"
    if error == "unknown_member":
        return "UnknownMember: the server to be removed is not a voter"
    if error == "reconfig_in_progress":
        return "ReconfigInProgress: the last configuration is not committed"
    if error == "leader_not_ready":
        return "LeaderNotReady: nothing of the leader's epoch is committed"
    return ""


def keeps_majority_with(s, server, add_server) -> bool:
    """Would the leader be connected to a majority of the voters, with this one added?"""
    voters = s.config[server].members
    reached = 1 + sum(1 for peer in voters if peer != server and is_connected(s, server, peer))
    return reached + is_connected(s, server, add_server) > (len(voters) + 1) // 2


def keeps_majority_without(s, c, server, remove_server) -> bool:
    """Is the leader connected to a majority of the present voters, without this one?"""
    voters = s.config[server].members
    reached = sum(
        1
        for peer in voters
        if peer != remove_server and s.role[peer] == "voter" and is_connected(s, server, peer)
    )
    return reached > len(voters) // 2 or (c.removal_guard_relaxed and 2 * reached >= len(voters))


# --- Adding and removing voters ------------------------------------------------------------------


def append_config_command(s, c, server, command: Command, changed, voters: NodeSet(Server)) -> None:
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
    append_config_command(s, c, server, "add_voter_command", add_server, voters)
    s.aux_ctrs.add_reconfig_ctr += 1


def append_removal(s, c, server, remove_server) -> None:
    """The leader's configuration has one voter fewer from now on: perhaps itself."""
    voters = without_node(s.config[server].members, remove_server)
    append_config_command(s, c, server, "remove_voter_command", remove_server, voters)
    if server == remove_server:
        s.role[server] = "observer"
    if c.single_voter_commit_fixed:
        commit_if_alone(s, c, server)
    s.aux_ctrs.remove_reconfig_ctr += 1


def why_not_add(s, c, server, add_server) -> str:
    """Why a leader does not make the server a voter; "" if it does."""
    if s.aux_ctrs.add_reconfig_ctr >= c.max_add_reconfigs:
        return "no addition is left (max_add_reconfigs)"
    error = add_voter_check(s, c, server, add_server)
    if not has_started(s, add_server):
        return "the server to be added was never started"
    if error != "nil":
        return reason_of(error)
    if len(s.config[server].members) >= c.max_cluster_size:
        return "there are as many voters as max_cluster_size allows"
    return ""


def why_not_remove(s, c, server, remove_server) -> str:
    """Why a leader does not remove the voter; "" if it does."""
    if s.aux_ctrs.remove_reconfig_ctr >= c.max_remove_reconfigs:
        return "no removal is left (max_remove_reconfigs)"
    error = remove_voter_check(s, c, server, remove_server)
    if not has_started(s, remove_server):
        return "the server to be removed was never started"
    if error != "nil":
        return reason_of(error)
    if len(s.config[server].members) <= c.min_cluster_size:
        return "there would be fewer voters than min_cluster_size"
    return ""


def announce_to_new_voter(s, server, add_server) -> None:
    """The leader tells the server that it has added who leads."""
    epoch = s.current_epoch[server]
    request = BeginQuorumEpochRequest(source=server, dest=add_server, epoch=epoch)
    send(s, s.net_messages.begin_quorum_requests, request)


def accept_add_voter_request(s: State, c: Constants, server: Server, add_server: Server):
    """A leader makes a server a voter: it appends the command, and announces itself to the server.

    KIP-853's AddVoter. The server may lag behind or be dead; Kafka waits until it has caught up.
    The request itself and its answer are left out (`kraft.kip_853_with_requests` has them).
    """
    reason = why_not_add(s, c, server, add_server)
    if reason:
        return reason
    if c.test_liveness and not keeps_majority_with(s, server, add_server):
        return "the leader would not be connected to a majority of the voters"
    append_addition(s, c, server, add_server)
    announce_to_new_voter(s, server, add_server)
    return TAKEN


def accept_remove_voter_request(s: State, c: Constants, server: Server, remove_server: Server):
    """A leader removes a voter, perhaps itself: it appends the command (KIP-853's RemoveVoter).

    The removed server is told nothing. If it is the last other voter, nobody is left whose fetch
    could commit its removal (scenario leader_alone_commits_nothing).
    """
    reason = why_not_remove(s, c, server, remove_server)
    if reason:
        return reason
    if c.test_liveness and not keeps_majority_without(s, c, server, remove_server):
        return "the leader would not be connected to a majority of the voters"
    append_removal(s, c, server, remove_server)
    return TAKEN


# --- Restarts and lost disks ---------------------------------------------------------------------


def would_forget_its_vote(s, c, server) -> bool:
    """Would a restart clear the server's vote, as that of a leader that removed itself?"""
    is_removed_leader = s.state[server] == "leader" and s.role[server] == "observer"
    return is_removed_leader and s.voted_for[server] != NONE and not c.observer_vote_fixed


def restart_with_state(s: State, c: Constants, server: Server):
    """A server restarts from its disk; what was in memory is gone.

    On disk are role, state, epoch, leader, vote, configuration and log; the high watermark is not,
    and comes back with the next fetch, or with the leader's next commit. A leader is resigned after
    a restart, so that it can't vote for another in its epoch (KIP-595). A leader that removed
    itself and has voted can't restart: the original has it forget its vote, and has the vote stay.
    """
    if s.aux_ctrs.restart_ctr >= c.max_restarts:
        return "no restart is left (max_restarts)"
    if not has_started(s, server):
        return "the server was never started"
    if s.state[server] == "dead_no_state":
        return "the server has lost its disk"
    if would_forget_its_vote(s, c, server):
        return "the server would forget its vote"
    if s.state[server] == "leader":
        step_down(s, c, server)
    s.hwm[server] = 0
    s.fetch_state[server] = FetchState()
    reset_end_offsets(s, c, server, s.tracked[server])
    fail_pending_writes(s, server)
    s.aux_ctrs.restart_ctr += 1
    return TAKEN


def crash_lose_state(s: State, c: Constants, server: Server):
    """A voter loses its disk and is gone for good; its links go down.

    max_disconnected_pairs must permit that all its links are down. A server that is started on the
    same host later is another one, with another disk (KIP-853, server identity): what the lost one
    had promised, nobody counts on. `kraft.kip_853_with_empty_disks` has the host come back.
    """
    if s.aux_ctrs.crash_ctr >= c.max_crashes:
        return "no crash is left (max_crashes)"
    if not has_started(s, server):
        return "the server was never started"
    if s.role[server] != "voter":
        return "the server is not a voter"
    if len(down_pairs(s, c) | pairs_of(c, server)) > c.max_disconnected_pairs:
        return "too many links would be down"
    s.net_connectivity = s.net_connectivity & ~pairs_of(c, server)
    lose_all_across(s, pairs_of(c, server))
    lose_disk(s, c, server)
    s.aux_ctrs.crash_ctr += 1
    return TAKEN


def lose_disk(s, c, server) -> None:
    """Nothing is left of what the server had on disk and in memory."""
    fail_pending_writes(s, server)
    s.state[server] = "dead_no_state"
    s.role[server] = "nil"
    s.current_epoch[server] = 0
    s.leader[server] = NONE
    s.voted_for[server] = NONE
    s.votes_recv[server] = nodes_up_to(0)
    s.hwm[server] = 0
    s.config[server] = Config()
    truncate(s.log[server], 0)
    s.fetch_state[server] = FetchState()
    reset_end_offsets(s, c, server, 0)


# --- Links -------------------------------------------------------------------------------------


def choosable_pairs(s, c) -> NodeSet(Pair):
    """The links from which those to be down are chosen; none if they can't change any more."""
    return all_pairs(c) if s.net_connectivity_ctr < c.max_connectivity_changes else nodes_up_to(0)


def change_network_connectivity(s: State, c: Constants, down: Subset(choosable_pairs)):
    """Links go down or come back: from now on these are down (numbered as in `model.pair`).

    The links of dead servers stay down. At most max_disconnected_pairs links may be down. The
    original also says what may follow where more are down, which never happens: a crash keeps to
    the same bound.
    """
    if s.net_connectivity_ctr >= c.max_connectivity_changes:
        return "no change of the links is left (max_connectivity_changes)"
    if not is_subset(pairs_of_the_dead(s, c), down):
        return "the links of a dead server stay down"
    present = down_pairs(s, c)
    if len(present) > c.max_disconnected_pairs and len(down) >= len(present):
        return "too many links are down already: the change must leave fewer down"
    if len(present) <= c.max_disconnected_pairs and len(down) > c.max_disconnected_pairs:
        return "too many links would be down"
    if down == present:
        return "this changes nothing"
    s.net_connectivity = all_pairs(c) & ~down
    lose_all_across(s, down)
    s.net_connectivity_ctr += 1
    return TAKEN
