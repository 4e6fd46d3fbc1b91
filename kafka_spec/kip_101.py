"""KIP-101: a new follower asks the leader where the follower's last epoch ends.

What it models: Kafka 0.11. Records carry the epoch of the leader that wrote them, and a replica
that meets a leader in a new leader epoch asks it: where in your log does the epoch of my last
record end? There it cuts its log off, instead of at its high watermark.

What breaks: the leader may never have heard of that epoch. Then the follower falls back to its
high watermark, and loses committed records as before: after two quick elections, with two
replicas and three leader epochs (weak_isr and strong_isr). KIP-279 replaces the question
(`kip_279`). Also, the end that the leader names may be beyond the follower's own end; the model
then refuses for good, where Kafka keeps the whole log (truncation_never_blocked, only when named).

Left out: see `replication_core`.

Source: Kip101 in the Kafka replication specs.
"""

from kafka_spec.draw.events import CONTROLLER, replication_events
from kafka_spec.draw.replication import draw_replication
from kafka_spec.finite_replicated_log import is_empty
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
from protocol_lab import HOLDS, TAKEN, Spec

# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_kip_101(s: State, c: Constants, follower: Replica, request: Request):
    """A replica picks a request that makes another the leader, and asks where its epoch ends.

    It is answered from the leader's log as it is now; whether the leader leads yet is not asked.
    """
    if not is_for_another(request, follower):
        return "the request does not make another replica the leader"
    if not is_news(s, follower, request):
        return "the replica knows this epoch or a later one"
    if is_answer_beyond_end(s, request.leader, follower):
        return "the leader's answer is beyond the end of the follower's log"
    end_offset = lookup_offset_for_epoch(s, request.leader, follower)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


def lookup_offset_for_epoch(s, leader, follower) -> int:
    """Where the epoch of the follower's last record ends in the leader's log.

    The leader's end if its last record is of that epoch, else the offset of its first record of a
    larger one. If there is none, or the leader has no record, the follower's high watermark.
    """
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    if is_empty(mine):
        return 0
    if is_empty(theirs):
        return s.replica_state[follower].hw
    epoch = mine.records[mine.end_offset - 1].epoch
    if theirs.records[theirs.end_offset - 1].epoch == epoch:
        return theirs.end_offset
    for offset in range(theirs.end_offset):
        if theirs.records[offset].epoch > epoch:
            return offset
    return s.replica_state[follower].hw


def is_answer_beyond_end(s, leader, follower) -> bool:
    """Does the leader name an offset that the follower's log does not reach?"""
    return lookup_offset_for_epoch(s, leader, follower) > s.replica_log[follower].end_offset


# --- The protocol ----------------------------------------------------------------------------

spec = Spec(
    "kafka.kip_101",
    State,
    Constants,
    __doc__,
    draw=draw_replication,
    original="Kip101",
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
spec.action(become_follower_truncate_kip_101)
spec.action(follower_replicate)
spec.strongly_fair(leader_inc_high_watermark, leader_expand_isr, leader_write)
spec.weakly_fair(become_follower_truncate_kip_101, become_leader)
declare_properties(spec)
declare_liveness(spec)
declare_situations(spec)


@spec.invariant(by_default=False)
def truncation_never_blocked(s: State, c: Constants):
    """Whoever may become a follower can. False, and not in the original.

    A follower that is shorter than its leader, in the same last epoch, is told the leader's end.
    """
    for k in range(s.leader_and_isr_requests.length):
        request = s.leader_and_isr_requests.items[k]
        for follower in range(1, c.replicas + 1):
            if (
                is_for_another(request, follower)
                and is_news(s, follower, request)
                and is_answer_beyond_end(s, request.leader, follower)
            ):
                return "a replica can't become a follower: the leader's answer is beyond its end"
    return HOLDS
