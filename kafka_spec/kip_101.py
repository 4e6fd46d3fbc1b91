"""KIP-101: a new follower asks the leader where the follower's last epoch ends.

What it models: Kafka 0.11. Records carry the epoch of the leader that wrote them. A replica that
becomes a follower in a new leader epoch asks the leader: where in your log does the epoch of my
last record end? There it cuts its log off, instead of at its high watermark.

What breaks: the leader may have no record of that epoch. Then the follower falls back to its
high watermark, and loses committed records as before: after two quick elections, with two
replicas and three leader epochs (weak_isr and strong_isr). KIP-279 replaces the question
(`kip_279`). Also, the end that the leader names may be beyond the follower's own end; the model
then never lets it become a follower, where Kafka keeps the whole log (truncation_never_blocked,
which is checked when named).

Read `model` first, then `actions`, then what is below, then `properties`.

Left out: see `model`. Also, Kafka 0.11.0.0 neither asks nor truncates if the leader stays the same
(`Partition.makeFollower`; KAFKA-7164 made it ask in every epoch, 2.1.0).

Source: Kip101.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from kafka_spec import actions
from kafka_spec.actions import become_follower_and_truncate_to, is_newer, names_another_leader
from kafka_spec.model import *
from kafka_spec.properties import replication_spec
from protocol_lab import *

# --- Becoming a follower ---------------------------------------------------------------------


def become_follower_truncate_kip_101(s: State, c: Constants, follower: Replica, request: Request):
    """A replica picks a request that makes another the leader, and asks where its epoch ends.

    The answer comes from the leader's log as it is now, even if that replica does not lead yet
    (`ReplicaFetcherThread.maybeTruncate` 0.11.0.0).
    """
    if not names_another_leader(request, follower):
        return "the request does not make another replica the leader"
    if not is_newer(s, follower, request):
        return "the replica knows this epoch or a later one"
    if is_answer_beyond_end(s, follower, request.leader):
        return "the leader's answer is beyond the end of the follower's log"
    end_offset = lookup_offset_for_epoch(s, follower, request.leader)
    become_follower_and_truncate_to(s, follower, request, end_offset)
    return TAKEN


def lookup_offset_for_epoch(s, follower, leader) -> int:
    """Where the epoch of the follower's last record ends in the leader's log.

    The leader's end if its last record is of that epoch, else the offset of its first record of a
    larger one. If there is none, or the leader has no record, the follower's high watermark.
    """
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    if mine.end_offset == 0:
        return 0
    if theirs.end_offset == 0:
        return s.replica_state[follower].hw
    epoch = mine.records[mine.end_offset - 1].epoch
    if theirs.records[theirs.end_offset - 1].epoch == epoch:
        return theirs.end_offset
    for offset in range(theirs.end_offset):
        if theirs.records[offset].epoch > epoch:
            return offset
    return s.replica_state[follower].hw


def is_answer_beyond_end(s, follower, leader) -> bool:
    """Does the leader name an offset that the follower's log does not reach?"""
    return lookup_offset_for_epoch(s, follower, leader) > s.replica_log[follower].end_offset


# --- The protocol ----------------------------------------------------------------------------

spec = replication_spec(
    "kip_101",
    __doc__,
    original="Kip101",
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
spec.action(become_follower_truncate_kip_101)
spec.action(actions.follower_replicate)
spec.strongly_fair(
    actions.leader_inc_high_watermark, actions.leader_expand_isr, actions.leader_write
)
spec.weakly_fair(become_follower_truncate_kip_101, actions.become_leader)


@spec.invariant(by_default=False)
def truncation_never_blocked(s: State, c: Constants):
    """A request never finds a follower that can't truncate. False, and not in the original.

    If a follower's log is shorter than the leader's and has the same last epoch, the answer is the
    leader's end.
    """
    for request in s.leader_and_isr_requests:
        for follower in range(1, c.replicas + 1):
            if (
                names_another_leader(request, follower)
                and is_newer(s, follower, request)
                and is_answer_beyond_end(s, follower, request.leader)
            ):
                return "a replica can't become a follower: the leader's answer is beyond its end"
    return HOLDS
