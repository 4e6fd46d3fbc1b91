"""KRaft, Kafka's Raft that pulls, with the reconfiguration of KIP-853.

What it models: the quorum of Kafka's controllers. Servers elect a leader for an epoch; the leader
appends, and its followers fetch one entry at a time, which tells the leader how far they are.
Voters are added and removed one at a time, by commands in the log. Servers restart with their
disks or lose them, links go down, and messages arrive in any order.

To read: model (state and messages), then the actions below in the modules that have them, then
properties and liveness.

What breaks: with the defaults, nothing; with three servers, nothing that was found. With bounds
beyond those that the original was checked with, an epoch goes back (max_epoch=3), and an observer
votes twice in one epoch. The defects, what mends them, and rules to break on purpose are
extensions, off by default (`kraft_spec.extensions`); the scenarios show them.

Left out: the response to BeginQuorumEpoch, EndQuorumEpoch, snapshots, the cache of epochs, batches,
and time.

Counts agree with TLC's on the original, without a view and with it. The configuration that comes
with the original has one (VIEW, here `without_history`), which hides the counters: of two states
that differ only there just one is expanded, so that its counts depend on the order of the search.

Source: Jack Vanlightly, https://github.com/Vanlightly/kafka-tlaplus, the modules in kraft/kip_853;
KIP-853, KIP-595.
"""

from kraft_spec import properties
from kraft_spec.actions import (
    elections,
    failures,
    high_watermark,
    network,
    reconfiguration,
    replication,
)
from kraft_spec.actions.network import messages_in_flight
from kraft_spec.draw.events import declare_messages, server_events
from kraft_spec.draw.servers import draw_servers
from kraft_spec.draw.wording import diagram_administrator
from kraft_spec.extensions.registration import declare_extensions
from kraft_spec.liveness import declare_liveness
from kraft_spec.model.constants import CONFIGURATIONS, Constants
from kraft_spec.model.names import Host, Server, Value
from kraft_spec.model.state import State, init
from kraft_spec.situations import declare_situations
from kraft_spec.tlc import multiplicity
from kraft_spec.tlc.variables import PRINTED
from protocol_lab import HOLDS, Spec

spec = Spec(
    "kraft.kip_853",
    State,
    Constants,
    __doc__,
    original="kraft_kip_853",
    draw=draw_servers,
    lifelines=(Server, diagram_administrator),
    events=server_events,
    printed=PRINTED,
    configurations=CONFIGURATIONS,
)
spec.init(init)
declare_messages(spec)

# In the order of the original's Next.
spec.action(reconfiguration.start_new_server)
spec.action(network.change_network_connectivity, multiplicity=multiplicity.of_connectivity)
spec.action(failures.restart_with_state)
spec.action(failures.crash_lose_state)
spec.action(reconfiguration.accept_add_voter_request, where="not membership_requests")
spec.action(reconfiguration.accept_remove_voter_request, where="not membership_requests")
spec.action(elections.send_request_vote, multiplicity=multiplicity.of_election)
spec.action(elections.become_leader)
spec.action(high_watermark.client_request)
spec.action(failures.check_quorum_resign)
spec.action(failures.observer_fetch_timeout, multiplicity=multiplicity.of_fetch_timeout)
spec.action(elections.handle_vote_request)
spec.action(elections.handle_vote_response)
spec.action(elections.accept_begin_quorum_request)
spec.action(replication.send_fetch_request)
spec.action(replication.handle_fetch_response)
spec.action(elections.resend_begin_quorum_epoch_request)
spec.action(replication.reject_fetch_request)
spec.action(replication.diverging_fetch_request)
spec.action(replication.accept_fetch_request_from_voter, multiplicity=multiplicity.of_position)
spec.action(replication.accept_fetch_request_from_observer, multiplicity=multiplicity.of_position)

spec.invariant(properties.leader_has_all_acked_values)
spec.invariant(properties.acked_value_not_lost)
spec.invariant(properties.no_log_divergence)
spec.invariant(properties.never_two_leaders_in_same_epoch)
spec.invariant(properties.no_illegal_state)
spec.invariant(properties.states_match_roles)
spec.invariant(properties.valid_votes_recv)


@spec.view
def without_history(s: State, c: Constants):
    """The original's VIEW: not what was counted so far, nor which messages were processed."""
    s.net_messages_processed = 0
    s.net_connectivity_ctr = 0
    s.aux_ctrs = 0
    s.aux_disk_id_gen = 0


spec.symmetric(Value)
spec.symmetric(Host, among=reconfiguration.hosts_without_a_server)  # but not servers: they count up

declare_liveness(spec)
declare_situations(spec)
declare_extensions(spec)

spec.sometimes(properties.a_value_is_acknowledged)
spec.sometimes(properties.a_later_leader)
spec.sometimes(properties.logs_diverge)


@spec.constraint
def within_messages_in_flight(s: State, c: Constants):
    """At most max_messages_in_flight messages are in flight."""
    if messages_in_flight(s, c) > c.max_messages_in_flight:
        return "too many messages are in flight"
    return HOLDS


@spec.constraint
def within_current_epoch(s: State, c: Constants):
    """No server is in a later epoch than max_current_epoch."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.current_epoch[server] > c.max_current_epoch:
            return "a server is in too late an epoch"
    return HOLDS
