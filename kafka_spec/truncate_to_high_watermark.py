"""Before KIP-101: a new follower cuts its log off at its own high watermark.

What it models: Kafka before 0.11. Records carry no usable epoch. A replica that becomes a follower
in a new leader epoch keeps what it knows to be committed, and fetches the rest again.

What breaks: a follower learns of the high watermark one fetch late. So it may cut off a record
that the leader has committed *because this very follower holds it*. If it is made the leader
before it has fetched the record again, the record is lost. Both weak_isr and strong_isr fail, with
two replicas and two leader epochs already. KIP-101 replaces the truncation offset (`kip_101`).

Where Kafka differs: in the original every new leader epoch makes a follower truncate. Kafka
0.10.2.0 skips the change if the leader stays the same (`Partition.makeFollower` returns false, and
`ReplicaManager.makeFollowers` logs "skipped the become-follower state change"); so do 0.11.0.0 and
2.0.0. 2.0.1 truncates if the broker missed an epoch, 2.1.0 in every epoch (KAFKA-7164). With
`same_leader=keeps_log`, which is Kafka's rule, two replicas and two epochs lose nothing, in all
1,221 states. With a third epoch the leadership can move away and back, and a record is lost after
10 steps. A broker that restarts knows no leader, and truncates in any case: that is the case of
KIP-101, for which the shorter run of the original's rule stands.

Read `model` first, then `actions`, then what is below, then `properties`.

Left out: see `model`.

Source: KafkaTruncateToHighWatermark.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from typing import Annotated, NamedTuple

from kafka_spec import actions, model
from kafka_spec.actions import (
    apply,
    become_follower_and_truncate_to,
    is_newer,
    names_another_leader,
)
from kafka_spec.model import *
from kafka_spec.properties import replication_spec
from protocol_lab import *

# --- Constants -------------------------------------------------------------------------------


@extends(model.Constants)
class Constants(NamedTuple):
    """The size of the model, and what a follower does in a new epoch of the same leader."""

    same_leader: Annotated[
        str,
        choice(
            "truncates",
            "keeps_log",
            meaning="what a follower does if a new epoch has the leader that it follows already",
        ),
    ] = "truncates"


# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_to_high_watermark(
    s: State, c: Constants, follower: Replica, request: Request
):
    """A replica picks a request that makes another the leader, and cuts off at its high watermark.

    Neither the leader's log is looked at, nor whether that replica leads yet
    (`ReplicaManager.makeFollowers` 0.10.2.0).
    """
    if not names_another_leader(request, follower):
        return "the request does not make another replica the leader"
    if not is_newer(s, follower, request):
        return "the replica knows this epoch or a later one"
    if c.same_leader == "keeps_log" and is_following(s, follower, request.leader):
        apply(s, follower, request)
        return TAKEN
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
    constants=Constants,
)
spec.action(actions.controller_elect_leader)
spec.action(actions.controller_shrink_isr)
spec.action(actions.become_leader)
spec.action(actions.leader_expand_isr)
spec.action(actions.leader_shrink_isr)
spec.action(actions.leader_write)
spec.action(actions.leader_inc_high_watermark)
spec.action(become_follower_truncate_to_high_watermark)
spec.action(actions.follower_replicate)
spec.strongly_fair(
    actions.leader_inc_high_watermark, actions.leader_expand_isr, actions.leader_write
)
spec.weakly_fair(become_follower_truncate_to_high_watermark, actions.become_leader)
