"""What is claimed of KRaft: the original's safety properties, under its names.

Then follows what must be reachable, so that a vacuous model is noticed. For what must eventually
happen see `liveness`.
"""

from kraft_spec.actions.logs import holds_value
from kraft_spec.model.constants import Constants
from kraft_spec.model.names import (
    CANDIDATE,
    FOLLOWER,
    ILLEGAL_STATE,
    LEADER,
    OBSERVER,
    UNATTACHED,
    VOTED,
    VOTER,
)
from kraft_spec.model.state import State, is_current_leader
from protocol_lab import HOLDS, NONE, members

# --- Safety ------------------------------------------------------------------------------------


def leader_has_all_acked_values(s: State, c: Constants):
    """A leader of the latest epoch has every value that was acknowledged."""
    for value in members(s.inv_pos_acked):
        for server in range(1, c.max_spawned_servers + 1):
            if is_current_leader(s, c, server) and not holds_value(s, server, value):
                return "the leader lacks a value that was acknowledged"
    return HOLDS


def acked_value_not_lost(s: State, c: Constants):
    """Every value that was acknowledged is in the log of some voter."""
    for value in members(s.inv_pos_acked):
        if not any(
            s.role[server] == VOTER and holds_value(s, server, value)
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
            committed = min(s.hwm[server], s.hwm[other], max(mine.length, theirs.length))
            for position in range(committed):
                if mine.items[position] != theirs.items[position]:
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
        if s.state[server] == ILLEGAL_STATE:
            return "a server has made a transition that must not happen"
    return HOLDS


def states_match_roles(s: State, c: Constants):
    """Observers only lead, follow, are unattached or voted; an unattached server has no leader."""
    for server in range(1, c.max_spawned_servers + 1):
        state = s.state[server]
        if s.role[server] == OBSERVER and state not in (LEADER, FOLLOWER, UNATTACHED, VOTED):
            return "an observer is in a state that only voters have"
        if state == UNATTACHED and s.leader[server] != NONE:
            return "an unattached server knows a leader"
    return HOLDS


def valid_votes_recv(s: State, c: Constants):
    """Only candidates have votes."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.votes_recv[server] != 0 and s.state[server] != CANDIDATE:
            return "a server that is not a candidate has votes"
    return HOLDS


# --- What must be reachable ----------------------------------------------------------------------


def a_value_is_acknowledged(s: State, c: Constants):
    """A client is told that its value is committed."""
    return HOLDS if s.inv_pos_acked != 0 else "no client was told that its value is committed"


def a_later_leader(s: State, c: Constants):
    """A server leads in a later epoch than the first."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == LEADER and s.current_epoch[server] > 1:
            return HOLDS
    return "no server leads in a later epoch than the first"


def logs_diverge(s: State, c: Constants):
    """Two servers hold different entries at the same offset."""
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            shared = min(s.log[server].length, s.log[other].length)
            for position in range(shared):
                if s.log[server].items[position] != s.log[other].items[position]:
                    return HOLDS
    return "at every offset that two servers have, they hold the same entry"
