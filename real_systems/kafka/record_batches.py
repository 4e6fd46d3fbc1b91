"""The batches of a Kafka log as they are on disk, and the records in them.

Formats: magic 0 and 1 (up to 0.10), where each message stands for itself, and magic 2 (0.11 and
later). Values of compressed batches are not read. Source: the documentation of Kafka's message
format, https://kafka.apache.org/documentation/#messageformat.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

try:
    from crc32c import crc32c
except ImportError:  # in a page, whose Python has nothing compiled

    def _castagnoli(byte: int) -> int:
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
        return byte

    _CASTAGNOLI = [_castagnoli(each) for each in range(256)]

    def crc32c(data: bytes) -> int:
        """The checksum of magic 2 (Castagnoli's)."""
        value = 0xFFFFFFFF
        for byte in data:
            value = value >> 8 ^ _CASTAGNOLI[(value ^ byte) & 0xFF]
        return value ^ 0xFFFFFFFF


_OVERHEAD = 12  # a batch's offset (8 bytes) and length (4), which does not count these
_MAGIC = 16  # where a batch has its format's number
_CHECKED = {0: 16, 1: 16, 2: 21}  # from where on its checksum counts it, by format
_SHORTEST = {0: 26, 1: 34, 2: 61}  # bytes of a batch without records
_CONTROL, _COMPRESSED = 0x20, 0x07  # of the attributes

BROKEN = (struct.error, IndexError, ValueError)
"""What decoding raises where a length or a number is not what it should be."""


class BrokenLogError(Exception):
    """A log breaks off. position: of the first byte that could not be read as a batch."""

    def __init__(self, position: int, why: str):
        super().__init__(why)
        self.position = position


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch. end: where it ends in the file. last: the offset of its last record; epoch: the
    leader epoch, None before 0.11; time: of its first record, in milliseconds since 1970."""

    end: int
    base: int
    last: int
    epoch: int | None
    time: int | None
    is_control: bool
    is_compressed: bool
    content: bytes

    def records(self) -> Iterator["Record"]:
        """Its records. Raises one of `BROKEN`. None if it is compressed."""
        if self.is_compressed:
            return
        if self.epoch is None:
            yield self._message()
            return
        (count,) = struct.unpack_from(">i", self.content, 57)
        place = 61
        for _ in range(count):
            length, place = varint(self.content, place)
            following = place + length
            if not place < following <= len(self.content):
                raise ValueError("a record is longer than its batch")
            later, place = varint(self.content, place + 1)  # behind a byte of attributes
            delta, place = varint(self.content, place)
            size, place = varint(self.content, place)
            key = self.content[place : place + size] if size >= 0 else None
            size, place = varint(self.content, place + max(size, 0))
            value = self.content[place : place + size] if size >= 0 else b""
            yield Record(self.base + delta, self.time + later, key, value)
            place = following

    def _message(self) -> "Record":
        place = 26 if self.content[_MAGIC] == 1 else 18
        (size,) = struct.unpack_from(">i", self.content, place)
        place += 4
        key = self.content[place : place + size] if size >= 0 else None
        place += max(size, 0)
        (size,) = struct.unpack_from(">i", self.content, place)
        return Record(self.base, self.time, key, self.content[place + 4 : place + 4 + max(size, 0)])


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a batch. time: as in `Batch`; key: None if it has none."""

    offset: int
    time: int | None
    key: bytes | None
    value: bytes


def batches(file: BinaryIO, size: int, position: int = 0) -> Iterator[Batch]:
    """The batches of a segment from a position on. size: the file's, in bytes.

    Raises BrokenLogError where a batch is not whole, its checksum is wrong, or offsets go back.
    Zeros at the end are room that was taken in advance, and end a log.
    """
    following = 0
    while position < size:
        file.seek(position)
        head = file.read(_OVERHEAD)
        if not head.strip(b"\0") and not file.read(1 << 16).strip(b"\0"):
            return
        if len(head) < _OVERHEAD:
            raise BrokenLogError(position, "a batch is not whole")
        base, length = struct.unpack(">qi", head)
        end = position + _OVERHEAD + length
        if base < following or length <= 0:
            raise BrokenLogError(position, "this is no batch")
        if end > size:
            raise BrokenLogError(position, "a batch is not whole")
        file.seek(position)
        batch = _batch(file.read(_OVERHEAD + length), base, position)
        yield batch
        position, following = batch.end, batch.last + 1


def stored_records(segment: Path, begin: int = 0) -> Iterator[tuple[Batch, Record]]:
    """The records of a segment from a position on, each with its batch, without the quorum's own; a
    batch that is not written whole ends it."""
    with segment.open("rb") as file, suppress(BrokenLogError):
        for batch in batches(file, segment.stat().st_size, begin):
            if not batch.is_control:
                yield from ((batch, record) for record in batch.records())


def cut(segment: Path, keep: int) -> int:
    """Cut a segment behind its first `keep` records, as a power cut does that loses what was not
    flushed; returns how many records are lost."""
    stored = list(stored_records(segment))
    os.truncate(segment, stored[keep - 1][0].end if keep else 0)
    return len(stored[keep:])


def _batch(content: bytes, base: int, position: int) -> Batch:
    magic = content[_MAGIC] if len(content) > _MAGIC else -1
    if magic not in _SHORTEST or len(content) < _SHORTEST[magic]:
        raise BrokenLogError(position, "this is no batch")
    checked = memoryview(content)[_CHECKED[magic] :]
    (checksum,) = struct.unpack_from(">I", content, 17 if magic == 2 else 12)
    if checksum != (crc32c(checked) if magic == 2 else zlib.crc32(checked)):
        raise BrokenLogError(position, "a batch has a wrong checksum")
    end = position + len(content)
    if magic < 2:
        time = struct.unpack_from(">q", content, 18)[0] if magic == 1 else None
        compressed = bool(content[17] & _COMPRESSED)
        return Batch(end, base, base, None, time, False, compressed, content)
    (epoch,) = struct.unpack_from(">i", content, _OVERHEAD)
    attributes, delta, time = struct.unpack_from(">hiq", content, 21)
    control, compressed = bool(attributes & _CONTROL), bool(attributes & _COMPRESSED)
    return Batch(end, base, base + delta, epoch, time, control, compressed, content)


def varint(data: bytes, place: int) -> tuple[int, int]:
    """A zigzag-encoded number, and the position behind it."""
    value, place = unsigned_varint(data, place)
    return (value >> 1) ^ -(value & 1), place


def unsigned_varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to ten bytes, and the position behind it. Raises one of `BROKEN`."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
        if shift > 63:
            raise ValueError("a number is too long")
