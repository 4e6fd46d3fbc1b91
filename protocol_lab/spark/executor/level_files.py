"""The Parquet files of a level: states in blobs, written by whoever settled them.

A file for each owner, or one for all that the driver has settled. On their way through Spark's own
Parquet writer states took twice the processor's time of everything else. Checksums of pages are
written, and verified at each reading.
"""

import itertools
import uuid
from collections.abc import Iterable, Iterator
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
    ]
)
"""One blob of `count` states: their rows one after the other, fingerprints (uint64, ascending),
the parents' fingerprints (uint64, 0 for an initial state) and the number of the action that led
from there (int16, -1 for an initial state)."""

BLOB_BYTES = 1 << 20
"""States are cut into blobs of about this size: a task never holds a whole level."""

_BLOBS_IN_GROUP = 8
"""Blobs in a row group, which is read by one task."""

_BLOBS_READ = 8
"""Blobs that are read at a time."""


Piece = tuple[str, int, int]
"""What a level can be read in: (file, row group, its bytes)."""


def write_part(level: Path, owned: Iterable[tuple[int, "Block"]], owner: int | None = None) -> None:
    """Write states of a level, given with their owners, to a file of one owner's or the driver's.

    It has its name only when it is whole. Where there are no states there is no file.
    """
    file = _part(level, owner)
    part = file.with_suffix(f".{uuid.uuid4().hex}.part")
    blobs = (blob for each, block in owned for blob in _blobs(each, block))
    some = list(itertools.islice(blobs, _BLOBS_IN_GROUP))
    if not some:
        return
    try:
        with pq.ParquetWriter(
            part, LEVEL, use_dictionary=False, write_page_checksum=True
        ) as writer:
            while some:
                writer.write_table(pa.Table.from_pylist(some, schema=LEVEL))
                some = list(itertools.islice(blobs, _BLOBS_IN_GROUP))
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _part(level: Path, owner: int | None) -> Path:
    return level / f"part-{'driver' if owner is None else f'{owner:05}'}.parquet"


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


def pieces_of(level: Path, owner: int | None = None) -> list[Piece]:
    """The row groups of a level's files; of those with states of one owner if it is given."""
    files = sorted(level.glob("*.parquet"))
    if owner is not None:
        files = [file for file in (_part(level, owner), _part(level, None)) if file.exists()]
    found = []
    for file in files:
        meta = pq.read_metadata(file)
        for group in range(meta.num_row_groups):
            found.append((str(file), group, meta.row_group(group).total_byte_size))
    return found


def read_piece(piece: Piece, state_bytes: int) -> Iterator["Block"]:
    """The states of one row group, a few blobs at a time.

    Raises LabError if the file is damaged.
    """
    file, group, _ = piece
    try:
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            for batch in parquet.iter_batches(_BLOBS_READ, row_groups=[group]):
                yield from _blocks(batch, state_bytes)
    except (OSError, ValueError) as error:
        raise LabError(
            f"{file} is damaged ({error}): run the search again with the same folder, and it goes"
            " on after the level before."
        ) from None


def _blocks(batch: pa.RecordBatch, state_bytes: int) -> Iterator["Block"]:
    count = pc.sum(batch["count"]).as_py()
    if not count:
        return
    rows = buffer_of(batch["rows"], np.uint64).reshape(-1, state_bytes // 8)
    prints, parents = (buffer_of(batch[name], np.uint64) for name in ("fingerprints", "parents"))
    actions = buffer_of(batch["actions"], np.int16)
    if not len(rows) == len(prints) == len(parents) == len(actions) == count:
        raise ValueError("a blob is cut short")
    yield Block(batch["depth"][0].as_py(), rows, prints, parents, actions)


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


def buffer_of(column: pa.BinaryArray, dtype: type) -> np.ndarray:
    """All values of a binary column, one after the other, as an array of its own."""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(ends):
        return np.empty(0, dtype)
    return np.frombuffer(memoryview(data)[ends[0] : ends[-1]], dtype).copy()
