"""What happens to the cluster, as far as it differs from `kraft_spec.actions.cluster`."""

from kraft_spec.actions.cluster import (
    append_config_command,
    choosable_pairs,
    lose_disk,
    why_not_add,
    why_not_remove,
)
from kraft_spec.actions.replication import reset_end_offsets
from kraft_spec.actions.server_states import fail_pending_writes
from kraft_spec.pre_vote.model import *
from kraft_spec.pre_vote.server_states import boot_unattached, step_down
from protocol_lab import *

# --- Adding and removing voters ------------------------------------------------------------------


def keeps_majority_with(s, server, add_server) -> bool:
    """Would the leader be connected to a majority of the voters, with this one added?"""
    voters = s.config[server].members
    reached = 1 + sum(1 for peer in voters if is_up(s.net_connectivity, server, peer))
    return reached + is_up(s.net_connectivity, server, add_server) > (len(voters) + 1) // 2


def keeps_majority_without(s, server, remove_server) -> bool:
    """Is the leader connected to a majority of the present voters, without this one?

    The original does not count the leader, which is not connected to itself: so a leader of three
    or four can remove only itself.
    """
    voters = s.config[server].members
    reached = sum(
        1
        for peer in voters
        if peer != remove_server
        and s.role[peer] == "voter"
        and is_up(s.net_connectivity, server, peer)
    )
    return reached > len(voters) // 2


def reconfigure(s, c, server, command: Command, changed, voters: NodeSet(Server)) -> None:
    """Append a command with the next configuration, and assume that at once."""
    append_config_command(s, c, server, command, changed, voters)
    s.role[server] = "voter" if is_member(s, server, server) else "observer"


def accept_add_voter_request(s: State, c: Constants, server: Server, add_server: Server):
    """A leader makes a server a voter: it appends the command, and announces itself to the server.

    Kafka waits until the server has caught up; here it can't before it is added.
    """
    reason = why_not_add(s, c, server, add_server)
    if reason:
        return reason
    if c.test_liveness and not keeps_majority_with(s, server, add_server):
        return "the leader would not be connected to a majority of the voters"
    voters = with_node(s.config[server].members, add_server)
    reconfigure(s, c, server, "add_voter_command", add_server, voters)
    request = BeginQuorumEpochRequest(
        source=server, dest=add_server, epoch=s.current_epoch[server], kind="addition"
    )
    if add_server != server:  # a leader that had removed itself
        send(s, s.net_messages.begin_quorum_requests, request)
    s.aux_ctrs.add_reconfig_ctr += 1
    return TAKEN


def accept_remove_voter_request(s: State, c: Constants, server: Server, remove_server: Server):
    """A leader removes a voter, perhaps itself: it appends the command (KIP-853's RemoveVoter)."""
    reason = why_not_remove(s, c, server, remove_server)
    if reason:
        return reason
    if c.test_liveness and not keeps_majority_without(s, server, remove_server):
        return "the leader would not be connected to a majority of the voters"
    voters = without_node(s.config[server].members, remove_server)
    reconfigure(s, c, server, "remove_voter_command", remove_server, voters)
    s.aux_ctrs.remove_reconfig_ctr += 1
    return TAKEN


# --- Restarts and lost disks ---------------------------------------------------------------------


def restart_with_state(s: State, c: Constants, server: Server):
    """A server restarts from its disk; what was in memory is gone, also that it has fetched.

    A leader is resigned after a restart. A prospective has forgotten its leader; in Kafka it still
    follows that leader.
    """
    if s.aux_ctrs.restart_ctr >= c.max_restarts:
        return "no restart is left (max_restarts)"
    if not has_started(s, server):
        return "the server was never started"
    state, is_voter = s.state[server], s.role[server] == "voter"
    if state == "dead_no_state":
        return "the server has lost its disk"
    if state == "leader" and is_voter:
        step_down(s, c, server)
    elif state in ("leader", "prospective"):
        boot_unattached(s, c, server)
    s.hwm[server] = 0
    forget_fetches(s, server)
    reset_end_offsets(s, c, server, s.tracked[server])
    fail_pending_writes(s, server)
    s.aux_ctrs.restart_ctr += 1
    return TAKEN


def possible_winners(s, c, links: NodeSet(Pair)) -> int:
    """How many voters could be elected, if these links work: they reach half of the others."""
    found = 0
    for server in range(1, c.max_spawned_servers + 1):
        if s.role[server] == "voter":
            voters = s.config[server].members
            reached = sum(
                1
                for peer in voters
                if is_up(links, server, peer)
                and s.state[peer] != "dead_no_state"
                and s.current_epoch[peer] <= s.current_epoch[server]
            )
            found += reached >= len(voters) // 2
    return found


def crash_lose_state(s: State, c: Constants, server: Server):
    """A voter loses its disk and is gone for good; its links go down.

    With test_liveness not if nobody could be elected then.
    """
    if s.aux_ctrs.crash_ctr >= c.max_perm_crashes:
        return "no crash is left (max_perm_crashes)"
    if not has_started(s, server):
        return "the server was never started"
    if s.role[server] != "voter":
        return "the server is not a voter"
    links = s.net_connectivity & ~pairs_of(c, server)
    if c.test_liveness and possible_winners(s, c, links) == 0:
        return "nobody could be elected"
    s.net_connectivity = links
    lose_all_across(s, pairs_of(c, server))
    lose_disk(s, c, server)
    s.has_fetch_success[server] = False
    s.aux_ctrs.crash_ctr += 1
    return TAKEN


# --- Links -------------------------------------------------------------------------------------


def change_network_connectivity(s: State, c: Constants, down: Subset(choosable_pairs)):
    """Links go down or come back: from now on these are down (numbered as in `model.pair`).

    The links of dead servers stay down. A change that changes nothing is counted as one.
    """
    if s.net_connectivity_ctr >= c.max_connectivity_changes:
        return "no change of the links is left (max_connectivity_changes)"
    if not is_subset(pairs_of_the_dead(s, c), down):
        return "the links of a dead server stay down"
    links = all_pairs(c) & ~down
    if c.test_liveness and possible_winners(s, c, links) == 0:
        return "nobody could be elected"
    s.net_connectivity = links
    lose_all_across(s, down)
    s.net_connectivity_ctr += 1
    return TAKEN
