"""What is claimed of KRaft, and what must be reachable in it.

Checked by default are the original's safety properties, under its names. `epoch_monotone` and the
last two invariants are ours, and false in the original as it is; they are checked when named.
"""

from kraft_spec.constants import Constants
from kraft_spec.logs import is_config_command
from kraft_spec.network import is_connected
from kraft_spec.types import (
    CANDIDATE,
    DEAD_NO_STATE,
    FOLLOWER,
    ILLEGAL_STATE,
    LEADER,
    OBSERVER,
    UNATTACHED,
    VOTED,
    VOTER,
    State,
    is_member,
)
from protocol_lab import HOLDS, NONE, contains, members, size

# --- Safety ------------------------------------------------------------------------------------


def holds_value(s, server, value) -> bool:
    """Is the value anywhere in the server's log?"""
    log = s.log[server]
    return any(log.items[position].value == value for position in range(log.length))


def is_current_leader(s, c, server) -> bool:
    """Does the server lead, and is nobody in a later epoch?"""
    return s.state[server] == LEADER and all(
        s.current_epoch[other] <= s.current_epoch[server]
        for other in range(1, c.max_spawned_servers + 1)
    )


def leader_has_all_acked_values(s: State, c: Constants):
    """A leader that nobody is ahead of has every value that a client was promised."""
    for value in members(s.inv_pos_acked):
        for server in range(1, c.max_spawned_servers + 1):
            if is_current_leader(s, c, server) and not holds_value(s, server, value):
                return "the leader lacks a value that was acknowledged"
    return HOLDS


def acked_value_not_lost(s: State, c: Constants):
    """Every value that a client was promised is in the log of some voter."""
    for value in members(s.inv_pos_acked):
        if not any(
            s.role[server] == VOTER and holds_value(s, server, value)
            for server in range(1, c.max_spawned_servers + 1)
        ):
            return "no voter has a value that was acknowledged"
    return HOLDS


def no_log_divergence(s: State, c: Constants):
    """Two servers hold the same entries as far as both know them to be committed.

    The original can't be evaluated where a high watermark is beyond the end of a log; here there is
    no entry then, and none is not the same as one.
    """
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            committed = min(s.hwm[server], s.hwm[other])
            for position in range(committed):
                if s.log[server].items[position] != s.log[other].items[position]:
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
    """Observers lead, follow, are unattached or have voted; who is unattached knows no leader."""
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
            return "a server that is no candidate has votes"
    return HOLDS


def epoch_monotone(before: State, after: State, c: Constants):
    """A server's epoch never goes back, unless it loses its disk."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] < before.current_epoch[server]
            and after.state[server] != DEAD_NO_STATE
        ):
            return "a server's epoch has gone back"
    return HOLDS


def hwm_monotone(before: State, after: State, c: Constants):
    """A follower's high watermark never falls as long as the log is not cut below it."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            before.state[server] == FOLLOWER
            and after.state[server] == FOLLOWER
            and after.hwm[server] < min(before.hwm[server], after.log[server].length)
            and before.aux_ctrs.restart_ctr == after.aux_ctrs.restart_ctr
        ):
            return "a follower's high watermark has fallen"
    return HOLDS


def hwm_within_log(s: State, c: Constants):
    """No high watermark is beyond the end of its log.

    It takes a committed entry that is cut, so a broken variant: see the scenario
    high_watermark_beyond_log.
    """
    for server in range(1, c.max_spawned_servers + 1):
        if s.hwm[server] > s.log[server].length:
            return "a high watermark is beyond the end of its log"
    return HOLDS


def one_vote_in_an_epoch(before: State, after: State, c: Constants):
    """Who has voted in an epoch never votes for another in it."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] == before.current_epoch[server]
            and before.voted_for[server] != NONE
            and after.voted_for[server] != before.voted_for[server]
            and after.state[server] != ILLEGAL_STATE
        ):
            return "a server has forgotten or changed its vote within the epoch"
    return HOLDS


# --- What must happen at last: predicates of states ----------------------------------------------


def is_answered(s, value) -> bool:
    """Was the client told of this value either that it is committed or that it failed?"""
    return contains(s.inv_pos_acked, value) != contains(s.inv_neg_acked, value)


def has_config(s, server, id) -> bool:
    """Is the configuration command with this id in the server's log?"""
    log = s.log[server]
    return any(
        is_config_command(log.items[position]) and log.items[position].id == id
        for position in range(log.length)
    )


def has_committed_config(s, server, id) -> bool:
    """Is it there, and at or below the server's high watermark?"""
    log = s.log[server]
    return any(
        is_config_command(log.items[position])
        and log.items[position].id == id
        and s.hwm[server] > position
        for position in range(log.length)
    )


def is_out_of_reach(s, server, member) -> bool:
    """Is the member dead, or cut off from the server?"""
    return not is_connected(s, server, member) or s.state[member] == DEAD_NO_STATE


def config_all_or_nothing(s, c, id) -> bool:
    """Does some current leader have the command with this id committed, or not at all?

    The original looks at the leader's log for each member within reach, and not at the member's;
    a leader that reaches no member passes.
    """
    for server in range(1, c.max_spawned_servers + 1):
        if is_current_leader(s, c, server):
            decided = has_committed_config(s, server, id) or not has_config(s, server, id)
            if decided or all(
                is_out_of_reach(s, server, member) for member in members(s.config[server].members)
            ):
                return True
    return False


def functional_leader_exists(s, c) -> bool:
    """Is there a leader that as many voters follow as its configuration needs for a majority?"""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == LEADER:
            supporters = sum(
                1
                for other in range(1, c.max_spawned_servers + 1)
                if s.role[other] == VOTER
                and s.leader[other] == server
                and is_member(s, server, other)
            )
            if supporters >= size(s.config[server].members) // 2 + 1:
                return True
    return False


# --- What must be reachable ----------------------------------------------------------------------


def a_value_is_acknowledged(s: State, c: Constants):
    """A client is told that its value is committed."""
    return HOLDS if s.inv_pos_acked != 0 else "no client was told that its value is committed"


def a_later_leader(s: State, c: Constants):
    """Somebody leads in a later epoch than the first."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == LEADER and s.current_epoch[server] > 1:
            return HOLDS
    return "nobody leads in a later epoch than the first"


def logs_diverge(s: State, c: Constants):
    """Two servers hold different entries at the same offset."""
    for server in range(1, c.max_spawned_servers + 1):
        for other in range(1, server):
            shared = min(s.log[server].length, s.log[other].length)
            for position in range(shared):
                if s.log[server].items[position] != s.log[other].items[position]:
                    return HOLDS
    return "wherever two servers have an offset, they hold the same entry there"
