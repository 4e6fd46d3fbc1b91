"""KRaft, Kafka's Raft that pulls, with the reconfiguration of KIP-853.

What it models: the controllers' quorum of Kafka. Servers elect a leader for an epoch; the leader
appends, and its followers fetch one entry at a time, which tells the leader how far they are.
Voters are added and removed one at a time, by commands in the log. Servers restart with their
disks or lose them, links go down, and messages arrive in any order.

Where to read what:
- types: the state, and the messages; constants: the sizes, bounds and variants
- network: links and messages; transitions: what a server becomes; logs: offsets, configurations
- failures, elections, committing, fetching, reconfiguration: the actions
- membership_requests, resignation, identity: what the original's prose describes and its actions
  leave out; there if membership_requests, end_quorum_epoch or max_empty_restarts are set
- properties: what is claimed; liveness: what must happen in the end, and what is fair

What breaks: with the defaults, and as far as was explored, nothing. With bounds beyond those that
the original was checked with, some of it does: an epoch goes back with max_epoch=3, and an
observer votes twice in one epoch. Each such defect has a constant `..._fixed`, and each broken
variant for teaching a constant of its own; the scenarios show them.

Left out: the answers to BeginQuorumEpoch and EndQuorumEpoch, snapshots, the cache of epochs,
batches, and time.

Counts agree with TLC's on the original, without a view and with it. The original's shipped
configuration has one (VIEW, here `without_history`), which hides the counters: of two states that
differ only there just one goes on, so that its counts depend on the order of the search.

Source: kraft_kip_853 by Jack Vanlightly, in the Kafka specs; KIP-853, KIP-595.
"""

from kraft_spec.as_printed import PRINTED
from kraft_spec.committing import client_request
from kraft_spec.constants import Constants
from kraft_spec.draw.events import declare_messages, server_events
from kraft_spec.draw.servers import draw_servers
from kraft_spec.draw.wording import diagram_administrator
from kraft_spec.elections import (
    accept_begin_quorum_request,
    become_leader,
    election_witnesses,
    handle_vote_request,
    handle_vote_response,
    resend_begin_quorum_epoch_request,
    send_request_vote,
)
from kraft_spec.failures import (
    check_quorum_resign,
    crash_lose_state,
    fetch_timeout_witnesses,
    observer_fetch_timeout,
    restart_with_state,
)
from kraft_spec.fetching import (
    accept_fetch_request_from_observer,
    accept_fetch_request_from_voter,
    diverging_fetch_request,
    handle_fetch_response,
    position_witnesses,
    reject_fetch_request,
    send_fetch_request,
)
from kraft_spec.identity import declare_identity
from kraft_spec.liveness import declare_liveness
from kraft_spec.membership_requests import declare_membership_requests
from kraft_spec.network import (
    change_network_connectivity,
    connectivity_witnesses,
    messages_in_flight,
)
from kraft_spec.properties import (
    a_later_leader,
    a_value_is_acknowledged,
    acked_value_not_lost,
    epoch_monotone,
    hwm_monotone,
    hwm_within_log,
    leader_has_all_acked_values,
    logs_diverge,
    never_two_leaders_in_same_epoch,
    no_illegal_state,
    no_log_divergence,
    one_vote_in_an_epoch,
    states_match_roles,
    valid_votes_recv,
)
from kraft_spec.reconfiguration import (
    accept_add_voter_request,
    accept_remove_voter_request,
    hosts_without_a_server,
    start_new_server,
)
from kraft_spec.resignation import declare_resignation
from kraft_spec.situations import declare_situations
from kraft_spec.types import Host, Server, State, Value, init
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
)
declare_messages(spec)

spec.init(init)

# In the order of the original's Next.
spec.action(start_new_server)
spec.action(change_network_connectivity, witnesses=connectivity_witnesses)
spec.action(restart_with_state)
spec.action(crash_lose_state)
spec.action(accept_add_voter_request, where="not membership_requests")
spec.action(accept_remove_voter_request, where="not membership_requests")
spec.action(send_request_vote, witnesses=election_witnesses)
spec.action(become_leader)
spec.action(client_request)
spec.action(check_quorum_resign)
spec.action(observer_fetch_timeout, witnesses=fetch_timeout_witnesses)
spec.action(handle_vote_request)
spec.action(handle_vote_response)
spec.action(accept_begin_quorum_request)
spec.action(send_fetch_request)
spec.action(handle_fetch_response)
spec.action(resend_begin_quorum_epoch_request)
spec.action(reject_fetch_request)
spec.action(diverging_fetch_request)
spec.action(accept_fetch_request_from_voter, witnesses=position_witnesses)
spec.action(accept_fetch_request_from_observer, witnesses=position_witnesses)

spec.invariant(leader_has_all_acked_values)
spec.invariant(acked_value_not_lost)
spec.invariant(no_log_divergence)
spec.invariant(never_two_leaders_in_same_epoch)
spec.invariant(no_illegal_state)
spec.invariant(states_match_roles)
spec.invariant(valid_votes_recv)
spec.invariant(hwm_within_log, by_default=False)
spec.step_invariant(epoch_monotone, by_default=False)
spec.step_invariant(one_vote_in_an_epoch, by_default=False)
spec.step_invariant(hwm_monotone, by_default=False)


@spec.view
def without_history(s: State, c: Constants):
    """The original's VIEW: not what was counted so far, nor which messages were processed."""
    s.net_messages_processed = 0
    s.net_connectivity_ctr = 0
    s.aux_ctrs = 0
    s.aux_disk_id_gen = 0


spec.symmetric(Value)
spec.symmetric(Host, among=hosts_without_a_server)  # servers count up, and are not alike

declare_liveness(spec)

declare_membership_requests(spec)
declare_resignation(spec)
declare_identity(spec)
declare_situations(spec)

spec.sometimes(a_value_is_acknowledged)
spec.sometimes(a_later_leader)
spec.sometimes(logs_diverge)


@spec.constraint
def within_messages_in_flight(s: State, c: Constants):
    """Not more messages are under way than max_messages_in_flight."""
    if messages_in_flight(s, c) > c.max_messages_in_flight:
        return "too many messages are under way"
    return HOLDS


@spec.constraint
def within_current_epoch(s: State, c: Constants):
    """No server is in a later epoch than max_current_epoch."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.current_epoch[server] > c.max_current_epoch:
            return "a server is in too late an epoch"
    return HOLDS
