"""What replication is for: one log of committed records that only ever grows at its end.

    python3 lab.py check kafka.kip_320 --set replicas=2 --property refines_committed_log

KIP-320 refines it: whatever the replicas do, the committed records only get more. The mapping says
when a record counts as committed. It rests on the fencing of KIP-320: by this mapping the earlier
variants refine nothing, since with them also a replica that lacks such a record may join the ISR.

No original has this: it is the kit's own.
"""

from typing import Annotated, NamedTuple

from kafka_spec.bounded_log import has_offset, has_same_record
from kafka_spec.replication.model import presumes_leadership
from protocol_lab import (
    NONE,
    TAKEN,
    Int8,
    Limits,
    Range,
    Seq,
    Sequences,
    Spec,
    Struct,
    append,
    members,
    nodes_up_to,
    smallest,
)


class Size(NamedTuple):
    """The constants that it shares with the variants."""

    log_size: Annotated[int, Limits(0, 32, "records that fit into the log", classes=(3, 8, 32))] = 2
    max_records: Annotated[int, Limits(0, 99, "records written in total")] = 2


class Committed(Struct):
    """The ids of the committed records, in their order."""

    log: Seq(Int8, "log_size")


committed_log = Spec("kafka.committed_log", Committed, Size, __doc__)


@committed_log.init
def nothing_is_committed(s: Committed, c: Size):
    """The log is empty."""
    return TAKEN


def how_many(count) -> int:
    """As many records as were chosen to be committed."""
    return count


@committed_log.action
def commit(
    s: Committed,
    c: Size,
    count: Range(1, "log_size"),
    records: Sequences(0, "max_records - 1", how_many),
):
    """The next records are committed, at the end of the log and for good."""
    if s.log.length + count > c.log_size:
        return "the log has no room for them"
    for k in range(count):
        if records[k] in s.log.items or any(records[k] == records[j] for j in range(k)):
            return "a record would be committed twice"
    for k in range(count):
        append(s.log, records[k])
    return TAKEN


# --- What the variants' states say of it -------------------------------------------------------


def last_isr(s, c) -> int:
    """The ISR; where nobody is left in it, which the original allows, the last one before."""
    if s.quorum_state.isr != 0:
        return s.quorum_state.isr
    for back in range(s.leader_and_isr_requests.length):
        last = s.leader_and_isr_requests.length - 1 - back
        if s.leader_and_isr_requests.items[last].isr != 0:
            return s.leader_and_isr_requests.items[last].isr
    return nodes_up_to(c.replicas)


def latest_leader(s, c) -> int:
    """The replica that leads in the latest leader epoch in which anybody leads, or NONE."""
    latest = NONE
    for replica in range(1, c.replicas + 1):
        if presumes_leadership(s, replica) and (
            latest == NONE
            or s.replica_state[replica].leader_epoch > s.replica_state[latest].leader_epoch
        ):
            latest = replica
    return latest


def holds(s, replica, record, offset) -> bool:
    """Has the replica this record at this offset?"""
    log = s.replica_log[replica]
    return has_offset(log, offset) and log.records[offset] == record


def is_settled(s, leader, record, offset) -> bool:
    """Is it a record of an earlier epoch that the latest leader holds, too?"""
    return (
        leader != NONE
        and holds(s, leader, record, offset)
        and record.epoch < s.replica_state[leader].leader_epoch
    )


def may_lose(s, replica, record, offset) -> bool:
    """May the replica yet follow a leader that lacks the record, and truncate its log to that?

    It may follow the leader of any request that is news to it, unless that leader itself has gone
    on to a later epoch.
    """
    return any(
        request.leader != NONE
        and request.leader != replica
        and request.leader_epoch > s.replica_state[replica].leader_epoch
        and request.leader_epoch >= s.replica_state[request.leader].leader_epoch
        and not holds(s, request.leader, record, offset)
        for request in s.leader_and_isr_requests
    )


def committed_records(s, c, a):
    """The records that every member of the ISR holds, if they are committed for good.

    They are below the highest high watermark. A high watermark goes back when a leader becomes a
    follower; so they are also those of earlier epochs that the latest leader holds, and that no
    member of the ISR may lose to the leader of an epoch in between: nobody joins the ISR without
    them.
    """
    if c.replicas == 0:
        return
    isr, leader = last_isr(s, c), latest_leader(s, c)
    known = max(s.replica_state[replica].hw for replica in range(1, c.replicas + 1))
    log = s.replica_log[smallest(isr)]
    for offset in range(log.end_offset):
        record = log.records[offset]
        if not all(has_same_record(log, s.replica_log[each], offset) for each in members(isr)):
            return
        if offset >= known and (
            not is_settled(s, leader, record, offset)
            or any(may_lose(s, each, record, offset) for each in members(isr))
        ):
            return
        append(a.log, record.id)
