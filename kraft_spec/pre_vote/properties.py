"""What is claimed of KRaft with pre-vote: the original's safety properties, under its names.

Some are those of `kraft.kip_853` under other names. Then follow the kit's own.
"""

from kraft_spec.pre_vote.model import *
from kraft_spec.properties import (
    acked_value_not_lost,
    epoch_monotone,
    hwm_monotone,
    leader_has_all_acked_values,
    never_two_leaders_in_same_epoch,
    no_illegal_state,
    no_log_divergence,
)
from protocol_lab import *

OF_OBSERVERS = ("leader", "follower", "unattached", "resigned")
"""The states that an observer may be in."""

# --- Safety ------------------------------------------------------------------------------------


def leader_completeness(s: State, c: Constants):
    """A leader of the latest epoch has every value that was acknowledged."""
    return leader_has_all_acked_values(s, c)


def durability(s: State, c: Constants):
    """Every value that was acknowledged is in the log of some voter."""
    return acked_value_not_lost(s, c)


def log_matching(s: State, c: Constants):
    """Two servers hold the same entries as far as both know them to be committed."""
    return no_log_divergence(s, c)


def election_safety(s: State, c: Constants):
    """In one epoch no two servers believe in different leaders; a resigned one names itself."""
    return never_two_leaders_in_same_epoch(s, c)


def valid_roles_and_states(s: State, c: Constants):
    """Observers only lead, follow, are unattached or resigned; an unattached server has no leader;
    clients wait only for leaders; votes are for prospectives and candidates."""
    for server in range(1, c.max_spawned_servers + 1):
        state = s.state[server]
        if s.role[server] == "observer" and state not in OF_OBSERVERS:
            return "an observer is in a state that only voters have"
        if state == "unattached" and s.leader[server] != NONE:
            return "an unattached server knows a leader"
        if state != "leader" and s.pending_ack[server] != 0:
            return "a client waits for a server that does not lead"
        if state not in ("prospective", "candidate") and s.votes_recv[server] != 0:
            return "a server that is neither prospective nor a candidate has votes"
    return HOLDS


# --- The kit's own -------------------------------------------------------------------------------


def voters_are_members(s: State, c: Constants):
    """A server is a voter if it has its disk and is in its own configuration, and only then."""
    for server in range(1, c.max_spawned_servers + 1):
        is_voter = is_alive(s, server) and is_member(s, server, server)
        if is_voter != (s.role[server] == "voter"):
            return "a server takes itself for something else than its configuration says"
    return HOLDS


def leader_stays(s: State, c: Constants):
    """Server 1 leads in epoch 1: nobody has deposed it, and it has not resigned."""
    if s.state[1] != "leader" or s.current_epoch[1] != 1:
        return "server 1 leads no more"
    return HOLDS


def leader_stays_unless_restarted(s: State, c: Constants):
    """Server 1 leads in epoch 1, or has resigned from it by itself or by a restart."""
    if s.state[1] not in ("leader", "resigned") or s.current_epoch[1] != 1:
        return "server 1 was deposed"
    return HOLDS


def one_vote_in_an_epoch(before: State, after: State, c: Constants):
    """A server that has voted in an epoch keeps that vote, until it is elected itself."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] == before.current_epoch[server]
            and before.voted_for[server] != NONE
            and after.voted_for[server] != before.voted_for[server]
            and after.state[server] not in ("dead_no_state", "illegal_state", "leader")
        ):
            return "a server has forgotten or changed its vote within the epoch"
    return HOLDS


def declare_properties(spec: Spec) -> None:
    """Register them."""
    spec.invariant(log_matching)
    spec.invariant(leader_completeness)
    spec.invariant(election_safety)
    spec.invariant(durability)
    spec.invariant(no_illegal_state)
    spec.invariant(valid_roles_and_states)
    spec.invariant(voters_are_members)
    spec.invariant(leader_stays, by_default=False)
    spec.invariant(leader_stays_unless_restarted, by_default=False)
    spec.step_invariant(epoch_monotone, by_default=False)
    spec.step_invariant(one_vote_in_an_epoch, by_default=False)
    spec.step_invariant(hwm_monotone, by_default=False)
