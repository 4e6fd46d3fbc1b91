"""Reads the segments of a Kafka log as they are on disk, and cuts off what was not flushed.

Formats: magic 1 (0.10) and magic 2 (0.11 and later), without compression. Source: the
documentation of Kafka's message format, https://kafka.apache.org/documentation/#messageformat.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OVERHEAD = 12  # a batch's offset (8 bytes) and length (4), which does not count these
_MAGIC = 16  # where a batch has its format's number
_RECORDS = 61  # where the records of a batch of magic 2 begin
_CONTROL = 0x20  # a batch of magic 2 that is not data


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
    with segment.open("rb") as file:
        file.seek(begin)
        data = file.read()
    place = 0
    while place + _OVERHEAD <= len(data):
        offset, length = struct.unpack_from(">qi", data, place)
        end = place + _OVERHEAD + length
        if length <= 0 or end > len(data):
            return
        batch = data[place:end]
        if batch[_MAGIC] == 2:
            yield from _records_of(batch, offset, begin + end)
        else:
            yield StoredRecord(offset, _old_value(batch), None, begin + end)
        place = end


def cut(folder: Path, keep: int) -> int:
    """Cut a log behind its first `keep` records, as a power cut does that loses what was not
    flushed; returns how many records are lost."""
    *_, last = segments(folder)
    records = [each for each in stored_records(last) if not each.is_control]
    end = records[keep - 1].end if keep else 0
    os.truncate(last, end)
    return len(records[keep:])


def _records_of(batch: bytes, base: int, end: int) -> Iterator[StoredRecord]:
    epoch, _, _, attributes = struct.unpack_from(">iBIh", batch, _OVERHEAD)
    (count,) = struct.unpack_from(">i", batch, _RECORDS - 4)
    place = _RECORDS
    for _ in range(count):
        length, place = _varint(batch, place)
        following = place + length
        _, place = _varint(batch, place + 1)  # the timestamp, behind a byte of attributes
        delta, place = _varint(batch, place)
        size, place = _varint(batch, place)  # of the key; -1 for none
        size, place = _varint(batch, place + max(size, 0))
        value = batch[place : place + max(size, 0)]
        yield StoredRecord(base + delta, value, epoch, end, bool(attributes & _CONTROL))
        place = following


def _old_value(message: bytes) -> bytes:
    """The value of a message of magic 0 or 1: the key's size and the key come before it."""
    place = _MAGIC + 2 + (8 if message[_MAGIC] == 1 else 0)
    (size,) = struct.unpack_from(">i", message, place)
    place += 4 + max(size, 0)
    (size,) = struct.unpack_from(">i", message, place)
    return message[place + 4 : place + 4 + max(size, 0)]


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A zigzag-encoded number, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), place
