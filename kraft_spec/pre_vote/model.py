"""The constants of `kraft.kip_996`, and what its state and messages add to those of `kip_853`.

Left out are the constants that repair a defect which this original no longer has, and those of
links and crashes, which it counts in another way.

The original derives who is a voter: whoever has its disk and is in its own configuration. Here that
is the field `role`, as in `kraft.kip_853`; `voters_are_members` claims that it is the same.
"""

from typing import Annotated, NamedTuple

from kraft_spec import constants, model
from kraft_spec.model import *
from protocol_lab import *

# --- Constants ---------------------------------------------------------------------------------

LEFT_OUT = (
    "max_crashes",
    "max_disconnected_pairs",
    "stale_vote_request_fixed",
    "observer_vote_fixed",
    "single_voter_election_fixed",
    "single_voter_commit_fixed",
    "resigned_writes_fixed",
    "removal_guard_relaxed",
)


@extends(constants.Constants, without=LEFT_OUT)
class Constants(NamedTuple):
    """Those of `kraft.kip_853` that still mean something, and:"""

    init_cluster_size: Annotated[int, Limits(1, "max_cluster_size", "voters at the start")] = 3
    max_spawned_servers: Annotated[int, Limits("init_cluster_size", 7, "servers ever started")] = 3
    value: Annotated[int, Limits(0, 7, "values that clients write, each at most once")] = 1
    max_values_per_epoch: Annotated[int, Limits(0, 9, "values that a leader adds in an epoch")] = 0
    max_epoch: Annotated[
        int,
        Limits(
            0,
            99,
            "no candidate from this epoch on; not if test_liveness. A resigned server goes to the"
            " next epoch even so",
            may_be_none=True,
        ),
    ] = 2
    max_perm_crashes: Annotated[int, Limits(0, 9, "crashes of voters that lose their disks")] = 1
    max_disruptive_election_triggers: Annotated[
        int, Limits(0, 9, "timeouts and resignations that happen for no reason")
    ] = 0
    max_pre_votes: Annotated[
        int,
        Limits(
            0,
            99,
            "constraint: with test_liveness, look no further after more timeouts",
            may_be_none=True,
        ),
    ] = NO_LIMIT

    # --- Rules that can be broken on purpose ------------------------------------------------------

    # `elections.ask_for_votes`. Scenario: absent_server_deposes_the_leader.
    pre_vote_off: Annotated[
        int, flag("a timeout makes a candidate of the next epoch at once, as before Kafka 4.0")
    ] = 0

    # `elections.would_vote`. Scenario: contented_follower_grants.
    pre_vote_without_fetch_rule: Annotated[
        int, flag("a follower grants a pre-vote even if it has fetched from its leader")
    ] = 0

    # `elections.conclude_pre_vote`. Property: not_stuck_in_prospective.
    prospective_never_gives_up: Annotated[
        int, flag("a prospective concludes only with a majority, and has no way back")
    ] = 0


CONFIGURATIONS = (
    Configuration(
        "default",
        "three voters, one of which may lose its disk; no timeout without a reason",
        "493,282 distinct states",
    ),
    Configuration(
        "shipped",
        "failures and reconfigurations, as in kraft_kip_996.cfg, which comes with the original; it"
        " calls itself a safety model, and sets TestLiveness",
        "not explored to the end",
        {
            "test_liveness": True,
            "init_cluster_size": 3,
            "min_cluster_size": 3,
            "max_cluster_size": 5,
            "hosts": 5,
            "value": 3,
            "max_spawned_servers": 5,
            "max_epoch": 3,
            "max_values_per_epoch": 1,
            "max_restarts": 1,
            "max_perm_crashes": 1,
            "max_add_reconfigs": 2,
            "max_remove_reconfigs": 2,
            "max_connectivity_changes": 2,
            "max_disruptive_election_triggers": 2,
        },
    ),
)

# --- State -------------------------------------------------------------------------------------

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
