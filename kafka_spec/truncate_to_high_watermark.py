"""Before KIP-101: a new follower cuts its log off at its own high watermark.

What it models: Kafka before 0.11. Records carry no usable epoch. A replica that meets a leader in
a new leader epoch keeps what it knows to be committed, and fetches the rest again.

What breaks: a follower learns of the high watermark one fetch late. So it may cut off a record
that the leader has committed *because this very follower holds it*. If it is made the leader
before it has fetched the record again, the record is lost. Both weak_isr and strong_isr fail, with
two replicas and two leader epochs already. KIP-101 replaces the truncation offset (`kip_101`).

Left out: see `replication_core`.

Source: KafkaTruncateToHighWatermark in the Kafka replication specs.
"""

from kafka_spec.draw.events import CONTROLLER, replication_events
from kafka_spec.draw.replication import draw_replication
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


def become_follower_truncate_to_high_watermark(
    s: State, c: Constants, follower: Replica, request: Request
):
    """A replica picks a request that makes another the leader, and trusts its high watermark.

    What the leader holds, and whether it leads yet, is not asked.
    """
    if not is_for_another(request, follower):
        return "the request does not make another replica the leader"
    if not is_news(s, follower, request):
        return "the replica knows this epoch or a later one"
    if s.replica_state[follower].hw > s.replica_log[follower].end_offset:
        return "the high watermark is beyond the end of the log"
    end_offset = s.replica_state[follower].hw
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


# --- The protocol ----------------------------------------------------------------------------

spec = Spec(
    "kafka.truncate_to_high_watermark",
    State,
    Constants,
    __doc__,
    draw=draw_replication,
    original="KafkaTruncateToHighWatermark",
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
spec.action(become_follower_truncate_to_high_watermark)
spec.action(follower_replicate)
spec.strongly_fair(leader_inc_high_watermark, leader_expand_isr, leader_write)
spec.weakly_fair(become_follower_truncate_to_high_watermark, become_leader)
declare_properties(spec)
declare_liveness(spec)
declare_situations(spec)
