"""Segments and snapshots as they are on disk: their batches, and the metadata log's records."""

import re
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from real_systems.kafka.logs.reading.metadata_log import MetadataRecord
from real_systems.kafka.logs.reading.metadata_records import decoded
from real_systems.kafka.logs.reading.unread import Unread
from real_systems.kafka.record_batches import BROKEN, Batch, BrokenLogError, Record, batches

_METADATA = "__cluster_metadata-0"
PARTITION = re.compile(r"[\w.-]+-\d+")
"""The name of a partition's folder."""

_SNAPSHOT = re.compile(r"(\d{20})-\d{10}\.checkpoint")
_LEADER_CHANGE, _SNAPSHOT_HEADER = 2, 3
"""Types of the quorum's own records."""


def is_metadata_log(path: Path) -> bool:
    """Is a segment one of the metadata log? Its folder says it; else its records, if these can be
    such. Raises OSError."""
    if path.parent.name == _METADATA or _SNAPSHOT.fullmatch(path.name):
        return True
    if PARTITION.fullmatch(path.parent.name):
        return False
    data = (batch for batch in whole(path, []) if not batch.is_control)
    records = (each for batch in data for each in batch.records())
    try:
        some = [decoded(each.value) for each in islice(records, 100)]
    except BROKEN:
        return False
    return bool(some)


def metadata_in(path: Path, unread: list[Unread]) -> Iterator[MetadataRecord]:
    """The records of a segment or a snapshot of the metadata log, as `metadata_log.records_in`
    gives those of a dump. What can't be read goes to `unread`. Raises OSError."""
    found = _SNAPSHOT.fullmatch(path.name)
    snapshot = int(found[1]) if found else None
    for batch in whole(path, unread):
        if batch.is_compressed:
            unread.append(Unread(path, f"has a compressed batch at offset {batch.base}"))
            continue
        try:
            for record in batch.records():
                yield _metadata_record(batch, record, snapshot)
        except BROKEN as error:
            why = f"has a record at offset {batch.base}, or behind it, that can't be read ({error})"
            unread.append(Unread(path, why))


def _metadata_record(batch: Batch, record: Record, snapshot: int | None) -> MetadataRecord:
    if not batch.is_control:
        return MetadataRecord(record.offset, record.time, *decoded(record.value), snapshot)
    kind, time = struct.unpack_from(">h", record.key or b"", 2)[0], record.time
    if kind == _SNAPSHOT_HEADER:
        (time,) = struct.unpack_from(">q", record.value, 2)
    name = "LEADER_CHANGE" if kind == _LEADER_CHANGE else "CONTROL"
    return MetadataRecord(record.offset, time, name, {}, snapshot)


def whole(path: Path, unread: list[Unread], name: Path | None = None) -> Iterator[Batch]:
    """The batches of a file, up to where it breaks off, which goes to `unread`. Raises OSError.

    name: the path as people know it, if that is another one.
    """
    last = None
    try:
        with path.open("rb") as file:
            for batch in batches(file, path.stat().st_size):
                last = batch.last
                yield batch
    except BrokenLogError as error:
        behind = "from its beginning" if last is None else f"behind offset {last}"
        why = f"breaks off {behind}, at byte {error.position:,}: {error}"
        unread.append(Unread(name or path, why))
