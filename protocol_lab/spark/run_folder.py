"""The run folder of a search on Spark: its levels as Parquet, and its visited set.

    manifest.json                   which search this is; never continued with another one
    level-00007-1c4f0a22/*.parquet  the new states of depth 7, see `level_files`
    level-00007.json                its counts, and its files with their checksums; written last
    seen/                           fingerprints (see `executor.visited_runs`)
    lock                            held by the search that uses the folder

Each attempt at a level writes into a folder of its own, which the level's record names. So what a
killed driver leaves behind, or tasks that outlive it, is never taken for a level, nor mixed with
one. The folder must be visible under the same path to the driver and to every executor.
"""

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from protocol_lab.checker.cross_check import spread
from protocol_lab.errors import LabError
from protocol_lab.spark.executor.level_files import (
    Block,
    LevelPiece,
    is_whole,
    pieces_of,
    read_piece,
)
from protocol_lab.spark.executor.visited_runs import VisitedRuns, owner_of
from protocol_lab.system.folders import SHARED, write_whole
from protocol_lab.system.operating_system import try_lock


class RunFolder:
    """One run folder, as the driver uses it; `records` are those of its complete levels."""

    def __init__(self, path: Path, state_bytes: int, least_owners: int):
        self.path, self.state_bytes = path, state_bytes
        self.records: list[dict[str, Any]] = []
        self.seen = VisitedRuns(path / "seen", 0, least_owners)

    # --- Which search is it? ----------------------------------------------------------------

    @contextmanager
    def claimed(self, identity: dict[str, Any]) -> Iterator[None]:
        """A context that makes the folder, or checks that it belongs to the same request, and locks
        it.

        Raises LabError naming the first thing that differs, or if another search is using it.
        """
        manifest = self.path / "manifest.json"
        try:
            if not manifest.exists():
                if self.path.exists() and any(self.path.iterdir()):
                    raise LabError(
                        f"{self.path} is not empty, but has no search: name another folder."
                    )
                (self.path / "seen").mkdir(parents=True)
                _write_json(manifest, identity)
            known, lock = _read_json(manifest), (self.path / "lock").open("wb")
        except OSError as error:
            raise self._refusal(error) from None
        except ValueError:
            raise LabError(
                f"{manifest} is damaged, or of another version of the kit: name another folder, or"
                " delete this one to start afresh."
            ) from None
        with lock:
            for name, value in identity.items():
                if known.get(name) != value:
                    differs = _difference(name, known.get(name), value)
                    raise LabError(
                        f"{self.path} holds another search ({differs}): name another folder, or"
                        " delete it to start afresh."
                    )
            if not try_lock(lock):
                raise LabError(
                    f"Another search is using {self.path}: wait for it, or name another folder."
                )
            yield

    def _refusal(self, error: OSError) -> LabError:
        return LabError(f"The run folder {self.path} can't be used ({error}): name another.")

    # --- Levels -----------------------------------------------------------------------------

    def new_level(self, depth: int) -> Path:
        """Make an empty folder in which the next attempt at a level writes its Parquet files."""
        level = self.path / f"level-{depth:05}-{uuid.uuid4().hex[:8]}"
        level.mkdir()
        return level

    def complete(self, level: Path, seen: VisitedRuns, record: dict[str, Any]) -> None:
        """Record a level as complete, and remove the runs of fingerprints that are no longer
        needed."""
        superfluous = self.seen.files() - seen.files()
        record |= {"partitions": seen.partitions, "folder": level.name}
        _write_json(self._record(record["depth"]), record)
        self.records.append(_read_json(self._record(record["depth"])))
        self.seen = seen
        for file in superfluous:
            file.unlink(missing_ok=True)

    def _record(self, depth: int) -> Path:
        return self.path / f"level-{depth:05}.json"

    def resume(self) -> None:
        """Find the complete levels, so that the search can continue after the last.

        A level whose files no longer hold what its record says is not complete, and neither is any
        after it; what belongs to no complete level is removed. Raises LabError if something in the
        folder can't be read or replaced.
        """
        self.records = []
        try:
            while (record := self._whole_record(len(self.records) + 1)) is not None:
                self.records.append(record)
            kept = {record["folder"] for record in self.records}
            kept |= {self._record(record["depth"]).name for record in self.records}
            for path in self.path.glob("level-*"):
                if path.name not in kept:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        except OSError as error:
            raise self._refusal(error) from None

    def rebuild_seen(self) -> None:
        """Make the visited set again from the states of the complete levels."""
        shutil.rmtree(self.seen.folder, ignore_errors=True)
        self.seen.folder.mkdir()
        if self.records:
            depth, partitions = len(self.records), self.records[-1]["partitions"]
            self.seen = VisitedRuns(self.seen.folder, depth, partitions, base=depth)
            levels = (self.read(each) for each in range(1, depth + 1))
            self.seen.rebuild(block.fingerprints for level in levels for block in level)

    def _whole_record(self, depth: int) -> dict[str, Any] | None:
        """The record of a level if it and all files of the level are whole."""
        try:
            record = _read_json(self._record(depth))
        except (OSError, ValueError):
            return None
        return record if all(map(is_whole, self._pieces(record))) else None

    def level(self, depth: int) -> Path:
        """The folder with the Parquet files of a complete level."""
        return self.path / self.records[depth - 1]["folder"]

    def pieces(self, depth: int, owner: int | None = None) -> list[LevelPiece]:
        """The files of a complete level, or those of one owner's part."""
        return self._pieces(self.records[depth - 1], owner)

    def _pieces(self, record: dict[str, Any], owner: int | None = None) -> list[LevelPiece]:
        return pieces_of(self.path / record["folder"], record["report"]["files"], owner)

    def read(self, depth: int) -> Iterator[Block]:
        """The states of a complete level, a few blobs at a time."""
        for piece in self.pieces(depth):
            yield from read_piece(piece, self.state_bytes)

    def sample(self) -> Iterator[bytes]:
        """The states of the complete levels: one of each level first, then the others."""
        depths = [1 + at for at in spread(len(self.records))]
        for each in depths:
            yield from (block.rows[0].tobytes() for block in islice(self.read(each), 1))
        for each in depths:
            rows = chain.from_iterable(block.rows for block in self.read(each))
            yield from (row.tobytes() for row in islice(rows, 1, None))

    def find(self, depth: int, fingerprint: int) -> tuple[bytes, int] | None:
        """The stored state of this depth and fingerprint, if there is one, and its parent's
        fingerprint."""
        owner = owner_of(fingerprint, self.records[depth - 1]["partitions"])
        for piece in self.pieces(depth, owner):
            for block in read_piece(piece, self.state_bytes):
                at = np.flatnonzero(block.fingerprints == np.uint64(fingerprint))
                if len(at):
                    return block.rows[at[0]].tobytes(), int(block.parents[at[0]])
        return None

    def path_to(self, depth: int, fingerprint: int) -> list[bytes]:
        """The states from an initial one to the stored state of this depth and fingerprint. Raises
        LabError if one of them is missing."""
        rows = []
        while depth:
            found = self.find(depth, fingerprint)
            if found is None:
                raise LabError(
                    f"{self.level(depth)} lacks a state: delete {self.path} and start again."
                )
            row, fingerprint = found
            rows.append(row)
            depth -= 1
        return rows[::-1]


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Write it whole or not at all."""
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode(), SHARED)


def _read_json(path: Path) -> dict[str, Any]:
    """What `_write_json` has written. Raises OSError or ValueError if it is gone or damaged."""
    return json.loads(path.read_bytes())


def _difference(name: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        name = next(each for each in {**there, **here} if there.get(each) != here.get(each))
        there, here = there.get(name), here.get(name)
    if name == "source":
        return "the spec's source has changed since"
    return f"{name} is {there} there and {here} here"
