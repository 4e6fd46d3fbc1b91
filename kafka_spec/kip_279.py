"""KIP-279: a new follower looks for the last record that it has in common with the leader.

What it models: Kafka 2.0. A replica that becomes a follower in a new leader epoch compares epochs
with the leader, backwards from the end of its log, until they agree. The model compares the records
themselves, in one step.

What breaks: the comparison is not fenced. A replica may act on an old request and compare with a
leader that is in another epoch by now, or does not lead yet; and a leader that commits counts
followers of other epochs. With three replicas both weak_isr and strong_isr fail, with two they hold
in every configuration that was explored. KIP-320 adds the leader epoch (`kip_320`).

Read `replication.model` first, then the actions in the order of the list at the end of this module,
then `replication.properties`.

Left out: see `replication.model`.

Source: Kip279.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec.bounded_log import is_empty
from kafka_spec.replication.actions import controller, leaders, unfenced
from kafka_spec.replication.actions.followers import (
    become_follower_and_truncate_to,
    first_non_matching_offset_from_tail,
)
from kafka_spec.replication.actions.requests import is_for_another, is_news
from kafka_spec.replication.declarations import declare_rest, replication_spec
from kafka_spec.replication.model import Constants, Replica, Request, State
from protocol_lab import TAKEN, Configuration

# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_kip_279(s: State, c: Constants, follower: Replica, request: Request):
    """A replica picks a request that makes another the leader; it keeps what their logs share.

    It compares with the leader's log as it is now, even if that replica does not lead yet.
    """
    if not is_for_another(request, follower):
        return "the request does not make another replica the leader"
    if not is_news(s, follower, request):
        return "the replica knows this epoch or a later one"
    end_offset = first_non_matching_offset_from_tail(s, request.leader, follower)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


def become_follower_multiplicity(s, c, follower, request) -> int:
    """The multiplicity: the original says "the log is empty, or ...": both hold if it is empty."""
    return 2 if is_empty(s.replica_log[follower]) else 1


# --- The protocol ----------------------------------------------------------------------------

spec = replication_spec(
    "kip_279",
    __doc__,
    original="Kip279",
    configurations=(
        Configuration(
            "default",
            "two records and three leader epochs",
            "violated in 11 states, after 64,661 distinct states",
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
spec.action(become_follower_truncate_kip_279, multiplicity=become_follower_multiplicity)
spec.action(unfenced.follower_replicate)
spec.strongly_fair(
    unfenced.leader_inc_high_watermark, unfenced.leader_expand_isr, leaders.leader_write
)
spec.weakly_fair(become_follower_truncate_kip_279, leaders.become_leader)
declare_rest(spec)
