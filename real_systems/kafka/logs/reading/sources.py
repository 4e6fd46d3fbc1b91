"""The files of a folder that say something of a Kafka cluster, each with what it is and whose.

A file is known by what is in it, not by its name: logs are rotated, renamed and compressed.
"""

import os
import re
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory

from protocol_lab.errors import LabError
from real_systems.kafka.logs.reading.file_lines import lines_of
from real_systems.kafka.logs.reading.unread import Unread

_SNIFFED, _SNIFFED_BYTES = 200, 1 << 20
"""Lines and bytes that are read to tell what a file is."""

_DUMP = re.compile(r"baseOffset: \d+|\| offset: \d+|^offset: \d+ .*payload", re.MULTILINE)
_METADATA = re.compile(
    r'payload: \{"type":"[A-Z_]+"|LeaderChange: \{|__cluster_metadata-0/\d+\.(log|checkpoint)'
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_TOPICS = re.compile(r"^\s*Topic: ?\S+\s+Partition: ?\d+\s+Leader: ?", re.MULTILINE)
_QUORUM = re.compile(r"^NodeId\s+(?:\w+\s+)?LogEndOffset\s|^LeaderEpoch:\s+\d+$", re.MULTILINE)
_SEGMENT = re.compile(r"\d{20}\.log|\d{20}-\d{10}\.checkpoint")
_ZSTD = b"\x28\xb5\x2f\xfd"
_PROPERTIES = re.compile(r"^(broker\.id|node\.id)\s*=\s*(-?\d+)\s*$", re.MULTILINE)
_NODE_FOLDER = re.compile(r"(?:^|[^a-z])(?:node|broker|kafka|server|controller)[-_.]?(\d+)$", re.I)
_NODE_TEXT = re.compile(
    r"\[(?:Broker|KafkaServer|BrokerServer|ControllerServer|SharedServer|KafkaRaftServer"
    r"|RaftManager|ReplicaManager|LogManager|Controller|QuorumController)"
    r" (?:broker|node)?(?:id|Id|broker)?=(\d+)\]|\[Kafka Server (\d+)\]"
    r"|^\S* ?\S* TRACE Broker (\d+) |ReplicaFetcherManager on broker (\d+)\]"
)


class Kind(Enum):
    """What a file is."""

    METADATA = "the metadata log, decoded"
    TOPIC = "a topic's log, decoded"
    LOG = "a log of a broker or controller"
    PROPERTIES = "a server's properties"
    SEGMENT = "a segment or a snapshot of a log, as it is on disk"
    TOPICS = "what kafka-topics --describe prints"
    QUORUM = "what kafka-metadata-quorum describe prints"
    EPOCHS = "a replica's leader-epoch-checkpoint"


@dataclass(frozen=True)
class Source:
    """A file that can be read. `node`: the broker or controller that wrote it, if that is known."""

    path: Path
    kind: Kind
    node: int | None


@dataclass
class Sources:
    """What was found in some folders, and what could not be read there."""

    files: list[Source] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def of(self, kind: Kind) -> list[Source]:
        """The files of one kind."""
        return [each for each in self.files if each.kind is kind]


@contextmanager
def unpacked(paths: Sequence[Path]) -> Iterator[tuple[list[Path], list[Unread]]]:
    """These folders and files, for as long as the block lasts: archives (.tar, .tar.gz, .zip) are
    unpacked, those in a folder beside it. With them the archives in folders that can't be
    unpacked.

    Raises LabError for a path that is such an archive.
    """
    with TemporaryDirectory(prefix="cluster-logs-") as place:
        found: list[Path] = []
        unread: list[Unread] = []
        for number, path in enumerate(paths):
            if not _is_archive(path):
                found.append(path)
            inside = [path] if path.is_file() else sorted(path.rglob("*"))
            for k, each in enumerate(filter(_is_archive, inside)):
                try:
                    found.append(_unpacked(each, Path(place) / f"{number}-{k}"))
                except _ArchiveError as error:
                    if each == path:
                        raise LabError(f"{each} {error}.") from None
                    unread.append(Unread(each, str(error)))
        yield found, unread


def _is_archive(path: Path) -> bool:
    named = path.name.endswith((".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip"))
    try:
        return named and path.is_file()
    except OSError:
        return False


class _ArchiveError(Exception):
    """Why an archive can't be unpacked."""


def _unpacked(path: Path, place: Path) -> Path:
    folder = place / path.name.partition(".")[0]
    try:
        if path.suffix == ".zip":
            shutil.unpack_archive(path, folder)
        else:
            shutil.unpack_archive(path, folder, filter="data")
    except (tarfile.TarError, shutil.ReadError, OSError, EOFError, zlib.error) as error:
        raise _ArchiveError(f"can't be unpacked ({error}): unpack it by hand") from None
    return folder


def find_sources(folders: Sequence[Path], unread: Iterable[Unread] = ()) -> Sources:
    """The files below these folders (or these files). Raises LabError if none says anything.

    unread: what could not be unpacked.
    """
    found, unknown = Sources(unread=list(unread)), 0
    for folder in folders:
        if not folder.exists():
            raise LabError(
                f"There is no folder {folder}: name the one that has the cluster's logs."
            )
        for path in sorted(_files_below(folder, found)) if folder.is_dir() else [folder]:
            try:
                source = _source(path, found.unread)
            except OSError as error:
                found.unread.append(Unread(path, f"can't be read ({error.strerror or error})"))
                continue
            if source is None:
                unknown += 1
            else:
                found.files.append(source)
    if not found.files:
        names = " and ".join(map(str, folders))
        why = f"; {str(found.unread[0]).removesuffix('.')}" if found.unread else ""
        raise LabError(
            f"Nothing in {names} is a log of Kafka ({unknown} other files){why}: name a folder with"
            " server.log, controller.log, state-change.log, or with the output of kafka-dump-log."
        )
    return found


def _files_below(folder: Path, found: Sources) -> Iterator[Path]:
    def note(error: OSError) -> None:
        found.unread.append(Unread(Path(error.filename), f"can't be read ({error.strerror})"))

    seen = {folder.resolve()}
    for place, folders, names in os.walk(folder, onerror=note, followlinks=True):
        below = {name: Path(place, name).resolve() for name in sorted(folders)}
        folders[:] = [name for name, path in below.items() if path not in seen]
        seen.update(below.values())
        paths = (Path(place) / name for name in names)
        yield from (path for path in paths if not _is_archive(path))  # they are unpacked


def _source(path: Path, unread: list[Unread]) -> Source | None:
    """What a file is; None if it says nothing of a cluster. Raises OSError.

    unread: gets a compressed file of which nothing can be read.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would never end
        return None
    if _SEGMENT.fullmatch(path.name):
        return Source(path, Kind.SEGMENT, node_of(path, ""))
    if path.name == "leader-epoch-checkpoint" or path.name.startswith("leader-epoch-checkpoint-"):
        return Source(path, Kind.EPOCHS, node_of(path, ""))
    with path.open("rb") as file:
        if file.read(4) == _ZSTD:
            raise OSError(None, "zstd compresses it: decompress it first")
    breaks: list[Unread] = []
    text = "\n".join(_head(path, breaks))
    kind = _kind(text)
    if breaks and not text:
        unread.append(Unread(path, "breaks off before anything can be read"))
    return kind and Source(path, kind, node_of(path, text))


def _head(path: Path, breaks: list[Unread]) -> list[str]:
    head = []
    for number, line in lines_of(path, 0, _SNIFFED_BYTES, breaks):
        head.append(line)
        if number == _SNIFFED:
            break
    return head


def _kind(text: str) -> Kind | None:
    if _DUMP.search(text) or "Log starting offset" in text:
        return Kind.METADATA if _METADATA.search(text) else Kind.TOPIC
    if _TOPICS.search(text):
        return Kind.TOPICS
    if _QUORUM.search(text):
        return Kind.QUORUM
    if _TIME.search(text) and re.search(r"\b(INFO|WARN|ERROR|TRACE|DEBUG|FATAL)\b", text):
        return Kind.LOG
    if _PROPERTIES.search(text):
        return Kind.PROPERTIES
    return None


def node_of(path: Path, text: str) -> int | None:
    """Whose file it is: by what it says itself, by the folder's name, or by its properties."""
    if found := _NODE_TEXT.search(text):
        return int(next(each for each in found.groups() if each))
    if found := _PROPERTIES.search(text):
        return int(found[2])
    for folder in path.parents:
        if found := _NODE_FOLDER.search(folder.name):
            return int(found[1])
        for name in ("server.properties", "meta.properties"):
            if (folder / name).is_file():
                return _named_in(folder / name)
    return None


def _named_in(properties: Path) -> int | None:
    try:
        found = _PROPERTIES.search(properties.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return int(found[2]) if found else None
