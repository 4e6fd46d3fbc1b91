"""What is claimed of KRaft: the original's safety properties, under its names.

Then follow the kit's own, which the original breaks and a fix restores. For what must eventually
happen see `liveness`, for what must be reachable `situations`.
"""

from kraft_spec.actions.replication import holds_value
from kraft_spec.model import *
from protocol_lab import *

OF_OBSERVERS = ("leader", "follower", "unattached", "voted")
"""The states that an observer may be in."""

# --- Safety ------------------------------------------------------------------------------------


def leader_has_all_acked_values(s: State, c: Constants):
    """A leader of the latest epoch has every value that was acknowledged."""
    for value in s.inv_pos_acked:
        for server in range(1, c.max_spawned_servers + 1):
            if is_current_leader(s, c, server) and not holds_value(s, server, value):
                return "the leader lacks a value that was acknowledged"
    return HOLDS


def acked_value_not_lost(s: State, c: Constants):
    """Every value that was acknowledged is in the log of some voter."""
    for value in s.inv_pos_acked:
        if not any(
            s.role[server] == "voter" and holds_value(s, server, value)
            for server in range(1, c.max_spawned_servers + 1)
        ):
            return "no voter has a value that was acknowledged"
    return HOLDS


def no_log_divergence(s: State, c: Constants):
    """Two servers hold the same entries as far as both know them to be committed.

    Where a high watermark is beyond the end of a log, the original is not defined; here the missing
    entry differs from any entry.
    """
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            mine, theirs = s.log[server], s.log[other]
            committed = min(s.hwm[server], s.hwm[other], max(len(mine), len(theirs)))
            for k in range(committed):
                if k >= min(len(mine), len(theirs)) or mine[k] != theirs[k]:
                    return "two servers hold different entries at a committed offset"
    return HOLDS


def never_two_leaders_in_same_epoch(s: State, c: Constants):
    """In one epoch no two servers believe in different leaders."""
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            one, another = s.leader[server], s.leader[other]
            if (
                one != NONE
                and another != NONE
                and one != another
                and s.current_epoch[server] == s.current_epoch[other]
            ):
                return "two servers believe in different leaders of one epoch"
    return HOLDS


def no_illegal_state(s: State, c: Constants):
    """No server has made a transition that must not happen."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "illegal_state":
            return "a server has made a transition that must not happen"
    return HOLDS


def states_match_roles(s: State, c: Constants):
    """Observers only lead, follow, are unattached or voted; an unattached server has no leader."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.role[server] == "observer" and s.state[server] not in OF_OBSERVERS:
            return "an observer is in a state that only voters have"
        if s.state[server] == "unattached" and s.leader[server] != NONE:
            return "an unattached server knows a leader"
    return HOLDS


def valid_votes_recv(s: State, c: Constants):
    """Only candidates have votes."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.votes_recv[server] != 0 and s.state[server] != "candidate":
            return "a server that is not a candidate has votes"
    return HOLDS


# --- The kit's own, checked when named -----------------------------------------------------------
# epoch_monotone fails with a third epoch, one_vote_in_an_epoch within the bounds that the original
# ships with; hwm_monotone fails at once; hwm_within_log takes a committed entry that is truncated,
# so a broken rule.


def hwm_within_log(s: State, c: Constants):
    """No high watermark is beyond the end of its log.

    See the scenario high_watermark_beyond_log.
    """
    for server in range(1, c.max_spawned_servers + 1):
        if s.hwm[server] > len(s.log[server]):
            return "a high watermark is beyond the end of its log"
    return HOLDS


def epoch_monotone(before: State, after: State, c: Constants):
    """A server's epoch never goes back, unless it loses its disk."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] < before.current_epoch[server]
            and after.state[server] != "dead_no_state"
        ):
            return "a server's epoch has gone back"
    return HOLDS


def one_vote_in_an_epoch(before: State, after: State, c: Constants):
    """A server that has voted in an epoch never votes for another candidate in it."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] == before.current_epoch[server]
            and before.voted_for[server] != NONE
            and after.voted_for[server] != before.voted_for[server]
            and after.state[server] != "illegal_state"
        ):
            return "a server has forgotten or changed its vote within the epoch"
    return HOLDS


def hwm_monotone(before: State, after: State, c: Constants):
    """A follower's high watermark never falls, unless its log is truncated below it."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            before.state[server] == "follower"
            and after.state[server] == "follower"
            and after.hwm[server] < min(before.hwm[server], len(after.log[server]))
            and before.aux_ctrs.restart_ctr == after.aux_ctrs.restart_ctr
        ):
            return "a follower's high watermark has fallen"
    return HOLDS


def declare_properties(spec: Spec) -> None:
    """Register them."""
    spec.invariant(leader_has_all_acked_values)
    spec.invariant(acked_value_not_lost)
    spec.invariant(no_log_divergence)
    spec.invariant(never_two_leaders_in_same_epoch)
    spec.invariant(no_illegal_state)
    spec.invariant(states_match_roles)
    spec.invariant(valid_votes_recv)
    spec.invariant(hwm_within_log, by_default=False)
    spec.step_invariant(epoch_monotone, by_default=False)
    spec.step_invariant(one_vote_in_an_epoch, by_default=False)
    spec.step_invariant(hwm_monotone, by_default=False)
