"""The exercise of notebooks/kraft/13_what_is_each_rule_for: fix a defect of the original."""

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
from kraft_spec.model import FetchState, State
from kraft_spec.situations import a_later_leader
from protocol_lab import *
from protocol_lab.model.spec import Situation
from protocol_lab.teaching.exercises import Feedback, exercise, repair

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
