"""What Kafka's tools, checkpoints and topics' segments say of a cluster at one moment, which they
don't name.

Read: kafka-topics --describe, kafka-metadata-quorum describe (--status and --replication) and
leader-epoch-checkpoint, of 4.3.1; kafka-dump-log of a topic, of 0.11 to 4.3.1. kafka-topics prints
no ELR before 4.0. Of topics' segments as they are on disk the values of records are not read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from real_systems.kafka.logs.reading.lines.file_lines import blocks_of, lines_of, lines_with
from real_systems.kafka.logs.reading.segments import PARTITION, whole
from real_systems.kafka.logs.reading.sources import Source
from real_systems.kafka.logs.reading.unread import Unread

_FIELDS = (
    "TopicId|Topic|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Isr|Elr"
    "|(?:Adding |Removing )?Replicas"
    "|LastKnownElr|Offline|MarkedForDeletion"
)
_FIELD = re.compile(rf"(?<!\S)({_FIELDS}): ?(?!(?:{_FIELDS}):)(\S*)")
"""Tabs separate the fields, and blanks where somebody has pasted them."""

_BATCH = re.compile(
    r"baseOffset: (\d{1,19}) lastOffset: (\d{1,19}) .*?partitionLeaderEpoch: (-?\d{1,10})\b"
)
_DUMPED = re.compile(r"^Dumping (?:.*/)?([\w.-]{1,260}-\d{1,10})/\d{1,20}\.log")
_ROW = re.compile(r"\s*(\d{1,10})\s+(?:[^\s\d]\S*\s+|\S{22}\s+)?(\d{1,19})\s+\d{1,19}\s")
_ROLES = ("Leader", "Follower", "Observer")
_STATUS = re.compile(r"^\s*(LeaderId|HighWatermark|CurrentVoters):\s+(\S.*)$")


@dataclass(frozen=True)
class Described:
    """A partition as kafka-topics --describe prints it. place: the file and line. elr, last_known:
    None if it prints none."""

    place: str
    partition: str
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None
    last_known: tuple[int, ...] | None


@dataclass(frozen=True)
class Quorum:
    """What a controller says of the metadata log. place: the file. ends: for each node up to which
    offset it has the log, the leader first; committed: the high watermark; both and the voters as
    far as they are printed."""

    place: str
    ends: dict[int, int]
    committed: int | None
    voters: tuple[int, ...]


@dataclass(frozen=True)
class LogOnDisk:
    """A replica's log. epochs: each with the offset at which it begins. end: the offset behind its
    last record; None if only the epochs are known."""

    place: str
    partition: str
    node: int
    epochs: tuple[tuple[int, int], ...]
    end: int | None


def described_in(source: Source) -> Iterator[tuple[Described | None, dict[str, int]]]:
    """The partitions in what kafka-topics prints; and by topic what min.insync.replicas is set to,
    with a topic's own line. Raises OSError."""
    for number, line in lines_of(source.path):
        fields = dict(_FIELD.findall(line))
        if "Configs" in fields and (found := re.search(r"min\.insync\.replicas=(\d{1,9})\b", line)):
            yield None, {fields["Topic"]: int(found[1])}
        if not {"Topic", "Partition", "Leader", "Replicas", "Isr"} <= fields.keys():
            continue
        yield (
            Described(
                f"{_place(source.path)}:{number}",
                f"{fields['Topic']}-{fields['Partition']}",
                next(iter(_brokers(fields["Leader"])), -1),
                _brokers(fields["Replicas"]),
                _brokers(fields["Isr"]),
                _brokers(fields["Elr"]) if "Elr" in fields else None,
                _brokers(fields["LastKnownElr"]) if "LastKnownElr" in fields else None,
            ),
            {},
        )


def quorum_in(source: Source) -> Quorum | None:
    """What kafka-metadata-quorum prints; None if nothing here is of it. Raises OSError."""
    ends: dict[int, int] = {}
    status: dict[str, str] = {}
    for _, line in lines_of(source.path):
        if line.rstrip().endswith(_ROLES) and (found := _ROW.match(line)):
            ends[int(found[1])] = int(found[2])
        if found := _STATUS.match(line):
            status[found[1]] = found[2]
    leader, committed = (
        int(text) if _is_number((text := status.get(name, "")).removeprefix("-").strip()) else None
        for name in ("LeaderId", "HighWatermark")
    )
    if not ends and leader is None:
        return None
    voters = status.get("CurrentVoters", "")
    ids = re.findall(r'"id": ?(\d{1,10})\b', voters) or re.findall(r"\b\d{1,10}\b", voters)
    return Quorum(_place(source.path), ends, committed, tuple(map(int, ids)))


