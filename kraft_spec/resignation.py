"""An addition: a leader that resigns tells the voters, who need not wait for a timeout then.

With end_quorum_epoch a leader that gives up, or whose own removal is committed, sends an
EndQuorumEpoch request to the other voters of its configuration. Who gets it in time stands for
election at once. Without it a follower finds out by a fetch that is refused, or that is never
answered; nothing is lost by that but time, so that the original leaves the message out.

A word of an earlier epoch is thrown away: whoever has heard of a later one must not be stirred up
by it. If links are down it does not arrive; a leader that restarts, or loses its disk, does not
send it.

Left out: the answer, which serves only to repeat the request; and Kafka's order of successors, by
which only the follower with the longest log stands at once and the others wait a little.

Source: the prose of kraft_kip_853; KIP-595, "EndQuorumEpoch".
"""

from kraft_spec.constants import Constants
from kraft_spec.elections import stand_for_election
from kraft_spec.network import is_receivable
from kraft_spec.transitions import apply_state, fail_pending_writes, maybe_transition
from kraft_spec.types import FOLLOWER, LEADER, VOTER, State, is_member
from protocol_lab import HOLDS, TAKEN, Member, Spec, erase, take

EndQuorum = Member("end_quorum_requests")


def accept_end_quorum_epoch_request(s: State, c: Constants, message: EndQuorum):
    """A voter hears that the leader of its epoch, or of a later one, has resigned, and stands.

    An observer learns who the leader was; a word of an earlier epoch is thrown away.
    """
    server, source = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    is_stale = message.epoch < s.current_epoch[server]
    may_stand = not is_stale and s.role[server] == VOTER and is_member(s, server, server)
    if may_stand and not c.test_liveness and message.epoch >= c.max_epoch:
        return "the last epoch is reached"
    if not is_stale:
        apply_state(s, c, server, maybe_transition(s, c, server, source, message.epoch))
        erase(s.fetch_state, server)
        fail_pending_writes(s, server)
    if may_stand and s.state[server] == FOLLOWER and s.leader[server] == source:
        stand_for_election(s, c, server)
    take(s.end_quorum_requests, message)
    return TAKEN


# --- What is claimed -----------------------------------------------------------------------------


def who_ended_an_epoch_does_not_lead_it(s: State, c: Constants):
    """Nobody leads in an epoch whose end it has announced."""
    words = s.end_quorum_requests
    for k in range(words.size):
        word = words.items[k]
        if s.state[word.source] == LEADER and s.current_epoch[word.source] == word.epoch:
            return "a server leads in an epoch whose end it has announced"
    return HOLDS


def a_successor_leads(s: State, c: Constants):
    """Somebody leads in the next epoch while the last leader's word is still under way."""
    words = s.end_quorum_requests
    for k in range(words.size):
        for server in range(1, c.max_spawned_servers + 1):
            epoch = s.current_epoch[server]
            if s.state[server] == LEADER and epoch == words.items[k].epoch + 1:
                return HOLDS
    return "nobody leads while a word of the last leader is under way"


def declare_resignation(spec: Spec) -> None:
    """Register the action and the claims, to be there with end_quorum_epoch."""
    where = "end_quorum_epoch"
    spec.action(accept_end_quorum_epoch_request, where=where)
    spec.invariant(who_ended_an_epoch_does_not_lead_it, where=where)
    spec.sometimes(a_successor_leads, where=where)
    spec.weakly_fair(accept_end_quorum_epoch_request, each=("message.dest", "message.source"))
