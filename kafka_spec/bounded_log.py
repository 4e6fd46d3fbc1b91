"""One replica's log of bounded size: how it is read, appended to and truncated.

A log has `end_offset` records, at the offsets 0, 1, ..., end_offset - 1; its slots from end_offset
on are zero. What a record is, each spec declares itself.
"""

from protocol_lab import erase


def is_empty(log) -> bool:
    """Is there no record in the log?"""
    return log.end_offset == 0


def is_full(log, log_size) -> bool:
    """Is there no room left in the log?"""
    return log.end_offset == log_size


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


def write_next(log, record) -> None:
    """Append a record; the caller has checked that the log is not full."""
    log.records[log.end_offset] = record
    log.end_offset += 1


def cut_off(log, end_offset) -> None:
    """Drop every record from this offset on; nothing happens if there is none."""
    while log.end_offset > end_offset:
        log.end_offset -= 1
        erase(log.records, log.end_offset)