def checkpoint_in(source: Source) -> LogOnDisk | None:
    """A leader-epoch-checkpoint; None if it is empty or not whole. Raises OSError."""
    numbers = [line.split() for _, line in lines_of(source.path) if line.strip()]
    rows = [tuple(map(int, row)) for row in numbers[2:] if all(map(_is_number, row))]
    folder = source.path.parent.name
    name = source.path.name.removeprefix("leader-epoch-checkpoint").removeprefix("-") or folder
    is_whole = numbers[1:2] == [[str(len(rows))]] and {len(row) for row in rows} == {2}
    if source.node is None or not is_whole:
        return None
    epochs = tuple((epoch, start) for epoch, start in rows)
    return LogOnDisk(_place(source.path), name, source.node, epochs, None)


def dumped_in(source: Source) -> LogOnDisk | None:
    """A topic's log, as kafka-dump-log prints it; None without epochs, as before 0.11. Raises
    OSError."""
    partition, epochs, end = source.path.stem, [], None
    for block in blocks_of(source.path):
        for _, _, line, _ in lines_with(block, [b"baseOffset: ", b"Dumping "]):
            if found := _DUMPED.match(line):
                partition = found[1]
            elif found := _BATCH.match(line):
                first, last, epoch = map(int, found.groups())
                end = last + 1
                if not epochs or epochs[-1][0] != epoch:
                    epochs.append((epoch, first))
    if end is None or source.node is None or epochs[0][0] < 0:
        return None
    return LogOnDisk(_place(source.path), partition, source.node, tuple(epochs), end)


def logs_in(
    segments: Iterable[Source], topic: str | None, unread: list[Unread]
) -> Iterator[LogOnDisk]:
    """The replicas' logs that these segments are of.

    Of topics only this one is read, or all but Kafka's own. What can't be read goes to `unread`.
    Raises OSError.
    """
    in_order = sorted(segments, key=lambda each: each.path)
    for folder, some in groupby(in_order, lambda each: each.path.parent):
        files = list(some)
        name, node = files[0].name, files[0].node
        its_topic = folder.name.rpartition("-")[0]
        if not PARTITION.fullmatch(folder.name):
            unread.append(Unread(name, "is of no known partition: keep its folder, as in t-0"))
        elif its_topic == topic if topic else not its_topic.startswith("__"):
            if node is None:
                unread.append(Unread(name, "is of no known broker: keep a folder for each"))
            else:
                found = _log_in(files, folder.name, node, unread)
                if found:
                    yield found


def _log_in(
    files: list[Source], partition: str, node: int, unread: list[Unread]
) -> LogOnDisk | None:
    epochs: list[tuple[int, int]] = []
    end = None
    for source in files:
        for batch in whole(source.path, unread, source.name):
            end = batch.last + 1
            if batch.epoch not in (None, -1, *[epoch for epoch, _ in epochs[-1:]]):
                epochs.append((batch.epoch, batch.base))
    place = "/".join(files[0].path.parts[-3:-1])
    return LogOnDisk(place, partition, node, tuple(epochs), end) if epochs else None


def parting(one: LogOnDisk, other: LogOnDisk) -> int | None:
    """The first offset at which these logs certainly have records of different epochs.

    Without their ends only an epoch that begins in both tells: a leader notes its own also if it
    has written nothing. The first epoch of a log may begin where older records were deleted.
    """
    if one.end is None or other.end is None:
        begins = dict(other.epochs[1:])
        apart = [
            min(offset, begins[epoch])
            for epoch, offset in one.epochs[1:]
            if begins.get(epoch, offset) != offset
        ]
        return min(apart, default=None)
    edges = sorted({offset for log in (one, other) for _, offset in log.epochs})
    both = range(max(one.epochs[0][1], other.epochs[0][1]), min(one.end, other.end))
    return next(
        (each for each in edges if each in both and _epoch_at(one, each) != _epoch_at(other, each)),
        None,
    )


def partings(logs: Sequence[LogOnDisk]) -> Iterator[tuple[LogOnDisk, LogOnDisk, int]]:
    """Neighbours among the logs of a partition that part, each with the first such offset."""
    for one, other in pairwise(sorted(logs, key=lambda each: each.node)):
        offset = parting(one, other)
        if offset is not None:
            yield one, other, offset


def _epoch_at(log: LogOnDisk, offset: int) -> int:
    return [epoch for epoch, first in log.epochs if first <= offset][-1]


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 20


def _brokers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"-?\b\d{1,10}\b", text))


def _place(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def best(logs: Iterable[LogOnDisk]) -> dict[int, LogOnDisk]:
    """For each broker what says most of its log: a dump before a checkpoint."""
    found: dict[int, LogOnDisk] = {}
    for log in logs:
        known = found.get(log.node)
        if known is None or (known.end is None and log.end is not None):
            found[log.node] = log
    return found
