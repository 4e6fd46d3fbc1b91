"""A log of bounded size, as every replica has one, with the three things that happen to it.

The log has `end_offset` records at the offsets 0, 1, ..., end_offset - 1; the slots from
end_offset on are empty. Source: FiniteReplicatedLog in the Kafka replication specs.
"""

from protocol_lab import Array, Int8, Struct, erase


class Record(Struct):
    """One record: a unique id and the epoch of the leader that wrote it."""

    id: Int8
    epoch: Int8


class Log(Struct):
    """One replica's log."""

    end_offset: Int8
    records: Array(Record, "log_size")


def has_offset(log, offset) -> bool:
    """Is there a record at this offset?"""
    return offset < log.end_offset


def has_same_record(log, other, offset) -> bool:
    """Do both logs hold the same record at this offset?"""
    return (
        has_offset(log, offset)
        and has_offset(other, offset)
        and log.records[offset] == other.records[offset]
    )


def append(log, record) -> None:
    """Write a record at the end; whoever calls has checked that the log is not full."""
    log.records[log.end_offset] = record
    log.end_offset += 1


def truncate_to(log, end_offset) -> None:
    """Drop every record from this offset on; nothing happens if there is none."""
    while log.end_offset > end_offset:
        log.end_offset -= 1
        erase(log.records, log.end_offset)
