"""Archives (tar, compressed or not, and zip), unpacked for as long as their logs are read.

An archive is known by what is in it. Archives in archives are unpacked, too. What can't be
unpacked, or not to its end and its checksum, is named; an archive's links are not followed.
"""

import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from protocol_lab.system.folders import remover
from real_systems.kafka.logs.reading.lines.file_lines import DAMAGES, opener_of
from real_systems.kafka.logs.reading.unread import Unread

DEEPEST = 4
"""Archives in archives that are unpacked."""

_MOST_MEMBERS = 100_000
_ALWAYS, _RATIO, _OF_FREE = 2 << 30, 100, 0.8
"""Bytes that may be unpacked whatever an archive's size; else so many times that; and of what is
free on the disk at most this part."""

_PART = 120  # characters of a name's part that are kept
_CHUNK = 1 << 20
_NAMES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".zip")
_NO_LOGS = (".jar", ".war", ".docx", ".xlsx", ".odt")
_DAMAGES = (
    *DAMAGES,
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,  # a password is needed, or a compression that Python lacks
    ValueError,
)


class _StrictHeader(tarfile.TarInfo):
    """A header; one that is damaged is an error. `tarfile` takes it for the archive's end."""

    @classmethod
    def frombuf(cls, buf: bytes, encoding: str, errors: str) -> tarfile.TarInfo:
        try:
            return super().frombuf(buf, encoding, errors)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from None


@contextmanager
def unpacked(paths: Sequence[Path], most: int | None = None) -> Iterator["Unpacked"]:
    """These folders and files, and what is in archives among or below them, while the block lasts.

    most: bytes that may be unpacked, if they are fewer than usual. Nothing stays of it in the
    temporary folder, even if the process is killed. Raises OSError.
    """
    with TemporaryDirectory(prefix="cluster-logs-", ignore_cleanup_errors=True) as place:
        found = Unpacked(Path(place), most)
        for path in paths:
            if not is_archive(path):
                found.places.append(path)
            found.unpack_below(path, 1)
        try:
            yield found
        finally:
            found.close()


def is_archive(path: Path) -> bool:
    """Is this a file that is unpacked?"""
    try:
        return not path.is_symlink() and path.is_file() and bool(_kind(path))
    except DAMAGES:
        return False


def _kind(path: Path) -> str:
    """ "tar" or "zip"; "" for any other file. Raises OSError."""
    name = path.name.lower()
    with path.open("rb") as file:
        head = file.read(512)
    if head.startswith((b"PK\3\4", b"PK\5\6")) and not name.endswith(_NO_LOGS):
        return "zip"
    if opener_of(head) is not open:
        with suppress(*DAMAGES), opener_of(head)(path, "rb") as file:
            head = file.read(512)
    if head[257:262] == b"ustar":
        return "tar"
    named = next((each for each in _NAMES if name.endswith(each)), "")
    return ("zip" if named == ".zip" else "tar") if named and head else ""


