"""A log of bounded size on every replica, and the three things that can happen to it.

A replica's log has `end_offset` records at the offsets 0, 1, ..., end_offset - 1; the slots from
end_offset on are empty. A record is appended, a log is cut off at some offset, or the next record
is copied from one replica to another.

There is no leader and logs are not compared, so they soon differ and every combination of contents
is reachable: 2 replicas, 2 records and log_size=2 give (1 + 2 + 4)² = 49 states. The truncation
variants have such logs too (`model`), and add the rules that keep them alike.

Left out: who may write, and when a log must be cut off. Nothing breaks: type_ok is the only claim.

Source: FiniteReplicatedLog.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.choices import LOGS
from kafka_spec.draw.events import log_events
from kafka_spec.draw.logs import draw_logs
from protocol_lab import *


class Constants(NamedTuple):
    """The size of the model."""

    replicas: Annotated[int, Limits(0, 7, "replicas, each with a log")] = 2
    log_records: Annotated[int, Limits(0, 99, "different records to append")] = 2
    log_size: Annotated[int, Limits(0, 32, "records that fit into a log")] = 2


CONFIGURATIONS = (Configuration("default", "two replicas, two records", "49 distinct states"),)


Replica = Node("replicas", noun="broker")


class Log(Struct):
    """One replica's log. A record is a number from 1; 0 is an empty slot."""

    end_offset: Int8
    records: Array(Int8, "log_size")


class State(Struct):
    """All there is: the logs."""

    logs: Per(Replica, Log)


spec = Spec(
    "kafka.finite_replicated_log",
    State,
    Constants,
    __doc__,
    draw=draw_logs,
    events=log_events,
    choices=LOGS,
    original="FiniteReplicatedLog",
    configurations=CONFIGURATIONS,
)
spec.symmetric(Replica)


@spec.init
def init(s: State, c: Constants):
    """All logs are empty."""
    return TAKEN


# --- Actions ---------------------------------------------------------------------------------


@spec.action
def append(s: State, c: Constants, replica: Replica, record: Range(1, "log_records")):
    """A record is written at the end of one log."""
    log = s.logs[replica]
    if log.end_offset == c.log_size:
        return "the log is full"
    log.records[log.end_offset] = record
    log.end_offset += 1
    return TAKEN


@spec.action
def truncate_to(s: State, c: Constants, replica: Replica, end_offset: Range(0, "log_size - 1")):
    """One log loses its records from an offset on; none, if that is where it ends."""
    log = s.logs[replica]
    if end_offset > log.end_offset:
        return "the log is shorter than that"
    while log.end_offset > end_offset:
        log.end_offset -= 1
        log.records[log.end_offset] = 0
    return TAKEN


@spec.action
def replicate_to(s: State, c: Constants, source: Replica, target: Replica):
    """One log gets the record that another has at its end offset; what is before may differ."""
    mine, theirs = s.logs[target], s.logs[source]
    if mine.end_offset >= theirs.end_offset:
        return "the source has no record at the target's end offset"
    mine.records[mine.end_offset] = theirs.records[mine.end_offset]
    mine.end_offset += 1
    return TAKEN


# --- Properties ------------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """Below its end offset a log holds records, from there on nothing."""
    for replica in range(1, c.replicas + 1):
        log = s.logs[replica]
        if log.end_offset < 0 or log.end_offset > c.log_size:
            return "a log's end offset is out of range"
        for offset in range(c.log_size):
            record = log.records[offset]
            if offset < log.end_offset and (record < 1 or record > c.log_records):
                return "a slot below the end offset holds no record"
            if offset >= log.end_offset and record != 0:
                return "a slot from the end offset on is not empty"
    return HOLDS


def has_same_record(log, other, offset) -> bool:
    """Do both logs hold the same record at this offset?"""
    return (
        offset < min(log.end_offset, other.end_offset)
        and log.records[offset] == other.records[offset]
    )


# --- Situations --------------------------------------------------------------------------------


@spec.situation(expected=True)
def logs_diverge(s: State, c: Constants) -> bool:
    """Two logs hold different records at the same offset: nothing here prevents it."""
    return any(
        not has_same_record(s.logs[replica], s.logs[other], offset)
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
        for offset in range(min(s.logs[replica].end_offset, s.logs[other].end_offset))
    )


@spec.situation
def two_logs_disagree_and_meet_again(s: State, c: Constants) -> bool:
    """Two logs hold different records at one offset and the same record at the next."""
    return any(
        s.logs[replica].records[offset] != s.logs[other].records[offset]
        and has_same_record(s.logs[replica], s.logs[other], offset + 1)
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
        for offset in range(min(s.logs[replica].end_offset, s.logs[other].end_offset) - 1)
    )


@spec.situation
def all_logs_are_full(s: State, c: Constants) -> bool:
    """All logs are full."""
    return all(s.logs[replica].end_offset == c.log_size for replica in range(1, c.replicas + 1))
