"""KIP-279: a new follower looks for the last record that it has in common with the leader.

What it models: Kafka 2.0. A replica that meets a leader in a new leader epoch compares epochs with
it, backwards from the end of its log, until they agree. The model compares the records themselves,
in one step.

What breaks: the meeting is not fenced. A replica may act on an old request and compare with
a leader that is in another epoch by now, or is none yet; and a leader counts followers that are in
another epoch when it commits. With three replicas both weak_isr and strong_isr fail, with two they
hold in every configuration that was explored. KIP-320 adds the leader epoch (`kip_320`).

Left out: see `replication_core`.

Source: Kip279 in the Kafka replication specs.
"""

from kafka_spec.draw.events import CONTROLLER, replication_events
from kafka_spec.draw.replication import draw_replication
from kafka_spec.finite_replicated_log import has_same_record, is_empty
from kafka_spec.replication_core import (
    Constants,
    Replica,
    Request,
    State,
    become_follower_and_truncate_to,
    become_leader,
    controller_elect_leader,
    controller_shrink_isr,
    follower_replicate,
    init,
    is_for_another,
    is_news,
    leader_expand_isr,
    leader_inc_high_watermark,
    leader_shrink_isr,
    leader_write,
)
from kafka_spec.replication_liveness import declare_liveness
from kafka_spec.replication_properties import declare_properties
from kafka_spec.replication_situations import declare_situations
from protocol_lab import TAKEN, Spec

# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_kip_279(s: State, c: Constants, follower: Replica, request: Request):
    """A replica picks a request that makes another the leader, and looks for what they share.

    It compares with the leader's log as it is now; whether the leader leads yet is not asked.
    """
    if not is_for_another(request, follower):
        return "the request does not make another replica the leader"
    if not is_news(s, follower, request):
        return "the replica knows this epoch or a later one"
    end_offset = first_non_matching_offset_from_tail(s, request.leader, follower)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


def first_non_matching_offset_from_tail(s, leader, follower) -> int:
    """One past the last offset at which both logs hold the same record; 0 if there is none."""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    offset = min(mine.end_offset, theirs.end_offset)
    while offset > 0 and not has_same_record(mine, theirs, offset - 1):
        offset -= 1
    return offset


def become_follower_witnesses(s, c, follower, request) -> int:
    """The original says "the log is empty, or ...", and both are true of an empty log."""
    return 2 if is_empty(s.replica_log[follower]) else 1


# --- The protocol ----------------------------------------------------------------------------

spec = Spec(
    "kafka.kip_279",
    State,
    Constants,
    __doc__,
    draw=draw_replication,
    original="Kip279",
    lifelines=(CONTROLLER, Replica),
    events=replication_events,
)
spec.init(init)
spec.symmetric(Replica)
spec.action(controller_elect_leader)
spec.action(controller_shrink_isr)
spec.action(become_leader)
spec.action(leader_expand_isr)
spec.action(leader_shrink_isr)
spec.action(leader_write)
spec.action(leader_inc_high_watermark)
spec.action(become_follower_truncate_kip_279, witnesses=become_follower_witnesses)
spec.action(follower_replicate)
spec.strongly_fair(leader_inc_high_watermark, leader_expand_isr, leader_write)
spec.weakly_fair(become_follower_truncate_kip_279, become_leader)
declare_properties(spec)
declare_liveness(spec)
declare_situations(spec)
