"""What the state and the messages have in addition to those of `kraft_spec.model`.

The original derives who is a voter: whoever has its disk and is in its own configuration. Here that
is the field `role`, as in `kraft.kip_853`; `voters_are_members` claims that it is the same.
"""

from kraft_spec import model
from kraft_spec.constants import Constants
from kraft_spec.model import FetchState, Pair, Server, pair, remove_across
from protocol_lab import *

Announcement = Named("first", "again", "addition")


class RequestVoteRequest(model.RequestVoteRequest):
    """A candidate asks for a vote; a prospective asks whether it would get one."""

    pre_vote: Bool


class RequestVoteResponse(model.RequestVoteResponse):
    """The vote, or what it would be."""

    pre_vote: Bool


class BeginQuorumEpochRequest(model.BeginQuorumEpochRequest):
    """A new leader announces itself, or does so again, or to a server that it has added.

    The original tells the first two apart by a field `resend`, which the third lacks.
    """

    kind: Announcement


class Messages(model.Messages):
    """Messages of all kinds."""

    vote_requests: Bag(RequestVoteRequest, "vote_slots")
    vote_responses: Bag(RequestVoteResponse, "vote_slots")
    begin_quorum_requests: Bag(BeginQuorumEpochRequest, "vote_slots")


class Counters(model.Counters):
    """Those of `kraft.kip_853`, and timeouts; prevote_ctr counts with test_liveness only."""

    prevote_ctr: Int8
    disruptive_ctr: Int8


class State(model.State):
    """As in `kraft.kip_853`, and whether a server has heard from its leader."""

    has_fetch_success: Per(Server, Bool)  # of the original's fetch_state
    aux_ctrs: Counters
    net_messages: Messages
    net_messages_processed: Messages


def init(s: State, c: Constants):
    """Server 1 leads in epoch 1, all others follow, and all have fetched, even the leader."""
    model.init(s, c)
    for server in range(1, c.init_cluster_size + 1):
        s.has_fetch_success[server] = True
    return TAKEN


def forget_fetches(s, server) -> None:
    """The server waits for no answer, and has not heard from a leader since now."""
    s.fetch_state[server] = FetchState()
    s.has_fetch_success[server] = False


# --- Links -------------------------------------------------------------------------------------
# No server is connected to itself, and what is lost in flight is forgotten: it may be sent again.


def is_up(links: NodeSet(Pair), one, other) -> bool:
    """Is the link between the two among these? A server has none to itself."""
    return one != other and pair(one, other) in links


def lose_all_across(s, links: NodeSet(Pair)) -> None:
    """All messages that are in flight across one of these links are lost."""
    in_flight = s.net_messages
    remove_across(in_flight.vote_requests, links)
    remove_across(in_flight.vote_responses, links)
    remove_across(in_flight.begin_quorum_requests, links)
    remove_across(in_flight.fetch_requests, links)
    remove_across(in_flight.fetch_responses, links)
