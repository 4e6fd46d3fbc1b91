"""The run folder of a search on Spark: every level as Parquet, and what has been seen so far.

    manifest.json          which search this is; a folder is never continued with another one
    level-00007/*.parquet  the new states of depth 7, in blobs (see LEVEL)
    level-00007.json       its counts; written last, so that a level without it is not complete
    seen/00007-00002.npy   fingerprints that owner 2 has seen, sorted

A fingerprint belongs to the owner `fingerprint mod P`, who alone says whether it is new. What an
owner has seen up to depth d is kept in few sorted runs, after Fenwick's binary indexed trees: the
run of depth d holds the depths d - (d & -d) + 1 to d. So a level reads and writes at most
log2(d) + 1 runs, each fingerprint is rewritten at most log2(depth) times, and no file is ever
changed. The folder must be visible under the same path to the driver and to every executor.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from protocol_lab.errors import LabError

LEVEL = pa.schema(
    [
        ("depth", pa.int32()),
        ("owner", pa.int32()),
        ("count", pa.int32()),
        ("rows", pa.binary()),
        ("fingerprints", pa.binary()),
        ("parents", pa.binary()),
        ("actions", pa.binary()),
        ("report", pa.string()),
    ]
)
"""One blob of `count` states: their rows one after the other, fingerprints (uint64, ascending),
the parents' fingerprints (uint64, 0 for an initial state) and the number of the action that led
from there (int16, -1 for an initial state). A row with a `report` holds no states: it tells the
driver what a task has counted and found."""

BLOB_BYTES = 1 << 20
"""States are cut into blobs of about this size: a task never holds a whole level."""

_BLOBS_READ = 16
"""Blobs that are read at a time."""


class RunFolder:
    """Paths, reading and writing in one run folder. Holds no data, and can be pickled."""

    def __init__(self, path: str | Path, partitions: int, state_bytes: int):
        self.path, self.partitions, self.state_bytes = Path(path), partitions, state_bytes

    # --- Which search is it? ----------------------------------------------------------------

    def claim(self, identity: dict[str, Any]) -> None:
        """Make the folder, or make sure that what it holds was asked the same question.

        Raises LabError with the first thing that differs.
        """
        manifest = self.path / "manifest.json"
        try:
            if not manifest.exists():
                if self.path.exists() and any(self.path.iterdir()):
                    raise LabError(f"{self.path} is not empty and holds no search: name another.")
                (self.path / "seen").mkdir(parents=True)
                _write_json(manifest, identity)
            known = json.loads(manifest.read_text())
        except (OSError, ValueError) as error:
            raise LabError(
                f"The run folder {self.path} can't be used ({error}): name another."
            ) from None
        for name, value in identity.items():
            if known.get(name) != value:
                raise LabError(
                    f"{self.path} holds another search ({_difference(name, known.get(name), value)}"
                    "): name another folder, or delete it to start afresh."
                )

    @staticmethod
    def partitions_of(path: str | Path) -> int | None:
        """The number of owners that an existing run was divided among; None if there is none."""
        try:
            return json.loads((Path(path) / "manifest.json").read_text())["partitions"]
        except (OSError, ValueError, KeyError):
            return None

    # --- Levels -----------------------------------------------------------------------------

    def level(self, depth: int) -> Path:
        """The folder of a level's Parquet files."""
        return self.path / f"level-{depth:05}"

    def _record(self, depth: int) -> Path:
        return self.path / f"level-{depth:05}.json"

    def complete(self, depth: int, record: dict[str, Any]) -> None:
        """Declare a level complete, and drop the runs of fingerprints that it made superfluous."""
        _write_json(self._record(depth), record)
        for absorbed in runs_up_to(depth - 1):
            if absorbed > depth - (depth & -depth):
                for owner in range(self.partitions):
                    self.run(absorbed, owner).unlink(missing_ok=True)

    def completed(self) -> list[dict[str, Any]]:
        """The records of all complete levels, ready to be continued after the last.

        A level whose files no longer hold what its record says is not complete, and neither is
        any after it; they are removed. Runs of fingerprints are made again where they are gone.
        """
        records: list[dict[str, Any]] = []
        while (record := self._checked_record(len(records) + 1)) is not None:
            records.append(record)
        beyond = len(records) + 1
        while self._record(beyond).exists() or self.level(beyond).exists():
            self._record(beyond).unlink(missing_ok=True)
            shutil.rmtree(self.level(beyond), ignore_errors=True)
            beyond += 1
        if records and not self._runs_are_whole(len(records)):
            self._make_runs(len(records))
        return records

    def _checked_record(self, depth: int) -> dict[str, Any] | None:
        try:
            record = json.loads(self._record(depth).read_text())
            held = sum(len(block) for block in self.read(depth))
            return record if held == record["new"] else None
        except (OSError, ValueError, LabError):
            return None

    def write(self, depth: int, batches: list[pa.RecordBatch]) -> None:
        """Write a whole level from this process, one row group for each batch."""
        shutil.rmtree(self.level(depth), ignore_errors=True)
        self.level(depth).mkdir(parents=True)
        with pq.ParquetWriter(self.level(depth) / "part-driver.parquet", LEVEL) as writer:
            for batch in batches:
                writer.write_batch(batch)

    def reports(self, depth: int) -> list[dict[str, Any]]:
        """What the tasks of a level have counted and found."""
        column = pq.read_table(self.level(depth), columns=["report"], partitioning=None)["report"]
        return [json.loads(text) for text in column.drop_null().to_pylist()]

    def pieces(self, depth: int) -> list[tuple[str, int, int]]:
        """What a level can be read in: (file, row group, blobs in it)."""
        found = []
        for file in sorted(self.level(depth).glob("*.parquet")):
            meta = pq.read_metadata(file)
            for group in range(meta.num_row_groups):
                found.append((str(file), group, meta.row_group(group).num_rows))
        return found

    def read(self, depth: int, owner: int | None = None) -> Iterator["Block"]:
        """The states of a level, a few blobs at a time; of one owner only if one is given."""
        for piece in self.pieces(depth):
            yield from self.read_piece(piece, owner)

    def read_piece(
        self, piece: tuple[str, int, int], owner: int | None = None
    ) -> Iterator["Block"]:
        """The states of one row group. Raises LabError if the file is damaged."""
        file, group, _ = piece
        columns = [name for name in LEVEL.names if name != "report"]
        try:
            with pq.ParquetFile(file) as parquet:
                batches = parquet.iter_batches(_BLOBS_READ, row_groups=[group], columns=columns)
                for batch in batches:
                    yield from self._blocks(batch, owner)
        except (OSError, ValueError) as error:
            raise LabError(f"{file} is damaged ({error}): run the search again.") from None

    def _blocks(self, batch: pa.RecordBatch, owner: int | None) -> Iterator["Block"]:
        if owner is not None:
            batch = batch.filter(pc.equal(batch["owner"], owner))
        count = pc.sum(batch["count"]).as_py()
        if not count:
            return
        rows = buffer_of(batch["rows"], np.uint64).reshape(-1, self.state_bytes // 8)
        prints, parents = (
            buffer_of(batch[name], np.uint64) for name in ("fingerprints", "parents")
        )
        actions = buffer_of(batch["actions"], np.int16)
        if not len(rows) == len(prints) == len(parents) == len(actions) == count:
            raise ValueError("a blob is cut short")
        yield Block(batch["depth"][0].as_py(), rows, prints, parents, actions)

    def find(self, depth: int, fingerprint: int) -> tuple[bytes, int]:
        """The stored state of this depth and fingerprint, and its parent's fingerprint."""
        for block in self.read(depth, owner_of(fingerprint, self.partitions)):
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

    # --- Seen fingerprints --------------------------------------------------------------------

    def run(self, depth: int, owner: int) -> Path:
        """The file of a run of fingerprints."""
        return self.path / "seen" / f"{depth:05}-{owner:05}.npy"

    def seen(self, depth: int, owner: int) -> list[tuple[int, np.ndarray]]:
        """The owner's runs up to a depth, as (depth, sorted fingerprints), left on disk."""
        runs = []
        for each in runs_up_to(depth):
            file = self.run(each, owner)
            empty = file.stat().st_size <= _HEADER_BYTES  # can't be mapped into memory
            runs.append((each, np.load(file, mmap_mode=None if empty else "r")))
        return runs

    def add_run(
        self, depth: int, owner: int, new: np.ndarray, seen: list[tuple[int, np.ndarray]]
    ) -> None:
        """Write the run of this depth: the new fingerprints and the runs that it absorbs."""
        absorbed = [prints for each, prints in seen if each > depth - (depth & -depth)]
        merged = np.concatenate([new, *absorbed])
        merged.sort()
        self._save_run(depth, owner, merged)

    def _save_run(self, depth: int, owner: int, prints: np.ndarray) -> None:
        file = self.run(depth, owner)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as stream:
            np.save(stream, prints)
        part.replace(file)

    def _runs_are_whole(self, depth: int) -> bool:
        try:
            held = sum(
                len(prints)
                for owner in range(self.partitions)
                for _, prints in self.seen(depth, owner)
            )
        except (OSError, ValueError):
            return False
        return held == sum(
            json.loads(self._record(each).read_text())["new"] for each in range(1, depth + 1)
        )

    def _make_runs(self, depth: int) -> None:
        for each in runs_up_to(depth):
            for owner in range(self.partitions):
                parts = [
                    block.fingerprints
                    for level in range(each - (each & -each) + 1, each + 1)
                    for block in self.read(level, owner)
                ]
                prints = np.concatenate([np.empty(0, np.uint64), *parts])
                prints.sort()
                self._save_run(each, owner, prints)


_HEADER_BYTES = 128  # of an .npy file that holds one plain array


class Block:
    """Some states of one level: parallel arrays over the states."""

    def __init__(
        self,
        depth: int,
        rows: np.ndarray,
        fingerprints: np.ndarray,
        parents: np.ndarray,
        actions: np.ndarray,
    ):
        self.depth, self.rows = depth, rows
        self.fingerprints, self.parents, self.actions = fingerprints, parents, actions

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, begin: int, end: int) -> "Block":
        """The states begin to end - 1."""
        arrays = (self.rows, self.fingerprints, self.parents, self.actions)
        return Block(self.depth, *(each[begin:end] for each in arrays))


def runs_up_to(depth: int) -> list[int]:
    """The depths whose runs together hold the fingerprints of the depths 1 to `depth`."""
    found = []
    while depth > 0:
        found.append(depth)
        depth &= depth - 1
    return found


def owner_of(fingerprint: int, partitions: int) -> int:
    """Who decides whether a fingerprint is new. The number of partitions is a power of two."""
    return fingerprint & (partitions - 1)


def buffer_of(column: pa.BinaryArray, dtype: type) -> np.ndarray:
    """All values of a binary column, one after the other, as an array of its own."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(ends):
        return np.empty(0, dtype)
    return np.frombuffer(memoryview(data)[ends[0] : ends[-1]], dtype).copy()


def _write_json(path: Path, content: dict[str, Any]) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(content, indent=1) + "\n")
    part.replace(path)


def _difference(name: str, there: Any, here: Any) -> str:
    if isinstance(there, dict) and isinstance(here, dict):
        name = next(each for each in {**there, **here} if there.get(each) != here.get(each))
        there, here = there.get(name), here.get(name)
    if name == "source":
        return "the spec's source has changed since"
    return f"{name} is {there} there and {here} here"
