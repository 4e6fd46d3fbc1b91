"""The exercise of notebooks/kraft/07_what_we_found: mend a defect of the original."""

from dataclasses import replace

from kraft_spec import kip_853
from kraft_spec.actions.elections import is_free_to_vote, is_log_good_enough, on_vote_request
from kraft_spec.actions.network import discard, is_receivable
from kraft_spec.actions.server_states import apply_state, fail_pending_writes, to_voted
from kraft_spec.challenges import TWO_SERVERS
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.messages import RequestVoteResponse
from kraft_spec.model.names import FENCED_LEADER_EPOCH, NO_ERROR, UNATTACHED
from kraft_spec.model.state import State
from kraft_spec.properties import a_later_leader
from protocol_lab import HOLDS, TAKEN, add_once, erase
from protocol_lab.spec.spec import Property
from protocol_lab.teaching.exercises import Feedback, exercise, repair

spec = kip_853.spec


def handle_vote_request(s, c, message):
    server, peer = message.dest, message.source
    if not is_receivable(s, message) or not is_connected(s, server, peer):
        return "the server is dead, or the link is down"
    state, epoch = s.state[server], s.current_epoch[server]
    is_stale = message.epoch < epoch
    new = on_vote_request(s, c, server, message)
    grants = (
        not is_stale
        and is_free_to_vote(s, new, server, peer)
        and is_log_good_enough(s, c, server, message)
    )
    if grants and new.state == UNATTACHED:
        new = to_voted(new, message.epoch, peer)
    apply_state(s, c, server, new)
    if new.state != state:
        erase(s.fetch_state, server)
        fail_pending_writes(s, server)
    answer(s, message, epoch, new.leader, grants, is_stale)
    return TAKEN


def answer(s, message, epoch, leader, grants, is_stale) -> None:
    """Send the answer to a request for a vote, in the place of the request."""
    response = RequestVoteResponse(
        source=message.dest,
        dest=message.source,
        epoch=epoch if is_stale else message.epoch,
        leader=leader,
        vote_granted=grants,
        error=FENCED_LEADER_EPOCH if is_stale else NO_ERROR,
    )
    messages, processed = s.net_messages, s.net_messages_processed
    discard(messages.vote_requests, processed.vote_requests, message)
    add_once(messages.vote_responses, response)


def a_vote_is_refused(s: State, c: Constants):
    """A candidate is told that its epoch is over."""
    responses = s.net_messages.vote_responses
    for position in range(responses.size):
        if responses.items[position].error == FENCED_LEADER_EPOCH:
            return HOLDS
    return "no candidate is told that its epoch is over"


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

    Mend `handle_vote_request`. The check explores two servers in three epochs, with at most three
    messages in flight: `epoch_monotone`, `one_vote_in_an_epoch` and the original's invariants must
    hold, somebody must still win an election, and stale requests must still be refused.
    """
    wanted = [Property(a_later_leader), Property(a_vote_is_refused)]
    model = replace(spec, sometimes_properties=wanted).bind(
        **TWO_SERVERS, max_epoch=3, max_values_per_epoch=0, max_messages_in_flight=3
    )
    checked = ["epoch_monotone", "one_vote_in_an_epoch", "never_two_leaders_in_same_epoch"]
    return repair(model, "handle_vote_request", answer, invariants=checked)
