"""An addition: a leader that resigns announces it, so that voters need not wait for a timeout.

With end_quorum_epoch a leader that gives up, or that commits its own removal, sends an
EndQuorumEpoch request to the other voters of its configuration. A voter that receives it in time
holds an election at once. Without it a follower finds out by a fetch that is rejected or never
answered; that costs nothing but time, so the original leaves the message out.

A request of an earlier epoch is dropped: it must not make a server hold an election that has
already heard of a later leader. A request does not arrive if the link is down; a leader that
restarts, or loses its disk, does not send it.

Left out: the response, which Kafka needs only for resending; and Kafka's order of successors, by
which the follower with the longest log holds an election at once and the others wait a little.

Source: Jack Vanlightly's README of kip_853 (https://github.com/Vanlightly/kafka-tlaplus,
kraft/kip_853/README.md); KIP-595, "EndQuorumEpoch".
"""

from kraft_spec.actions.elections import stand_for_election
from kraft_spec.actions.network import is_receivable
from kraft_spec.actions.server_states import apply_state, fail_pending_writes, maybe_transition
from kraft_spec.model.constants import Constants
from kraft_spec.model.names import FOLLOWER, LEADER, VOTER
from kraft_spec.model.state import State, is_member
from protocol_lab import HOLDS, TAKEN, Member, Spec, erase, take

EndQuorum = Member("end_quorum_requests")


def accept_end_quorum_epoch_request(s: State, c: Constants, message: EndQuorum):
    """A voter learns that the leader of its epoch, or a later one, has resigned: it is a candidate.

    An observer learns who the leader was; a request of an earlier epoch is dropped.
    """
    server, source = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    is_stale = message.epoch < s.current_epoch[server]
    may_stand = not is_stale and s.role[server] == VOTER and is_member(s, server, server)
    if may_stand and not c.test_liveness and message.epoch >= c.max_epoch:
        return "no later epoch is left (max_epoch)"
    if not is_stale:
        apply_state(s, c, server, maybe_transition(s, c, server, source, message.epoch))
        erase(s.fetch_state, server)
        fail_pending_writes(s, server)
    if may_stand and s.state[server] == FOLLOWER and s.leader[server] == source:
        stand_for_election(s, c, server)
    take(s.end_quorum_requests, message)
    return TAKEN


# --- Properties ----------------------------------------------------------------------------------


def who_ended_an_epoch_does_not_lead_it(s: State, c: Constants):
    """No server leads in an epoch whose end it has announced."""
    requests = s.end_quorum_requests
    for k in range(requests.size):
        request = requests.items[k]
        leader = request.source
        if s.state[leader] == LEADER and s.current_epoch[leader] == request.epoch:
            return "a server leads in an epoch whose end it has announced"
    return HOLDS


def a_successor_leads(s: State, c: Constants):
    """A server leads in the next epoch while the last leader's announcement is still in flight."""
    requests = s.end_quorum_requests
    for k in range(requests.size):
        for server in range(1, c.max_spawned_servers + 1):
            epoch = s.current_epoch[server]
            if s.state[server] == LEADER and epoch == requests.items[k].epoch + 1:
                return HOLDS
    return "no server leads while an announcement of the last leader is in flight"


def declare_resignation(spec: Spec) -> None:
    """Register the action and the properties that exist with end_quorum_epoch."""
    where = "end_quorum_epoch"
    spec.action(accept_end_quorum_epoch_request, where=where)
    spec.invariant(who_ended_an_epoch_does_not_lead_it, where=where)
    spec.sometimes(a_successor_leads, where=where)
    spec.weakly_fair(accept_end_quorum_epoch_request, each=("message.dest", "message.source"))
