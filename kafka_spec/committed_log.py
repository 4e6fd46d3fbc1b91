"""What KIP-320 refines: one log of committed records that only grows at its end.

What replication is for: whatever the replicas do, a committed record keeps its place. The mapping
says when a record counts as committed. It rests on the fencing of KIP-320: by this mapping the
earlier variants refine nothing, since with them a replica that lacks such a record may join the
ISR, too. No original has this; it is the kit's own.

    python3 lab.py check kafka.kip_320 --set replicas=2 --property refines_committed_log
"""

from typing import Annotated, NamedTuple

from kafka_spec.model import *
from protocol_lab import *


class Size(NamedTuple):
    """The constants that it shares with the variants."""

    log_size: Annotated[int, Limits(0, 32, "records that fit into the log")] = 2
    max_records: Annotated[int, Limits(0, 99, "records written in total")] = 2


class Committed(Struct):
    """The ids of the committed records, in their order."""

    log: Seq(Int8, "log_size")


committed_log = Spec(
    "kafka.committed_log", Committed, Size, "The committed records: a log that only grows."
)


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
    if len(s.log) + count > c.log_size:
        return "the log has no room for them"
    for k in range(count):
        if records[k] in s.log or any(records[k] == records[j] for j in range(k)):
            return "a record would be committed twice"
    for k in range(count):
        append(s.log, records[k])
    return TAKEN


# The mapping: which records of a state of KIP-320 are committed.


def last_isr(s, c) -> NodeSet(Replica):
    """The ISR; where nobody is left in it, which the original allows, the last one before."""
    if s.quorum_state.isr != 0:
        return s.quorum_state.isr
    isr = nodes_up_to(c.replicas)
    for request in s.leader_and_isr_requests:
        if request.isr != 0:
            isr = request.isr
    return isr


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
    """The records that every member of the ISR holds, up to the first that may yet be lost.

    None below the highest high watermark may be. But a high watermark goes back when a leader
    becomes a follower, so that no replica may know a record to be committed any more. Beyond it a
    record counts if it is of an earlier epoch, the latest leader holds it, and no member of the ISR
    may lose it to the leader of an epoch in between: nobody joins the ISR without it.
    """
    if c.replicas == 0:
        return
    isr, leader = last_isr(s, c), latest_leader(s, c)
    known = max(s.replica_state[replica].hw for replica in range(1, c.replicas + 1))
    log = s.replica_log[smallest(isr)]
    for offset in range(log.end_offset):
        record = log.records[offset]
        if not all(has_same_record(log, s.replica_log[member], offset) for member in isr):
            return
        if offset >= known and (
            not is_settled(s, leader, record, offset)
            or any(may_lose(s, member, record, offset) for member in isr)
        ):
            return
        append(a.log, record.id)