class Unpacked:
    """Folders and files to read. Unpacks archives into folders below a place, within bounds.

    unread: archives, or what is in them, that could not be unpacked. names: for each folder that
    was made the archive that it is of.
    """

    def __init__(self, place: Path, most: int | None):
        self.places: list[Path] = []
        self.unread: list[Unread] = []
        self.names: dict[Path, Path] = {}
        self._place, self._most = place, most
        self._members = self._used = self._packed = 0
        self._watcher: subprocess.Popen | None = None

    def close(self) -> None:
        """Remove what was unpacked."""
        if self._watcher is not None:
            self._watcher.communicate()

    def name(self, path: Path) -> Path:
        """A file's name as people know it: with the archives that it is in."""
        for folder in path.parents:
            if folder in self.names:
                return self.name(self.names[folder]) / path.relative_to(folder)
        return path

    def unpack_below(self, path: Path, depth: int) -> None:
        """Unpack a file if it is an archive, or the archives in a folder."""
        inside = [path]
        if path.is_dir():
            inside = sorted(each for each in path.rglob("*") if not is_linked(each, path))
        for each in filter(is_archive, inside):
            if depth > DEEPEST:
                self._note(each, f"is an archive {depth - 1} archives deep: unpack it by hand")
                continue
            if self._watcher is None:
                self._watcher = remover(self._place)
            folder = self._place / str(len(self.names)) / each.name.partition(".")[0]
            folder.mkdir(parents=True)
            self.names[folder] = each
            self.places.append(folder)
            self._packed += each.stat().st_size if depth == 1 else 0
            try:
                unpack = self._unzip if _kind(each) == "zip" else self._untar
                unpack(each, folder)
            except _DAMAGES as error:
                why = str(error) or type(error).__name__
                self._note(each, f"can't be unpacked to its end ({why}): unpack it by hand")
            self.unpack_below(folder, depth + 1)

    def _note(self, path: Path, why: str) -> None:
        self.unread.append(Unread(self.name(path), why))

    def _untar(self, path: Path, folder: Path) -> None:
        with path.open("rb") as file:
            opener = opener_of(file.read(8))
        with opener(path, "rb") as stream:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_StrictHeader) as tar:
                for member in tar:
                    if member.isreg():
                        self._expect(member.size)
                        self._write(tar.extractfile(member), folder, member.name, member.mtime)
                    elif not member.isdir() and not _stays_inside(member, folder):
                        self._note(
                            _inside(folder, member.name), "leads out of its archive: it is not read"
                        )
            while data := stream.read(_CHUNK):
                if data.strip(b"\0"):
                    raise tarfile.ReadError("there is more behind its end")

    def _unzip(self, path: Path, folder: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.infolist() if not each.is_dir()]
            self._expect(sum(each.file_size for each in members), len(members))
            for member in members:
                try:
                    with archive.open(member) as file:
                        self._write(file, folder, member.filename, _written(member))
                except _DAMAGES as error:
                    if isinstance(error, RuntimeError) and member.flag_bits & 1:
                        why = "is encrypted"
                    else:
                        why = f"can't be unpacked ({error or type(error).__name__})"
                    self._note(_inside(folder, member.filename), f"{why}: unpack it by hand")

    def _expect(self, size: int, members: int = 1) -> None:
        """So much is about to be written. Raises ValueError if it is too much."""
        allowed = self._most or max(_ALWAYS, _RATIO * self._packed)
        free = shutil.disk_usage(self._place).free * _OF_FREE
        self._members += members
        if self._used + size > allowed or size > free:
            left = min(allowed - self._used, free)
            raise ValueError(f"it needs {size / 1e9:,.1f} GB, and {left / 1e9:,.1f} GB may be used")
        if self._members > _MOST_MEMBERS:
            raise ValueError(f"it has more than {_MOST_MEMBERS:,} files")
        self._used += size

    def _write(self, source: BufferedIOBase, folder: Path, name: str, written: float) -> None:
        """Write a member, which was last written then; if it breaks off, what is before stays."""
        path = _inside(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        while path.exists():  # an archive may have several files of a name
            path = path.with_name(f"{path.name}~")
        with path.open("wb") as file:
            shutil.copyfileobj(source, file, _CHUNK)
        with suppress(OSError, OverflowError, ValueError):
            os.utime(path, (written, written))


def _written(member: zipfile.ZipInfo) -> float:
    """When a member was last written, in seconds since 1970; 0 if that is no date."""
    try:
        return datetime(*member.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return 0


def _inside(folder: Path, name: str) -> Path:
    """Where a member is written: always in its folder."""
    parts = [each[:_PART] for each in PurePosixPath(name.replace("\\", "/")).parts]
    parts = [each.replace("\0", "") for each in parts if each not in ("/", "..", ".")]
    return folder.joinpath(*parts) if parts else folder / "nameless"


def is_linked(path: Path, root: Path) -> bool:
    """Is there a link in a path below a folder?"""
    below = [path, *path.parents]
    return any(each.is_symlink() for each in below[: below.index(root)])


def _stays_inside(member: tarfile.TarInfo, folder: Path) -> bool:
    """Does a link lead to what is in the same archive, and so is read under its own name?"""
    try:
        tarfile.data_filter(member, str(folder))
    except (tarfile.FilterError, ValueError):  # also for what is neither a link nor a file
        return False
    return True
