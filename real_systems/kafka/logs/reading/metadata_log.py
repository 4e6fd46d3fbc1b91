"""The records of a KRaft cluster's metadata log, as `kafka-dump-log --cluster-metadata-decoder`
prints them: every decision of the controller, in order.

Source: the record types of Kafka 3.3 to 4.3, https://github.com/apache/kafka,
metadata/src/main/resources/common/metadata. Fields that a record leaves out are unchanged.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from real_systems.kafka.logs.reading.metadata_records import KINDS, NEEDED
from real_systems.kafka.logs.reading.unread import Unread, add

_RECORD = re.compile(
    r".{0,200}?\boffset: (\d{1,19})\b(?>(?:.*?CreateTime: (\d{1,19})\b)?)"
    r".*?(?:payload: |LeaderChange: )(\{.*)$"
)
_CONTROL = re.compile(
    r".{0,200}?\boffset: (\d{1,19})\b(?>(?:.*?CreateTime: (\d{1,19})\b)?)"
    r"(?>.*? headerKeys: \[\] )(?:controlType: )?([A-Z]\w{0,60})"
)
"""The quorum's other records, as in KRaftVersion {...}; 3.6: controlType: LEADER_CHANGE(2)."""

_HEADER = re.compile(r"^(?:Snapshot end offset: (\d{1,19})\b|Log starting offset: )")
"""The second line of what is printed of a file; one dump may be of several."""

_CONTAINED = re.compile(r'"lastContainedLogTimestamp":(\d{1,19})\b')


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """One record. time: milliseconds since 1970, UTC, or None if the dump has none.

    type: as in PARTITION_CHANGE_RECORD; the quorum's own records are LEADER_CHANGE and CONTROL.
    data: the record's fields. snapshot: where the snapshot ends that the record is in, which says
    what all records before that come to; None for a record of the log itself.
    """

    offset: int
    time: int | None
    type: str
    data: dict[str, Any]
    snapshot: int | None = None

    @property
    def place(self) -> str:
        """Where it stands in the log."""
        return f"metadata offset {self.offset}"


def records_in(
    lines: Iterable[tuple[int, str]], path: Path, unread: list[Unread]
) -> Iterator[MetadataRecord]:
    """The records of a dump, those of the quorum included; lines that are not whole go to
    `unread`."""
    snapshot = None
    for number, line in lines:
        if header := _HEADER.match(line):
            snapshot = int(header[1]) if header[1] else None
            continue
        if "payload: {" not in line and "LeaderChange: {" not in line:
            control = _CONTROL.match(line)
            if control:
                time = int(control[2]) if control[2] else None
                if contained := _CONTAINED.search(line):
                    time = int(contained[1])
                yield MetadataRecord(int(control[1]), time, "CONTROL", {}, snapshot)
            continue
        found = _RECORD.match(line)
        try:
            said = json.loads(found[3]) if found else None
        except (ValueError, RecursionError):
            said = None
        if found is None or not isinstance(said, dict):
            add(unread, path, "no whole record", number, line)
            continue
        time = int(found[2]) if found[2] else None
        if "LeaderChange: {" in line:
            yield MetadataRecord(int(found[1]), time, "LEADER_CHANGE", said, snapshot)
        elif _is_whole(said):
            yield MetadataRecord(int(found[1]), time, said["type"], said["data"], snapshot)
        else:
            add(unread, path, "no whole record", number, line)


def _is_whole(said: dict[str, Any]) -> bool:
    """Has a record what its type needs, each field of its kind?"""
    data = said.get("data")
    if not isinstance(said.get("type"), str) or not isinstance(data, dict):
        return False
    kinds = KINDS.get(said["type"], {})
    return all(data.get(name) is not None for name in NEEDED.get(said["type"], ())) and all(
        _is_of_kind(kinds.get(name), value) for name, value in data.items() if value is not None
    )


