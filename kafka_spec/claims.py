"""Who has said what: who lacks a committed record, and who may lead or leads without it."""

from typing import Any

from kafka_spec import (
    kip_101,
    kip_279,
    kip_320,
    kip_320_first_try,
    kip_966,
    truncate_to_high_watermark,
    unclean_leader_election,
)
from kafka_spec.model import holds_committed, presumes_leadership
from kafka_spec.unclean_leader_election import holds_all_committed
from protocol_lab.model.declarations import NOTHING, Cell, no, no_longer, yes

LACKS = "it lacks what a leader calls committed"
ONE = "1"

# --- Truncation: what a leader's high watermark promises -----------------------------------------


def _presumed(s: Any, c: Any) -> list[int]:
    """Whoever believes that it leads and calls something committed."""
    every = range(1, c.replicas + 1)
    return [each for each in every if presumes_leadership(s, each) and s.replica_state[each].hw]


def lacks_a_committed_record(s: Any, c: Any, replica: int) -> Cell:
    """Does the replica lack what some leader calls committed?"""
    leaders = _presumed(s, c)
    lacking = [each for each in leaders if not holds_committed(s, replica, each)]
    if lacking:
        return yes(f"lacks a record of {lacking[0]}")
    return no("has all") if leaders else NOTHING


def may_be_elected(s: Any, c: Any, replica: int) -> Cell:
    """May the controller elect the replica?"""
    return yes("in the ISR") if replica in s.quorum_state.isr else no_longer("not in the ISR")


def lacks_and_counts(s: Any, c: Any, replica: int) -> Cell:
    """Does a leader, which counts the replica as in sync, call committed what it lacks?"""
    for leader in _presumed(s, c):
        is_counted = replica in s.replica_state[leader].isr
        if is_counted and not holds_committed(s, replica, leader):
            return yes(f"in the ISR of {leader}")
    return NOTHING


for each in (kip_101, kip_279, kip_320, kip_320_first_try, truncate_to_high_watermark):
    each.spec.claim(LACKS, needs=ONE)(lacks_a_committed_record)
    each.spec.claim("the controller may elect it", needs=ONE, excludes="lacks_a_committed_record")(
        may_be_elected
    )
    each.spec.claim(
        "its leader waits for it no more", needs=ONE, excludes="lacks_a_committed_record"
    )(lacks_and_counts)


# --- Unclean elections, and the last replica ------------------------------------------------------


@unclean_leader_election.spec.claim("it lacks a committed message", needs=ONE)
def lacks_a_committed_message(s: Any, c: Any, replica: int) -> Cell:
    """Does the replica lack a message that was promised?"""
    return no("has all") if holds_all_committed(s, replica) else yes("lacks one")


@unclean_leader_election.spec.claim("it leads", needs=ONE, excludes="lacks_a_committed_message")
def leads(s: Any, c: Any, replica: int) -> Cell:
    """Does the replica lead?"""
    if s.zk_state.leader == replica:
        return yes("leads")
    return NOTHING if replica in s.zk_state.alive_replicas else no_longer("dead")


def _lacks(s: Any, broker: int) -> bool:
    values = [each.value for each in s.log[broker]]
    is_short = len(s.log[broker]) + 1 < s.inv_true_hwm
    return is_short or any(each not in values for each in s.inv_pos_acked)


@kip_966.spec.claim("it lacks what was committed", needs=ONE)
def lacks_what_was_committed(s: Any, c: Any, broker: int) -> Cell:
    """Does the broker's log lack what was ever committed, or acknowledged?"""
    return yes("lacks a record") if _lacks(s, broker) else no("has all")


@kip_966.spec.claim("it leads, or may", needs=ONE, excludes="lacks_what_was_committed")
def may_lead(s: Any, c: Any, broker: int) -> Cell:
    """Does the broker lead, or is it one that may be elected?"""
    partition = s.con_partition_metadata
    if not kip_966.is_running(s, broker):
        return no_longer("stopped")
    if partition.leader == broker:
        return yes("leads")
    if broker in partition.isr:
        return yes("in the ISR")
    if broker in partition.elr:
        return yes("eligible")
    return NOTHING
