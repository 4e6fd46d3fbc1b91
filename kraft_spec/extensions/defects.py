"""The kit's own properties that the original breaks and a fix restores; they are checked when
named.

epoch_monotone and one_vote_in_an_epoch fail beyond the bounds that the original was checked with;
hwm_monotone fails at once; hwm_within_log takes a committed entry that is truncated, so a broken
rule.

The original's reconfiguration_not_stuck counts configurations from 1, the initial one, so with one
reconfiguration it says nothing about that one; removal_not_stuck counts from the first command.
removed_server_learns fails where fetches from outside the configuration are ignored.
"""

from kraft_spec.liveness import config_all_or_nothing
from kraft_spec.model.constants import Constants
from kraft_spec.model.names import DEAD_NO_STATE, FOLLOWER, ILLEGAL_STATE, LEADER, VOTER
from kraft_spec.model.state import State, is_member
from protocol_lab import HOLDS, NONE, Range, Spec, always_eventually

# --- Safety ------------------------------------------------------------------------------------


def hwm_within_log(s: State, c: Constants):
    """No high watermark is beyond the end of its log.

    See the scenario high_watermark_beyond_log.
    """
    for server in range(1, c.max_spawned_servers + 1):
        if s.hwm[server] > s.log[server].length:
            return "a high watermark is beyond the end of its log"
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


def one_vote_in_an_epoch(before: State, after: State, c: Constants):
    """A server that has voted in an epoch never votes for another candidate in it."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            after.current_epoch[server] == before.current_epoch[server]
            and before.voted_for[server] != NONE
            and after.voted_for[server] != before.voted_for[server]
            and after.state[server] != ILLEGAL_STATE
        ):
            return "a server has forgotten or changed its vote within the epoch"
    return HOLDS


def hwm_monotone(before: State, after: State, c: Constants):
    """A follower's high watermark never falls, unless its log is truncated below it."""
    for server in range(1, c.max_spawned_servers + 1):
        if (
            before.state[server] == FOLLOWER
            and after.state[server] == FOLLOWER
            and after.hwm[server] < min(before.hwm[server], after.log[server].length)
            and before.aux_ctrs.restart_ctr == after.aux_ctrs.restart_ctr
        ):
            return "a follower's high watermark has fallen"
    return HOLDS


# --- Liveness ----------------------------------------------------------------------------------


def is_following_as_removed(s, server) -> bool:
    """Does a voter follow a leader whose committed configuration is without it?"""
    leader = s.leader[server]
    return (
        s.role[server] == VOTER
        and leader != NONE
        and s.state[leader] == LEADER
        and s.config[leader].committed
        and not is_member(s, server, leader)
    )


def have_all_learned_of_removal(s: State, c: Constants) -> bool:
    """Is there no removed voter that still follows the leader which has committed the removal?"""
    return not any(
        is_following_as_removed(s, server) for server in range(1, c.max_spawned_servers + 1)
    )


def removal_not_stuck(id: Range(2, "1 + max_add_reconfigs + max_remove_reconfigs")):
    """As reconfiguration_not_stuck, for the ids that commands have: from 2."""
    return always_eventually(config_all_or_nothing)


def removed_server_learns():
    """No removed server follows its former leader as a voter forever."""
    return always_eventually(have_all_learned_of_removal)


def declare_defects(spec: Spec) -> None:
    """Register the properties, to be checked when named."""
    spec.invariant(hwm_within_log, by_default=False)
    spec.step_invariant(epoch_monotone, by_default=False)
    spec.step_invariant(one_vote_in_an_epoch, by_default=False)
    spec.step_invariant(hwm_monotone, by_default=False)
    spec.property(removal_not_stuck)
    spec.property(removed_server_learns)
