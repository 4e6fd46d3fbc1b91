"""The exercises of kraft/11_what_can_a_removed_controller_still_do: count the right servers, and
say what an acknowledgement promises."""

from dataclasses import replace

from kraft_spec import kip_853
from kraft_spec.actions.replication import (
    commit_up_to,
    holds_value,
    is_outside_configuration,
    is_valid_fetch_position,
    reply,
    why_not_serve,
)
from kraft_spec.challenges import THREE_SERVERS, TWO_SERVERS
from kraft_spec.constants import Constants
from kraft_spec.model import State
from kraft_spec.situations import a_value_is_acknowledged
from protocol_lab import *
from protocol_lab.model.spec import Situation
from protocol_lab.teaching.exercises import *

spec = kip_853.spec


def a_removal_is_committed(s: State, c: Constants):
    """A server knows that the removal of a voter is committed."""
    return any(
        s.config[server].id == 2 and s.config[server].committed
        for server in range(1, c.max_spawned_servers + 1)
    )


def a_slow_voter_is_not_waited_for(s: State, c: Constants):
    """A value is acknowledged that one of the voters does not have."""
    return any(
        not holds_value(s, server, value)
        for value in s.inv_pos_acked
        for server in range(1, c.init_cluster_size + 1)
    )


def held_by_most(s, server, offset):
    voters = s.config[server].members
    count = 0
    for member in voters:
        if member == server or s.flwr_end_offset[server][member] >= offset:
            count += 1
    return 2 * count > len(voters)


def with_quorum(is_held):
    """The action that answers a voter's fetch, with another idea of what a majority holds."""

    def accept_fetch_request_from_voter(s, c, message):
        server, peer = message.dest, message.source
        reason = why_not_serve(s, c, message)
        if reason:
            return reason
        if message.observer or is_outside_configuration(s, message):
            return "the sender is no voter"
        log = s.log[server]
        if not is_valid_fetch_position(log, message):
            return "the logs do not agree"
        if peer in s.tracked[server]:
            s.flwr_end_offset[server][peer] = message.fetch_offset - 1
        new_hwm = s.hwm[server]
        for offset in range(1, len(log) + 1):
            is_own = log[offset - 1].epoch == s.current_epoch[server]
            if is_own and is_held(s, server, offset):
                new_hwm = offset
        if new_hwm > s.hwm[server]:
            commit_up_to(s, c, server, new_hwm)
        reply(s, message, "ok", "nil", min(new_hwm, message.fetch_offset), 0)
        return TAKEN

    return accept_fetch_request_from_voter


@exercise(
    hints=[
        "Look at the configuration in the last state of the trace: who is in it? Who was counted?",
        "`for member in voters` goes through the servers that count. The leader is one of them, or"
        " it is not.",
        "More than half of `len(voters)`. Asking for all of them would be safe, and would wait for"
        " the slowest.",
    ],
    answer=held_by_most,
    why="A leader that is not a voter holds the entry, and that is worth nothing: the next leader"
    " is elected by voters, none of whom may have it. Kafka's `LeaderState` keeps the leader's own"
    " end offset among those of the voters, and counts it only if it is one.",
)
def count_the_right_servers(answer) -> Feedback:
    """Count the right servers.

    Write `is_held(s, server, offset)`: does a majority of the leader's configuration hold its log
    up to this offset? `s.flwr_end_offset[server][member]` is how far it knows a member to be. The
    check puts it into the leader, first with two servers, one of which is removed:
    `acked_value_not_lost` must hold. Then three servers must commit without the slowest.
    """
    expect_parameters(answer, "s", "server", "offset")
    wanted = [
        Situation(a_value_is_acknowledged, expected=True),
        Situation(a_removal_is_committed, expected=True),
    ]
    removing = replace(spec, situations=wanted)
    action, name = with_quorum(answer), "accept_fetch_request_from_voter"
    model = removing.bind(**TWO_SERVERS, max_epoch=1, max_remove_reconfigs=1)
    feedback = repair(model, name, action, invariants=["acked_value_not_lost"])
    if not feedback.passed:
        return feedback
    lazy = replace(spec, situations=[Situation(a_slow_voter_is_not_waited_for, expected=True)])
    model = lazy.bind(**THREE_SERVERS, max_epoch=1)
    return repair(model, name, action, invariants=["acked_value_not_lost"])


# --- What is promised --------------------------------------------------------------------------


def acknowledged_means_majority(s: State, c: Constants):
    """Every acknowledged value is in the logs of a majority of the cluster."""
    for value in s.inv_pos_acked:
        count = sum(
            1 for server in range(1, c.init_cluster_size + 1) if holds_value(s, server, value)
        )
        if 2 * count <= c.init_cluster_size:
            return "an acknowledged value is not in a majority's logs"
    return HOLDS


@exercise(
    hints=[
        "`for value in s.inv_pos_acked` goes through the values that were acknowledged. Count for"
        " each how many servers hold it.",
        "With three servers two are a majority, with four three: more than half. Write it without"
        " a division: `2 * count > c.init_cluster_size`.",
    ],
    answer=acknowledged_means_majority,
    why="It is what every election relies on: the winner has asked a majority, and two majorities"
    " share a server. An invariant that nothing breaks is worth little, so the check runs"
    " it on a leader that counts itself without being a voter, too.",
)
def a_majority_has_it(answer) -> Feedback:
    """Say what an acknowledgement promises.

    Write `promise(s, c)`: every acknowledged value is in the logs of more than half of the servers
    1 to `c.init_cluster_size`. `holds_value(s, server, value)` looks into a log. The check compares
    your function with the worked answer in every reachable state of three servers in one epoch,
    and of two with a leader that counts itself though it is not a voter.
    """
    broken = {"max_remove_reconfigs": 1, "removed_leader_counts_itself": True}
    for constants in ({**TWO_SERVERS, **broken}, THREE_SERVERS):
        feedback = same_invariant(
            spec, answer, acknowledged_means_majority, **constants, max_epoch=1
        )
        if not feedback.passed:
            return feedback
    return right(f"{feedback.text} A leader that counts itself wrongly breaks it; yours noticed.")