def _is_of_kind(kind: str | None, value: Any) -> bool:
    if kind == "[int32]":
        return isinstance(value, list) and all(map(_is_number, value))
    if kind in ("int8", "int16", "int32"):
        return _is_number(value)
    return isinstance(value, str) if kind in ("string", "uuid") else True


def _is_number(value: Any) -> bool:
    """Is this a number as Kafka has them, of 32 bits at most?"""
    return type(value) is int and -(2**31) <= value < 2**31


@dataclass
class Snapshot:
    """What a cluster's metadata was like before a record of its log.

    end: the offset of that record. records: one for each thing that there is; no history.
    """

    end: int
    records: list[MetadataRecord]

    @property
    def time(self) -> int:
        """When the last record before its end was written, as far as it is known; else 0."""
        return min((each.time for each in self.records if each.time is not None), default=0)


def merged(
    dumps: Iterable[Sequence[MetadataRecord]], notes: list[str]
) -> tuple[Snapshot | None, list[MetadataRecord]]:
    """The records of several dumps of one log, each once, by offset; as they stand if one has all.
    notes: gets a sentence if dumps disagree.

    If the first ones are gone, the log begins where the earliest snapshot ends that leaves no gap,
    or, without one, where the last snapshot does.
    """
    each_dump = [[each for each in dump if each.snapshot is None] for dump in dumps]
    snapshots: dict[int, dict[int, MetadataRecord]] = {}
    for dump in dumps:
        for record in dump:
            if record.snapshot is not None:
                snapshots.setdefault(record.snapshot, {})[record.offset] = record
    each_dump = [dump for dump in each_dump if dump]
    if len(each_dump) == 1 and len({each.offset for each in each_dump[0]}) == len(each_dump[0]):
        records = each_dump[0]
    else:
        found: dict[int, MetadataRecord] = {}
        disagree: set[int] = set()
        for dump in each_dump:
            for record in dump:
                if _subject(found.setdefault(record.offset, record)) != _subject(record):
                    disagree.add(record.offset)
        if disagree:
            notes.append(
                f"The dumps of the metadata log disagree at offset {min(disagree)}: one is of"
                " another cluster, or has records that were never committed."
            )
        records = [found[offset] for offset in sorted(found)]
    if not snapshots or (records and records[0].offset <= 1):
        return None, records
    begin = records[0].offset if records else 0
    end = min((each for each in snapshots if each >= begin), default=max(snapshots))
    chosen = sorted(snapshots[end].items())
    return (
        Snapshot(end, [record for _, record in chosen]),
        [each for each in records if each.offset >= end],
    )


def _subject(record: MetadataRecord) -> tuple:
    """What a record is about, which is the same in every controller's copy of it, whatever release
    has printed it."""
    kind = "" if record.type in ("CONTROL", "LEADER_CHANGE") else record.type
    return kind, record.data.get("topicId"), record.data.get("brokerId")


TOPIC, BROKER = 2, 4
"""A configuration's resource types."""

MIN_ISR = "min.insync.replicas"

OF_A_PARTITION = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")

FENCED, UNFENCED, SHUTS_DOWN = "is fenced", "is unfenced", "begins a controlled shutdown"
REGISTERS, UNREGISTERED = "registers", "is unregistered"


def registrations(record: MetadataRecord) -> Iterator[tuple[int, str]]:
    """What a record says of brokers' registrations: each broker, and what becomes of it. Other
    fields, such as directories, say nothing of that."""
    data = record.data
    match record.type:
        case "REGISTER_BROKER_RECORD":
            yield data["brokerId"], REGISTERS
        case "UNREGISTER_BROKER_RECORD":
            yield data["brokerId"], UNREGISTERED
        case "FENCE_BROKER_RECORD":
            yield data["id"], FENCED
        case "UNFENCE_BROKER_RECORD":
            yield data["id"], UNFENCED
        case "BROKER_REGISTRATION_CHANGE_RECORD":
            if data.get("inControlledShutdown") == 1:
                yield data["brokerId"], SHUTS_DOWN
            if data.get("fenced"):
                yield data["brokerId"], FENCED if data["fenced"] == 1 else UNFENCED
