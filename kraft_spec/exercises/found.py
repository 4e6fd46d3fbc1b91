"""The exercises of notebooks/kraft/13_what_is_each_rule_for: who has won, and a defect to fix."""

from dataclasses import replace

from kraft_spec import kip_853
from kraft_spec.actions.elections import answer_vote_request, is_free_to_vote, is_log_good_enough
from kraft_spec.actions.replication import why_not_answer
from kraft_spec.actions.server_states import (
    fail_pending_writes,
    transition_to_unattached,
    transition_to_voted,
)
from kraft_spec.challenges import TWO_SERVERS
from kraft_spec.constants import Constants
from kraft_spec.model import FetchState, Server, State
from kraft_spec.situations import a_later_leader
from protocol_lab import *
from protocol_lab.model.spec import Situation
from protocol_lab.teaching.exercises import *


def more_than_half(votes: NodeSet(Server), voters: NodeSet(Server)) -> bool:
    return is_subset(votes, voters) and 2 * len(votes) > len(voters)


@exercise(
    hints=[
        "Both are sets of servers: `len(votes)` counts, `for server in votes` goes through them,"
        " `server in voters` asks.",
        "Half of four is no majority: two candidates could have it at the same time.",
        "A vote may come from a server that is no voter in the candidate's configuration (any"
        " more). What is it worth?",
    ],
    answer=more_than_half,
    why="More than half, so that two majorities of the same voters share a server, which"
    " votes once in an epoch. The original asks for a subset of the voters: with a stranger among"
    " the votes there is no majority at all, even if the rest would do.",
)
def what_is_a_majority(answer) -> Feedback:
    """Who has won?

    Write `has_won(votes, voters)` for two sets of servers: true if the votes are a quorum of these
    voters, as the original defines it: a subset of the voters that is more than half of them. The
    check tries all sets of up to five servers.
    """
    expect_parameters(answer, "votes", "voters")
    groups = list(subsets(nodes_up_to(5)))
    for voters in groups[1:]:
        for votes in groups:
            if bool(answer(votes, voters)) != more_than_half(votes, voters):
                said = "won" if answer(votes, voters) else "lost"
                shown = [set(each) or "nobody" for each in (votes, voters)]
                return wrong(f"With the votes of {shown[0]} among {shown[1]} you say: {said}.")
    overlapping = all(
        len(one & other) > 0
        for voters in groups[1:]
        for one in groups[1:]
        for other in groups[1:]
        if more_than_half(one, voters) and more_than_half(other, voters)
    )
    return right(f"Any two quorums of the same voters have a server in common: {overlapping}.")


spec = kip_853.spec


def handle_vote_request(s, c, message):
    server, peer = message.dest, message.source
    reason = why_not_answer(s, message)
    if reason:
        return reason
    state, epoch = s.state[server], s.current_epoch[server]
    if message.epoch < epoch:
        answer_vote_request(s, message, epoch, False)
        return TAKEN
    if message.epoch > epoch:
        transition_to_unattached(s, c, server, message.epoch)
    grants = is_free_to_vote(s, server, peer) and is_log_good_enough(s, c, server, message)
    if grants and s.state[server] == "unattached":
        transition_to_voted(s, c, server, message.epoch, peer)
    if s.state[server] != state:
        s.fetch_state[server] = FetchState()
        fail_pending_writes(s, server)
    answer_vote_request(s, message, epoch, grants)
    return TAKEN


def a_vote_is_refused(s: State, c: Constants):
    """A candidate is told that its epoch is over."""
    return any(each.error == "fenced_leader_epoch" for each in s.net_messages.vote_responses)


@exercise(
    hints=[
        "`is_stale` says that the request is of an earlier epoch. What may such a request change at"
        " its receiver?",
        "Nothing. But it must be answered, so refusing the step does not help: the candidate has"
        " to learn the epoch.",
    ],
    answer=handle_vote_request,
    why="The reply refuses, and the new state was applied all the same. Vanlightly's later version"
    " of the specification, with pre-vote (KIP-996), applies it only where there is no error.",
)
def refuse_without_a_trace(answer) -> Feedback:
    """Refuse without a trace.

    Fix `handle_vote_request`. The check explores two servers in three epochs, with at most three
    messages in flight: `epoch_monotone`, `one_vote_in_an_epoch` and the original's invariants must
    hold, a server must still win an election, and stale requests must still be refused.
    """
    wanted = [Situation(a_later_leader, expected=True), Situation(a_vote_is_refused, expected=True)]
    model = replace(spec, situations=wanted).bind(
        **TWO_SERVERS, max_epoch=3, max_values_per_epoch=0, max_messages_in_flight=3
    )
    checked = ["epoch_monotone", "one_vote_in_an_epoch", "never_two_leaders_in_same_epoch"]
    return repair(model, "handle_vote_request", answer, invariants=checked)
