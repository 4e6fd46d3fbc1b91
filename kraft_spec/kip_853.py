"""KRaft, Kafka's Raft that pulls, with the reconfiguration of KIP-853.

What it models: the quorum of Kafka's controllers. Servers elect a leader for an epoch; the leader
appends, and its followers fetch one entry at a time, which tells the leader how far they are.
Voters are added and removed one at a time, by commands in the log. Servers restart with their
disks or lose them, links go down, and messages arrive in any order.

To read: `model` (state and messages), `actions`, then `properties` and `liveness`. The page of
rules in `kraft_spec` says who may do what, and which function decides it.

What breaks: with the defaults, nothing. Within the bounds that the original ships with an observer
votes twice, so that one epoch has two leaders (scenario two_leaders_in_shipped_bounds); without a
bound on the epoch, as in its configuration for liveness, an epoch goes back. A constant fixes each
defect, and others break a rule on purpose; all are off by default (`constants`), and the scenarios
show them.

Left out: EndQuorumEpoch (`kraft.kip_853_with_end_quorum_epoch`), the requests by which voters are
added and removed and the answers to them (`kraft.kip_853_with_requests`), and pre-vote
(`kraft.kip_996`). Also the response to BeginQuorumEpoch, a leader's wait until a new voter has
caught up, the voters' addresses (UpdateVoter), snapshots, the cache of epochs, batches, and time.

The configuration that comes with the original has a VIEW, here `without_history`: it hides the
counters and the messages that were processed. Of states that differ in nothing else a search
expands only the first that it finds. But guards read what is hidden, so states may be missed, and
the counts depend on the order of the search. With the view and without it they agree with TLC's on
the original.

Source: Jack Vanlightly, https://github.com/Vanlightly/kafka-tlaplus, the modules in kraft/kip_853;
KIP-853, KIP-595.
"""

from collections.abc import Callable, Iterable

from kraft_spec.actions import cluster, elections, replication
from kraft_spec.constants import CONFIGURATIONS, Constants
from kraft_spec.draw.choices import CHOICES
from kraft_spec.draw.events import declare_messages, server_events
from kraft_spec.draw.servers import draw_servers
from kraft_spec.liveness import declare_liveness
from kraft_spec.model import *
from kraft_spec.properties import declare_properties
from kraft_spec.situations import declare_situations
from protocol_lab import *

ACTIONS = (  # in the order of the original's Next
    cluster.start_new_server,
    cluster.change_network_connectivity,
    cluster.restart_with_state,
    cluster.crash_lose_state,
    cluster.accept_add_voter_request,
    cluster.accept_remove_voter_request,
    elections.send_request_vote,
    elections.become_leader,
    replication.client_request,
    elections.check_quorum_resign,
    elections.observer_fetch_timeout,
    elections.handle_vote_request,
    elections.handle_vote_response,
    elections.accept_begin_quorum_request,
    replication.send_fetch_request,
    replication.handle_fetch_response,
    elections.resend_begin_quorum_epoch_request,
    replication.reject_fetch_request,
    replication.diverging_fetch_request,
    replication.accept_fetch_request_from_voter,
    replication.accept_fetch_request_from_observer,
)

DECISIONS = (
    "start_new_server",
    "change_network_connectivity",
    "restart_with_state",
    "restart_without_state",
    "crash_lose_state",
    "accept_add_voter_request",
    "accept_remove_voter_request",
    "send_join_request",
    "send_remove_request",
    "send_request_vote",
    "voter_fetch_timeout",
    "voter_election_timeout",
    "observer_fetch_timeout",
    "check_quorum_resign",
)
"""The actions of an administrator, and of what happens to servers: crashes, links, timeouts."""


def hosts_without_a_server(c) -> NodeSet(Host):
    """The hosts on which no server runs at the start; they are interchangeable."""
    return nodes_up_to(c.hosts) & ~nodes_up_to(c.init_cluster_size)


def without_history(s: State, c: Constants):
    """The original's VIEW: not what was counted so far, nor which messages were processed."""
    s.net_messages_processed = Messages()
    s.net_connectivity_ctr = 0
    s.aux_ctrs.crash_ctr = 0
    s.aux_ctrs.restart_ctr = 0
    s.aux_ctrs.add_reconfig_ctr = 0
    s.aux_ctrs.remove_reconfig_ctr = 0
    s.aux_disk_id_gen = 0


def within_messages_in_flight(s: State, c: Constants):
    """At most max_messages_in_flight messages are in flight."""
    if messages_in_flight(s) > c.max_messages_in_flight:
        return "too many messages are in flight"
    return HOLDS


def within_current_epoch(s: State, c: Constants):
    """No server is in a later epoch than max_current_epoch."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.current_epoch[server] > c.max_current_epoch:
            return "a server is in too late an epoch"
    return HOLDS


def kip_853_spec(
    name: str,
    meaning: str | None,
    *,
    state: type[Struct] = State,
    constants: type = Constants,
    actions: Iterable[Callable[..., str]] = ACTIONS,
    draw: Callable[..., str] = draw_servers,
    lifelines: tuple[str | Node, ...] = (Server,),
    original: str = "",
    tlc: str = "",
    configurations: tuple[Configuration, ...] = (),
) -> Spec:
    """The protocol of KIP-853 under this name, for a variant to add to.

    A variant registers its own actions and properties. An action under a name that is here replaces
    the one that is here.
    """
    spec = Spec(
        f"kraft.{name}",
        state,
        constants,
        meaning,
        original=original,
        tlc=tlc,
        draw=draw,
        lifelines=lifelines,
        events=server_events,
        choices=CHOICES,
        configurations=configurations,
        decisions=DECISIONS,
    )
    spec.init(init)
    declare_messages(spec)
    for action in actions:
        spec.action(action)
    declare_properties(spec)
    spec.view(without_history)
    spec.symmetric(Value)
    spec.symmetric(Host, among=hosts_without_a_server)  # but not servers: they count up
    declare_liveness(spec)
    declare_situations(spec)
    spec.constraint(within_messages_in_flight)
    spec.constraint(within_current_epoch)
    return spec


spec = kip_853_spec(
    "kip_853",
    __doc__,
    original="kraft_kip_853",
    tlc="kraft_spec.tlc",
    configurations=CONFIGURATIONS,
)
