"""The run folder of a search on Spark: every level as Parquet, and what was seen so far.

    manifest.json                   which search this is; never continued with another one
    level-00007-1c4f0a22/*.parquet  the new states of depth 7, see `level_files`
    level-00007.json                its counts, and its files with their sizes; written last
    seen/                           fingerprints (see `seen`)
    lock                            held by the search that is at work here

Each attempt at a level writes into a folder of its own, which the level's record names. So what a
killed driver, or tasks that outlive it, leave behind is never taken for a level, nor mixed into
one. The folder must be visible under the same path to the driver and to every executor.
"""

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from protocol_lab.errors import LabError
from protocol_lab.spark.executor.level_files import Block, Piece, pieces_of, read_piece
from protocol_lab.spark.executor.visited_runs import Seen

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class RunFolder:
    """One run folder, as the driver uses it; `records` are those of its complete levels."""

    def __init__(self, path: str | Path, state_bytes: int):
        self.path, self.state_bytes = Path(path), state_bytes
        self.records: list[dict[str, Any]] = []

    # --- Which search is it? ----------------------------------------------------------------

    @contextmanager
    def claimed(self, identity: dict[str, Any]) -> Iterator[None]:
        """Make the folder, or make sure that what it holds was asked the same question; and keep
        others out of it.

        Raises LabError with the first thing that differs, or if another search is at work in it.
        """
        manifest = self.path / "manifest.json"
        try:
            if not manifest.exists():
                if self.path.exists() and any(self.path.iterdir()):
                    raise LabError(f"{self.path} is not empty and holds no search: name another.")
                (self.path / "seen").mkdir(parents=True)
                _write_json(manifest, identity)
            known, lock = json.loads(manifest.read_text()), (self.path / "lock").open("w")
        except (OSError, ValueError) as error:
            raise LabError(
                f"The run folder {self.path} can't be used ({error}): name another."
            ) from None
        with lock:
            for name, value in identity.items():
                if known.get(name) != value:
                    differs = _difference(name, known.get(name), value)
                    raise LabError(
                        f"{self.path} holds another search ({differs}): name another folder, or"
                        " delete it to start afresh."
                    )
            if not _locked(lock):
                raise LabError(
                    f"Another search is at work in {self.path}: wait for it, or name another."
                )
            yield

    # --- Levels -----------------------------------------------------------------------------

    def seen(self, partitions: int = 1) -> Seen:
        """What was seen up to the last complete level; before the first by so many owners."""
        if not self.records:
            return Seen(self.path / "seen", 0, partitions)
        last = self.records[-1]
        return Seen(self.path / "seen", last["depth"], last["partitions"], last["base"])

    def new_level(self, depth: int) -> Path:
        """An empty folder in which the next attempt at a level is to write its Parquet files."""
        level = self.path / f"level-{depth:05}-{uuid.uuid4().hex[:8]}"
        level.mkdir(parents=True)
        return level

    def complete(self, level: Path, seen: Seen, record: dict[str, Any]) -> None:
        """Declare a level complete, and drop the runs of fingerprints that are not needed now."""
        files = {file.name: file.stat().st_size for file in sorted(level.glob("*.parquet"))}
        superfluous = self.seen().files() - seen.files()
        record |= {
            "partitions": seen.partitions,
            "base": seen.base,
            "folder": level.name,
            "files": files,
        }
        self._keep(record)
        self.records.append(record)
        for file in superfluous:
            file.unlink(missing_ok=True)

    def _record(self, depth: int) -> Path:
        return self.path / f"level-{depth:05}.json"

    def _keep(self, record: dict[str, Any]) -> None:
        _write_json(self._record(record["depth"]), record)

    def resume(self) -> None:
        """Find the complete levels, ready to be continued after the last.

        Everything is read once. A level whose files no longer hold what its record says is not
        complete, and neither is any after it; what belongs to no complete level is removed. Runs
        of fingerprints are made again where they are gone or damaged.
        """
        self.records = []
        while (record := self._checked_record(len(self.records) + 1)) is not None:
            self.records.append(record)
        kept = {record["folder"] for record in self.records}
        kept |= {self._record(record["depth"]).name for record in self.records}
        for path in self.path.glob("level-*"):
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not self.records:
            return
        check = sum(record["report"]["check"] for record in self.records) % 2**64
        if not self.seen().holds(sum(record["new"] for record in self.records), check):
            rebuilt = self.seen().rebuilt()
            depths = range(1, len(self.records) + 1)
            rebuilt.rebuild(block.fingerprints for each in depths for block in self.read(each))
            self.records[-1]["base"] = rebuilt.base
            self._keep(self.records[-1])
        self.seen().sweep()

    def _checked_record(self, depth: int) -> dict[str, Any] | None:
        try:
            record = json.loads(self._record(depth).read_text())
            folder = self.path / record["folder"]
            files = {file.name: file.stat().st_size for file in folder.glob("*.parquet")}
            held = check = 0
            for piece in pieces_of(folder):
                for block in read_piece(piece, self.state_bytes):
                    held += len(block)
                    check += int(block.fingerprints.sum(dtype=np.uint64))
            whole = (files, held, check % 2**64)
            said = (record["files"], record["new"], record["report"]["check"])
            return record if whole == said else None
        except (OSError, ValueError, LookupError, LabError):
            return None

    def level(self, depth: int) -> Path:
        """The folder with the Parquet files of a complete level."""
        return self.path / self.records[depth - 1]["folder"]

    def pieces(self, depth: int) -> list[Piece]:
        """What a complete level can be read in."""
        return pieces_of(self.level(depth))

    def read(self, depth: int) -> Iterator[Block]:
        """The states of a complete level, a few blobs at a time."""
        for piece in self.pieces(depth):
            yield from read_piece(piece, self.state_bytes)

    def find(self, depth: int, fingerprint: int) -> tuple[bytes, int]:
        """The stored state of this depth and fingerprint, and its parent's fingerprint."""
        owner = owner_of(fingerprint, self.records[depth - 1]["partitions"])
        for piece in pieces_of(self.level(depth), owner):
            for block in read_piece(piece, self.state_bytes):
                at = np.flatnonzero(block.fingerprints == np.uint64(fingerprint))
                if len(at):
                    return block.rows[at[0]].tobytes(), int(block.parents[at[0]])
        raise LabError(f"{self.level(depth)} lacks a state: delete {self.path} and start again.")

    def path_to(self, depth: int, fingerprint: int) -> list[bytes]:
        """The states from an initial one to the stored state of this depth and fingerprint."""
        rows = []
        while depth:
            row, fingerprint = self.find(depth, fingerprint)
            rows.append(row)
            depth -= 1
        return rows[::-1]


def owner_of(fingerprint: int, partitions: int) -> int:
    """Who decides whether a fingerprint is new. The number of partitions is a power of two."""
    return fingerprint & (partitions - 1)


def _locked(lock: IO) -> bool:
    """Take the lock, which the system gives back when the process ends, however it ends."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write_json(path: Path, content: dict[str, Any]) -> None:
    part = path.with_suffix(f".{uuid.uuid4().hex}.part")
    part.write_text(json.dumps(content, indent=1) + "\n")
    part.replace(path)


def _difference(name: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        name = next(each for each in {**there, **here} if there.get(each) != here.get(each))
        there, here = there.get(name), here.get(name)
    if name == "source":
        return "the spec's source has changed since"
    return f"{name} is {there} there and {here} here"
