"""Before KIP-101: a new follower cuts its log off at its own high watermark.

What it models: Kafka before 0.11. Records carry no usable epoch. A replica that becomes a follower
in a new leader epoch keeps what it knows to be committed, and fetches the rest again.

What breaks: a follower learns of the high watermark one fetch late. So it may cut off a record
that the leader has committed *because this very follower holds it*. If it is made the leader
before it has fetched the record again, the record is lost. Both weak_isr and strong_isr fail, with
two replicas and two leader epochs already. KIP-101 replaces the truncation offset (`kip_101`).

Read `replication.model` first, then the actions in the order of the list at the end of this module,
then `replication.properties`.

Left out: see `replication.model`.

Source: KafkaTruncateToHighWatermark.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec.replication.actions import controller, leaders, unfenced
from kafka_spec.replication.actions.followers import become_follower_and_truncate_to
from kafka_spec.replication.actions.requests import is_for_another, is_news
from kafka_spec.replication.declarations import declare_rest, replication_spec
from kafka_spec.replication.model import Constants, Replica, Request, State
from protocol_lab import TAKEN, Configuration

# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_to_high_watermark(
    s: State, c: Constants, follower: Replica, request: Request
):
    """A replica picks a request that makes another the leader, and cuts off at its high watermark.

    Neither the leader's log is looked at, nor whether that replica leads yet.
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

spec = replication_spec(
    "truncate_to_high_watermark",
    __doc__,
    original="KafkaTruncateToHighWatermark",
    configurations=(
        Configuration(
            "default",
            "two records and three leader epochs",
            "violated in 9 states, after 20,308 distinct states",
        ),
    ),
)
spec.action(controller.controller_elect_leader)
spec.action(controller.controller_shrink_isr)
spec.action(leaders.become_leader)
spec.action(unfenced.leader_expand_isr)
spec.action(unfenced.leader_shrink_isr)
spec.action(leaders.leader_write)
spec.action(unfenced.leader_inc_high_watermark)
spec.action(become_follower_truncate_to_high_watermark)
spec.action(unfenced.follower_replicate)
spec.strongly_fair(
    unfenced.leader_inc_high_watermark, unfenced.leader_expand_isr, leaders.leader_write
)
spec.weakly_fair(become_follower_truncate_to_high_watermark, leaders.become_leader)
declare_rest(spec)
