"""Reads the segments of a Kafka log that a story has written, and cuts off what was not flushed."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from real_systems.kafka.record_batches import BrokenLogError, batches


@dataclass(frozen=True)
class StoredRecord:
    """A record of a log. `epoch` is the leader epoch, or None before 0.11; `end` is the position
    in its segment behind its batch."""

    offset: int
    value: bytes
    epoch: int | None
    end: int
    is_control: bool = False


def segments(folder: Path) -> list[Path]:
    """The segments of a partition's folder, oldest first."""
    return sorted(folder.glob("*.log"))


def stored_records(segment: Path, begin: int = 0) -> Iterator[StoredRecord]:
    """The records of a segment from a position on; a batch that is not written whole ends it."""
    with segment.open("rb") as file, suppress(BrokenLogError):
        for batch in batches(file, segment.stat().st_size, begin):
            for record in batch.records():
                yield StoredRecord(
                    record.offset, record.value, batch.epoch, batch.end, batch.is_control
                )


def cut(folder: Path, keep: int) -> int:
    """Cut a log behind its first `keep` records, as a power cut does that loses what was not
    flushed; returns how many records are lost."""
    *_, last = segments(folder)
    records = [each for each in stored_records(last) if not each.is_control]
    end = records[keep - 1].end if keep else 0
    os.truncate(last, end)
    return len(records[keep:])
