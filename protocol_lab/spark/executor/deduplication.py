"""Deduplicates an owner's candidates against its part of the visited set.

Memory is bounded. The visited set stays on disk and is looked up in order. Candidates beyond a
limit are spilled to disk, in buckets by the first bits of their fingerprints, and each bucket is
deduplicated by itself. Since buckets follow one another in the order of fingerprints, the result is
the same.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba import types

from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.spark.executor.candidates import Parcel
from protocol_lab.spark.executor.level_files import Block
from protocol_lab.system.folders import remove, temporary_folder

LIMIT_BYTES = 128 << 20
"""The most candidates that an owner keeps in memory."""

_BUCKET_BITS = 6


class UnvisitedCandidates:
    """The candidates of one owner that are in none of its runs of fingerprints.

    A context manager, since it may have files. Candidates are kept as rows of uint64: the state,
    then its fingerprint, its parent's, and the number of the action.
    """

    def __init__(self, words: int, seen: list[np.ndarray], limit_bytes: int | None = None):
        self._words, self._seen, self._limit = words, seen, limit_bytes or LIMIT_BYTES
        self._kept: list[np.ndarray] = []
        self._bytes = 0
        self._folder: Path | None = None

    def __enter__(self) -> "UnvisitedCandidates":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._folder is not None:
            remove(self._folder)

    @property
    def spilled(self) -> bool:
        """Are any of them on disk?"""
        return self._folder is not None

    def add(self, parcel: Parcel) -> None:
        """Add the candidates of a parcel that are not in the visited set."""
        prints = fingerprints(parcel.rows)
        new = np.ones(len(prints), bool)  # the candidates are in the order of `prints`
        for run in self._seen:
            if len(run):
                at = np.minimum(np.searchsorted(run, prints), len(run) - 1)
                new &= run[at] != prints
        columns = (prints, parcel.parents, parcel.actions.astype(np.int64).view(np.uint64))
        kept = np.column_stack([each[new] for each in (parcel.rows, *columns)])
        self._kept.append(kept)
        self._bytes += kept.nbytes
        if self._bytes > self._limit:
            self._spill()

    def _spill(self) -> None:
        if self._folder is None:
            # The folder of Spark's own temporary files, if it names one.
            place = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0] or None
            self._folder = temporary_folder("spill", self, place)
        if not self._kept:
            return
        every = np.concatenate(self._kept)
        bucket_of = every[:, self._words] >> np.uint64(64 - _BUCKET_BITS)
        for bucket in np.unique(bucket_of):
            with self._bucket(int(bucket)).open("ab") as stream:
                stream.write(every[bucket_of == bucket].tobytes())
        self._kept, self._bytes = [], 0

    def _bucket(self, number: int) -> Path:
        return self._folder / f"bucket-{number:02}"

    def settled(self, depth: int) -> Iterator[Block]:
        """Yield the new states of this depth, each once, with the smallest (parent, action) that
        led to it, in ascending order of fingerprints; some at a time."""
        if not self.spilled:
            yield from self._distinct(self._kept, depth)
            return
        self._spill()
        for bucket in range(1 << _BUCKET_BITS):
            if self._bucket(bucket).exists():
                flat = np.fromfile(self._bucket(bucket), np.uint64)
                yield from self._distinct([flat.reshape(-1, self._words + 3)], depth)

    def _distinct(self, kept: list[np.ndarray], depth: int) -> Iterator[Block]:
        if not kept:
            return
        every = np.concatenate(kept)
        prints, parents, actions = (every[:, self._words + k] for k in range(3))
        order = np.argsort(prints, kind="stable")  # which merges the parcels, that are sorted
        order = order[: _keep_first(order, prints, parents, actions)]
        rows = np.ascontiguousarray(every[order, : self._words])
        numbers = actions[order].view(np.int64).astype(np.int16)
        yield Block(depth, rows, prints[order], parents[order], numbers)


_COLUMN = types.Array(types.uint64, 1, "A")


@kernel(types.int64(types.int64[::1], _COLUMN, _COLUMN, _COLUMN))
def _keep_first(order, prints, parents, actions):
    """Move to the front of `order`, positions by fingerprint, one for each fingerprint: that of the
    smallest (parent, action). Returns how many there are."""
    kept = 0
    for at in order:
        best = order[kept - 1]
        if kept == 0 or prints[at] != prints[best]:
            order[kept] = at
            kept += 1
        elif (parents[at], actions[at]) < (parents[best], actions[best]):
            order[kept - 1] = at
    return kept
