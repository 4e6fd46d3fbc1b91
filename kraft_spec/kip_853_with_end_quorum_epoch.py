"""KIP-853 with EndQuorumEpoch: a leader that resigns announces it, so that voters need not wait.

What it adds to `kraft.kip_853`: a leader that gives up, or that commits its own removal, sends an
EndQuorumEpoch request to the other voters of its configuration. A voter that receives it in time
holds an election at once. Without it a follower finds out by a fetch that is rejected or never
answered; that costs nothing but time, so the original leaves the message out.

A request of an earlier epoch is dropped: it must not make a server hold an election that has
already heard of a later leader. A request does not arrive if the link is down; a leader that
restarts, or loses its disk, does not send it.

What breaks: nothing that `kraft.kip_853` does not break.

Left out: what `kraft.kip_853` leaves out, apart from this request; the response, which Kafka needs
only for resending; and Kafka's order of successors, by which the follower with the longest log
holds an election at once and the others wait a little.

Source: Jack Vanlightly's README of kip_853 (https://github.com/Vanlightly/kafka-tlaplus,
kraft/kip_853/README.md), which describes it, and has no actions for it; KIP-595, "EndQuorumEpoch".
"""

from kraft_spec import model
from kraft_spec.actions.cluster import change_network_connectivity as change_as_published
from kraft_spec.actions.cluster import choosable_pairs
from kraft_spec.actions.cluster import crash_lose_state as crash_as_published
from kraft_spec.actions.elections import check_quorum_resign as resign_as_published
from kraft_spec.actions.elections import stand_for_election
from kraft_spec.actions.replication import Fetch
from kraft_spec.actions.replication import accept_fetch_request_from_voter as accept_as_published
from kraft_spec.actions.server_states import fail_pending_writes, maybe_transition
from kraft_spec.draw.additions import END_QUORUM, draw_with_end_quorum
from kraft_spec.draw.events import declare_messages
from kraft_spec.kip_853 import kip_853_spec
from kraft_spec.model import *
from protocol_lab import *


class EndQuorumEpochRequest(Struct):
    """A leader announces that it has resigned."""

    source: Server
    dest: Server
    epoch: Epoch


class State(model.State):
    """As in `kraft.kip_853`, with the announcements in flight."""

    end_quorum_requests: Bag(EndQuorumEpochRequest, "vote_slots")


EndQuorum = Member("end_quorum_requests")

# --- The announcement ----------------------------------------------------------------------------


def announce_resignation(s, server) -> None:
    """A leader that gives up announces it to the other voters of its configuration."""
    for peer in without_node(s.config[server].members, server):
        request = EndQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        if is_connected(s, server, peer):
            add_once(s.end_quorum_requests, request)


def check_quorum_resign(s: State, c: Constants, server: Server):
    """A leader from which no majority fetches any more gives up, and announces it."""
    reason = resign_as_published(s, c, server)
    if reason:
        return reason
    announce_resignation(s, server)
    return TAKEN


def accept_fetch_request_from_voter(s: State, c: Constants, message: Fetch):
    """As in `kraft.kip_853`; a leader that thereby commits its own removal announces that it
    resigns."""
    server = message.dest
    reason = accept_as_published(s, c, message)
    if reason:
        return reason
    if s.state[server] != "leader":
        announce_resignation(s, server)
    return TAKEN


def accept_end_quorum_epoch_request(s: State, c: Constants, message: EndQuorum):
    """A voter learns that the leader of its epoch, or a later one, has resigned: it is a candidate.

    An observer learns who the leader was; a request of an earlier epoch is dropped.
    """
    server, source = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    is_stale = message.epoch < s.current_epoch[server]
    may_stand = not is_stale and s.role[server] == "voter" and is_member(s, server, server)
    if may_stand and not c.test_liveness and message.epoch >= c.max_epoch:
        return "no later epoch is left (max_epoch)"
    if not is_stale:
        maybe_transition(s, c, server, source, message.epoch)
        s.fetch_state[server] = FetchState()
        fail_pending_writes(s, server)
    if may_stand and s.state[server] == "follower" and s.leader[server] == source:
        stand_for_election(s, c, server)
    take(s.end_quorum_requests, message)
    return TAKEN


# --- What is lost --------------------------------------------------------------------------------


def change_network_connectivity(s: State, c: Constants, down: Subset(choosable_pairs)):
    """As in `kraft.kip_853`; announcements are lost, too."""
    reason = change_as_published(s, c, down)
    if reason:
        return reason
    remove_across(s.end_quorum_requests, down)
    return TAKEN


def crash_lose_state(s: State, c: Constants, server: Server):
    """As in `kraft.kip_853`; announcements from and to the server are lost, too."""
    reason = crash_as_published(s, c, server)
    if reason:
        return reason
    remove_across(s.end_quorum_requests, pairs_of(c, server))
    return TAKEN


# --- Properties ----------------------------------------------------------------------------------


def who_ended_an_epoch_does_not_lead_it(s: State, c: Constants):
    """No server leads in an epoch whose end it has announced."""
    for request in s.end_quorum_requests:
        leader = request.source
        if s.state[leader] == "leader" and s.current_epoch[leader] == request.epoch:
            return "a server leads in an epoch whose end it has announced"
    return HOLDS


def a_successor_leads(s: State, c: Constants) -> bool:
    """A server leads in the next epoch while the last leader's announcement is still in flight."""
    return any(
        s.state[server] == "leader" and s.current_epoch[server] == request.epoch + 1
        for request in s.end_quorum_requests
        for server in range(1, c.max_spawned_servers + 1)
    )


def within_messages_in_flight(s: State, c: Constants):
    """At most max_messages_in_flight messages are in flight."""
    if messages_in_flight(s) + len(s.end_quorum_requests) > c.max_messages_in_flight:
        return "too many messages are in flight"
    return HOLDS


CONFIGURATIONS = (
    Configuration("default", "two voters, one election and one value", "23,520 distinct states"),
)


spec = kip_853_spec(
    "kip_853_with_end_quorum_epoch",
    __doc__,
    state=State,
    draw=draw_with_end_quorum,
    configurations=CONFIGURATIONS,
)
spec.action(check_quorum_resign)
spec.action(accept_fetch_request_from_voter)
spec.action(change_network_connectivity)
spec.action(crash_lose_state)
spec.action(accept_end_quorum_epoch_request)
spec.invariant(who_ended_an_epoch_does_not_lead_it)
spec.situation(a_successor_leads, expected=True)
spec.constraint(within_messages_in_flight)
spec.weakly_fair(check_quorum_resign, each="server")
spec.weakly_fair(
    accept_fetch_request_from_voter,
    accept_end_quorum_epoch_request,
    each=("message.dest", "message.source"),
)
declare_messages(spec, END_QUORUM)
