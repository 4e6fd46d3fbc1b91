"""KIP-279: a new follower looks for the last record that it has in common with the leader.

What it models: Kafka 2.0. A replica that becomes a follower in a new leader epoch compares epochs
with the leader, backwards from the end of its log, until they agree. The model compares the records
themselves, in one step.

What breaks: the comparison is not fenced. A replica may act on an old request and compare with a
leader that is in another epoch by now, or does not lead yet; and a leader that commits counts
followers of other epochs. With three replicas both weak_isr and strong_isr fail, with two they hold
in every configuration that was explored. KIP-320 adds the leader epoch (`kip_320`).

Read `model` first, then `actions`, then what is below, then `properties`.

Left out: see `model`. Also, Kafka 2.0.0 neither asks nor truncates if the leader stays the same
(`Partition.makeFollower`; KAFKA-7164 made it ask in every epoch, 2.1.0).

Source: Kip279.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec import actions
from kafka_spec.actions import (
    become_follower_and_truncate_to,
    first_non_matching_offset_from_tail,
    is_newer,
    names_another_leader,
)
from kafka_spec.model import *
from kafka_spec.properties import replication_spec
from protocol_lab import *

# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_kip_279(s: State, c: Constants, follower: Replica, request: Request):
    """A replica picks a request that makes another the leader; it keeps what their logs share.

    It compares with the leader's log as it is now, even if that replica does not lead yet
    (`AbstractFetcherThread.getOffsetTruncationState` 2.0.0, which asks as often as it has to).
    """
    if not names_another_leader(request, follower):
        return "the request does not make another replica the leader"
    if not is_newer(s, follower, request):
        return "the replica knows this epoch or a later one"
    end_offset = first_non_matching_offset_from_tail(s, follower, request.leader)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


# --- The protocol ----------------------------------------------------------------------------

spec = replication_spec(
    "kip_279",
    __doc__,
    original="Kip279",
    tlc="kafka_spec.tlc",
    configurations=(
        Configuration(
            "default",
            "two records and three leader epochs",
            "violated in 11 states, after 64,661 distinct states",
        ),
    ),
)
spec.action(actions.controller_elect_leader)
spec.action(actions.controller_shrink_isr)
spec.action(actions.become_leader)
spec.action(actions.leader_expand_isr)
spec.action(actions.leader_shrink_isr)
spec.action(actions.leader_write)
spec.action(actions.leader_inc_high_watermark)
spec.action(become_follower_truncate_kip_279)
spec.action(actions.follower_replicate)
spec.strongly_fair(
    actions.leader_inc_high_watermark, actions.leader_expand_isr, actions.leader_write
)
spec.weakly_fair(become_follower_truncate_kip_279, actions.become_leader)
