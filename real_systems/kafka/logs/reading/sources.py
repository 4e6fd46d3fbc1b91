"""The files of a folder that say something of a Kafka cluster, each with what it is and whose.

A file is known by what is in it, not by its name: logs are rotated, renamed and compressed.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from protocol_lab.errors import LabError
from real_systems.kafka.logs.reading.archives import Unpacked, is_archive
from real_systems.kafka.logs.reading.broker_lines import WORDS
from real_systems.kafka.logs.reading.lines.documents import framing_of
from real_systems.kafka.logs.reading.lines.file_lines import lines_of
from real_systems.kafka.logs.reading.lines.layouts import Layout, learned
from real_systems.kafka.logs.reading.segments import is_metadata_log
from real_systems.kafka.logs.reading.unread import Unread

_SNIFFED, _SNIFFED_BYTES = 200, 1 << 20
"""Lines and bytes that are read to tell what a file is."""

_DUMP = re.compile(r"baseOffset: \d+|\| offset: \d+|^offset: \d+ .{0,999}payload", re.MULTILINE)
_METADATA = re.compile(
    r'payload: \{"type":"[A-Z_]+"|LeaderChange: \{|__cluster_metadata-0/\d+\.(log|checkpoint)'
)
_TOPICS = re.compile(r"^\s*Topic: ?\S+\s+Partition: ?\d+\s+Leader: ?", re.MULTILINE)
_QUORUM = re.compile(
    r"^\s*NodeId\s+(?:\w+\s+)?LogEndOffset\s|^\s*LeaderEpoch:\s+\d+\s*$", re.MULTILINE
)
_SEGMENT = re.compile(r"\d{20}\.log|\d{20}-\d{10}\.checkpoint")
_PROPERTIES = re.compile(r"^(broker\.id|node\.id)\s*=\s*(-?\d{1,10})\s*$", re.MULTILINE)
_BESIDE = re.compile(
    r"\d{20}.*\.(?:index|timeindex|txnindex|snapshot|deleted|cleaned|swap)|partition\.metadata"
    r"|quorum-state|\.lock|\.kafka_cleanshutdown|[a-z-]+-checkpoint(?:\.tmp)?|bootstrap\.checkpoint"
    r"|.*-gc\.log[.\d]*(?:current)?|.*\.(?:properties|jar)"
)
"""Names of what Kafka keeps beside its logs, which says nothing of replication."""

_FOREIGN = {
    b"7z\xbc\xaf": "7z",
    b"Rar!": "RAR",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x1f\x9d": "compress",
}
"""How files begin that other tools unpack."""

_BLANK = b"\0 \r\n\t"
_NOTHING = "is nothing that the kit reads"


class Kind(Enum):
    """What a file is."""

    METADATA = "the metadata log, decoded"
    TOPIC = "a topic's log, decoded"
    LOG = "a log of a broker or controller"
    PROPERTIES = "a server's properties"
    METADATA_SEGMENT = "a segment or a snapshot of the metadata log, as it is on disk"
    TOPIC_SEGMENT = "a segment of a topic's log, as it is on disk"
    TOPICS = "what kafka-topics --describe prints"
    QUORUM = "what kafka-metadata-quorum describe prints"
    EPOCHS = "a replica's leader-epoch-checkpoint"


_LINES = Layout()


@dataclass(frozen=True)
class Source:
    """A file that can be read.

    node: the broker or controller that wrote it, if that is known; of a log its lines say it. name:
    the path as people know it, also in an archive. layout, framing: how a log is written, see
    `layouts` and `documents`.
    """

    path: Path
    kind: Kind
    node: int | None = None
    name: Path = Path()
    layout: Layout = _LINES
    framing: str = ""


@dataclass
class Sources:
    """What was found in some folders (`roots`), and what could not be read there."""

    files: list[Source] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    roots: list[Path] = field(default_factory=list)

    def of(self, kind: Kind) -> list[Source]:
        """The files of one kind."""
        return [each for each in self.files if each.kind is kind]


def find_sources(found: Unpacked) -> Sources:
    """The files below some folders (or these files), and what is not read of them. Raises LabError
    for a folder that there is not."""
    sources = Sources(unread=list(found.unread), roots=list(found.places))
    for folder in found.places:
        if not folder.exists():
            raise LabError(
                f"There is no folder {folder}: name the one that has the cluster's logs."
            )
        for path in _files_below(folder, found, sources.unread):
            name = found.name(path)
            try:
                source = _source(path, name)
            except OSError as error:
                why = f"can't be read ({error.strerror or error})"
                sources.unread.append(Unread(name, why))
                continue
            if isinstance(source, Source):
                sources.files.append(source)
            elif source is not None:
                sources.unread.append(source)
    return sources


def _files_below(folder: Path, found: Unpacked, unread: list[Unread]) -> Iterator[Path]:
    """The files below a folder. Links are not followed: what they lead to is read under its own
    name if it is below one of the folders, and named as not read if not."""

    def note(error: OSError) -> None:
        name = found.name(Path(error.filename))
        unread.append(Unread(name, f"can't be read ({error.strerror})"))

    if not folder.is_dir():
        yield folder
        return
    roots = [each.resolve() for each in found.places]
    for place, folders, names in os.walk(folder, onerror=note):
        folders.sort()
        for path in (Path(place) / each for each in sorted([*folders, *names])):
            if path.is_symlink():
                target = path.resolve()
                if not target.exists():
                    unread.append(Unread(found.name(path), "can't be read (No such file)"))
                elif not any(target.is_relative_to(root) for root in roots):
                    why = "is a link that leads out of the folder: name what it leads to as well"
                    unread.append(Unread(found.name(path), why))
            elif path.name not in folders and not is_archive(path):  # these are unpacked
                yield path


def _source(path: Path, name: Path) -> Source | Unread | None:
    """What a file is, or why it is not read; None if there is no need to. Raises OSError."""
    known = path.stat()
    if not stat.S_ISREG(known.st_mode):  # a pipe would never end
        return Unread(name, _NOTHING)
    if _SEGMENT.fullmatch(path.name):
        kind = Kind.METADATA_SEGMENT if is_metadata_log(path) else Kind.TOPIC_SEGMENT
        return Source(path, kind, name=name)
    if path.name == "leader-epoch-checkpoint" or path.name.startswith("leader-epoch-checkpoint-"):
        return Source(path, Kind.EPOCHS, name=name)
    with path.open("rb") as file:
        head = file.read(512)
    for magic, tool in _FOREIGN.items():
        if head.startswith(magic):
            return Unread(name, f"is packed by {tool}: unpack it first")
    breaks: list[Unread] = []
    lines = _head(path, breaks)
    framing = framing_of("\n".join(lines))
    if framing:
        lines = _head(path, [], framing)
    layout, ranks = learned(lines)
    text = "\n".join(lines)
    kind = _kind(text, ranks)
    if kind is Kind.LOG and (system := _other_system(text)):
        return Unread(name, f"is a log of {system}: the kit reads those of Kafka only")
    if kind is not None:
        said = _PROPERTIES.search(text) if kind is Kind.PROPERTIES else None
        return Source(path, kind, int(said[2]) if said else None, name, layout, framing)
    if breaks and not text:
        return Unread(name, "breaks off before anything can be read")
    is_blank = not head.strip(_BLANK) and not text.strip() and known.st_size <= _SNIFFED_BYTES
    if is_blank or _BESIDE.fullmatch(path.name):
        return None
    first = next(filter(str.strip, lines), "") if head.isascii() and b"\0" not in head else ""
    return Unread(name, _NOTHING, first=first)


def _other_system(text: str) -> str:
    """The system that writes logs like this, if that is not Kafka."""
    if "kafka" in text.lower() or any(each.decode() in text for each in WORDS):
        return ""
    names = {"Pulsar": r"pulsar", "BookKeeper": r"bookkeeper|bookie"}
    return next((each for each, word in names.items() if re.search(word, text, re.I)), "")


def _head(path: Path, breaks: list[Unread], framing: str = "") -> list[str]:
    head = []
    for number, line in lines_of(path, breaks, framing, None if framing else _SNIFFED_BYTES):
        head.append(line)
        if number == _SNIFFED:
            break
    return head


def _kind(text: str, ranks: Counter[int]) -> Kind | None:
    """What a file is that begins like this. ranks: of its lines, see `layouts.Line`."""
    if 2 * ranks[2] >= ranks.total() > 0:
        return Kind.LOG
    if _DUMP.search(text) or "Log starting offset" in text:
        return Kind.METADATA if _METADATA.search(text) else Kind.TOPIC
    if _TOPICS.search(text):
        return Kind.TOPICS
    if _QUORUM.search(text):
        return Kind.QUORUM
    if (
        ranks[2]
        or 4 * ranks[1] >= ranks.total() > 0
        or any(each.decode() in text for each in WORDS)
    ):
        return Kind.LOG
    return Kind.PROPERTIES if _PROPERTIES.search(text) else None
