"""KRaft with pre-vote (KIP-996): a server asks whether it would be elected, before it stands.

What it models: the quorum of Kafka's controllers as it runs since Kafka 4.0. A server that times
out does not raise its epoch; it asks the other voters first. A leader refuses, and so does a
follower that has fetched from its leader. So a server that was cut off for a while, and comes back,
does not depose a healthy leader. All else is as in `kraft.kip_853`, which is the protocol to read
first.

To read: `pre_vote.elections`, then the other modules of `kraft_spec.pre_vote`.

What breaks: nothing with the defaults. What pre-vote leaves open: a follower that has restarted and
not yet fetched grants pre-votes, so that a healthy leader can be deposed in 11 states (scenario
restart_window). Two constants take pre-vote away, or its decisive rule.

Left out: what `kraft.kip_853` leaves out.

Counts agree with TLC's on the original in every row of tests/golden/kip_996.json, and with the
defaults.

Source: Jack Vanlightly, https://github.com/Vanlightly/kafka-tlaplus, the modules in kraft/kip_996;
KIP-996, KIP-853, KIP-595.
"""

from typing import Any

from kraft_spec.actions import cluster as shared_cluster
from kraft_spec.actions import replication as shared
from kraft_spec.draw.choices import CHOICES
from kraft_spec.draw.events import declare_messages, server_events
from kraft_spec.draw.servers import Added, describe_servers
from kraft_spec.kip_853 import (
    DECISIONS,
    hosts_without_a_server,
    within_current_epoch,
    within_messages_in_flight,
)
from kraft_spec.pre_vote import cluster, elections, replication
from kraft_spec.pre_vote.model import *
from kraft_spec.pre_vote.properties import declare_liveness, declare_properties, declare_situations
from protocol_lab import *
from protocol_lab import NONE
from protocol_lab.drawing import Cluster, drawing_of


def describe_with_pre_vote(s: Any, c: Any) -> Cluster:
    """With what decides on a pre-vote, and the timeouts that need no reason."""
    limit = c.max_disruptive_election_triggers
    return describe_servers(
        s,
        c,
        Added(
            title="KRaft · KIP-996",
            crashes="max_perm_crashes",
            remarks={
                server: text
                for server in range(1, c.max_spawned_servers + 1)
                if (text := _remark(s, server))
            },
            counters=[("timeouts without a reason", s.aux_ctrs.disruptive_ctr, limit)],
        ),
    )


def _remark(s: Any, server: int) -> str:
    """Whether a follower has fetched, and which leader a prospective still knows."""
    if s.state[server] == "follower":
        return "has fetched" if s.has_fetch_success[server] else "has not fetched yet"
    if s.state[server] == "prospective" and s.leader[server] != NONE:
        return f"knows leader {s.leader[server]}"
    return ""


draw_with_pre_vote = drawing_of(describe_with_pre_vote)


ACTIONS = (  # in the order of the original's Next
    shared_cluster.start_new_server,
    cluster.change_network_connectivity,
    cluster.restart_with_state,
    cluster.crash_lose_state,
    cluster.accept_add_voter_request,
    cluster.accept_remove_voter_request,
    elections.voter_fetch_timeout,
    elections.voter_election_timeout,
    elections.resigned_election_timeout,
    elections.conclude_pre_vote,
    elections.become_leader,
    replication.handle_client_request,
    elections.check_quorum_resign,
    elections.handle_vote_request,
    elections.handle_vote_response,
    elections.accept_begin_quorum_request,
    replication.send_fetch_request,
    replication.handle_fetch_response,
    elections.resend_begin_quorum_epoch_request,
    shared.reject_fetch_request,
    shared.diverging_fetch_request,
    replication.accept_fetch_request,
)


def without_history(s: State, c: Constants):
    """The original's VIEW: not what was counted so far, nor which messages were processed."""
    s.net_messages_processed = Messages()
    s.net_connectivity_ctr = 0
    s.aux_ctrs = Counters()
    s.aux_disk_id_gen = 0


def within_pre_votes(s: State, c: Constants):
    """At most max_pre_votes timeouts have happened; counted with test_liveness."""
    if s.aux_ctrs.prevote_ctr > c.max_pre_votes:
        return "too many servers have timed out"
    return HOLDS


spec = Spec(
    "kraft.kip_996",
    State,
    Constants,
    __doc__,
    original="kraft_kip_996",
    tlc="kraft_spec.pre_vote.tlc",
    draw=draw_with_pre_vote,
    lifelines=(Server,),
    events=server_events,
    choices=CHOICES,
    configurations=CONFIGURATIONS,
    decisions=DECISIONS,
)
spec.init(init)
declare_messages(spec)
for action in ACTIONS:
    spec.action(action)
declare_properties(spec)
spec.view(without_history)
spec.symmetric(Value)
spec.symmetric(Host, among=hosts_without_a_server)
declare_liveness(spec)
declare_situations(spec)
spec.constraint(within_messages_in_flight)
spec.constraint(within_current_epoch)
spec.constraint(within_pre_votes)
