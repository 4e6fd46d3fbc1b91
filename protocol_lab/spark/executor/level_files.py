"""The Parquet files of a level: new states in blobs, written by their owners.

Each owner writes files of its own, and so does the driver for the levels that it makes. (Spark's
own Parquet writer took twice the processor time of everything else together.) A file is read whole
or not at all: its writer reports the checksum, the level's record keeps it, and nothing in the file
is used before it was verified.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from protocol_lab.errors import LabError
from protocol_lab.system.folders import SHARED, write_whole

LEVEL = pa.schema(
    [
        ("depth", pa.int32()),
        ("owner", pa.int32()),
        ("count", pa.int32()),
        ("rows", pa.binary()),
        ("fingerprints", pa.binary()),
        ("parents", pa.binary()),
        ("actions", pa.binary()),
    ]
)
"""One blob of `count` states: their rows one after the other, fingerprints (uint64, ascending),
the parents' fingerprints (uint64, 0 for an initial state) and the number of the action that led
from there (int16, -1 for an initial state)."""

BLOB_BYTES = 1 << 20
"""States are cut into blobs of about this size: a task never holds a whole level."""

_BLOBS_IN_FILE = 8
"""Blobs in a file, which is read by one task, and read whole."""


class LevelPiece(NamedTuple):
    """A file of a level, with its size in bytes and its checksum (SHA-256, in hex)."""

    file: Path
    size: int
    checksum: str


Files = dict[str, tuple[int, str]]
"""Files of a level by name: their bytes and checksums."""


def write_part(
    level: Path, owned: Iterable[tuple[int, "Block"]], owner: int | None = None
) -> Files:
    """Write states of a level, given with their owners, to files of one owner's or the driver's.

    A file gets its name only when it is complete. If there are no states, there is no file.
    """
    written: Files = {}
    blobs = (blob for each, block in owned for blob in _blobs(each, block))
    while some := list(itertools.islice(blobs, _BLOBS_IN_FILE)):
        content = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(some, schema=LEVEL), content, use_dictionary=False)
        content = content.getvalue()
        file = level / f"part-{_of(owner)}-{len(written):05}.parquet"
        write_whole(file, content, SHARED)
        written[file.name] = content.size, hashlib.sha256(content).hexdigest()
    return written


def _of(owner: int | None) -> str:
    return "driver" if owner is None else f"{owner:05}"


def _blobs(owner: int, states: "Block") -> Iterator[dict[str, Any]]:
    size = max(1, BLOB_BYTES // states.rows.itemsize // states.rows.shape[1])
    for at in range(0, len(states), size):
        part = states.part(at, at + size)
        yield {
            "depth": part.depth,
            "owner": owner,
            "count": len(part),
            "rows": part.rows.tobytes(),
            "fingerprints": part.fingerprints.tobytes(),
            "parents": part.parents.tobytes(),
            "actions": part.actions.tobytes(),
        }


def pieces_of(level: Path, files: Files, owner: int | None = None) -> list[LevelPiece]:
    """The files of a level; those that may have states of one owner if it is given."""
    return [
        LevelPiece(level / name, *known)
        for name, known in sorted(files.items())
        if owner is None or name.split("-")[1] in (_of(owner), _of(None))
    ]


def read_piece(piece: LevelPiece, state_bytes: int) -> Iterator["Block"]:
    """The states of one file. Raises LabError if it is damaged."""
    try:
        content = piece.file.read_bytes()
    except OSError as error:
        raise _damaged(piece, error.strerror) from None
    if hashlib.sha256(content).hexdigest() != piece.checksum:
        raise _damaged(piece, "its checksum is another one")
    yield from _blocks(pq.ParquetFile(pa.BufferReader(content)).read(), state_bytes)


def is_whole(piece: LevelPiece) -> bool:
    """Does the file have the checksum of what was written?"""
    try:
        return hashlib.sha256(piece.file.read_bytes()).hexdigest() == piece.checksum
    except OSError:
        return False


def _damaged(piece: LevelPiece, why: str) -> LabError:
    return LabError(
        f"{piece.file} is damaged ({why}): run the search again with the same folder, and it goes"
        " on after the level before."
    )


def _blocks(table: pa.Table, state_bytes: int) -> Iterator["Block"]:
    for batch in table.to_batches():
        rows = buffer_of(batch["rows"], np.uint64).reshape(-1, state_bytes // 8)
        arrays = [buffer_of(batch[name], np.uint64) for name in ("fingerprints", "parents")]
        actions = buffer_of(batch["actions"], np.int16)
        yield Block(batch["depth"][0].as_py(), rows, *arrays, actions)


@dataclass(eq=False)
class Block:
    """Some states of one level: parallel arrays over the states."""

    depth: int
    rows: np.ndarray
    fingerprints: np.ndarray
    parents: np.ndarray
    actions: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, begin: int, end: int) -> "Block":
        """The states begin to end - 1."""
        arrays = (self.rows, self.fingerprints, self.parents, self.actions)
        return Block(self.depth, *(each[begin:end] for each in arrays))


def buffer_of(column: pa.BinaryArray, dtype: type) -> np.ndarray:
    """All values of a binary column, one after the other, as an array of its own."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(ends):
        return np.empty(0, dtype)
    return np.frombuffer(memoryview(data)[ends[0] : ends[-1]], dtype).copy()
