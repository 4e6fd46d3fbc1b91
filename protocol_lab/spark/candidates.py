"""What a task that expands states collects: each state once, to be divided among the owners."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from protocol_lab.exploring import fingerprint
from protocol_lab.exploring.fingerprint import fingerprints

_STORE_BYTES = 32 << 20
"""Candidates that a task collects before it hands them to their owners."""

_PARCEL_BYTES = 1 << 20
"""No parcel's rows are larger by much: Spark moves parcels whole."""


class Parcel(NamedTuple):
    """Candidates for one owner, by fingerprint: rows, parents' fingerprints, actions' numbers."""

    owner: int
    rows: np.ndarray
    parents: np.ndarray
    actions: np.ndarray


class Candidates:
    """States that a task has generated, each kept once, with the first parent that led there.

    Blocks are sorted by fingerprint, so that the first parent is the smallest of the stretch.
    """

    def __init__(self, words: int):
        self._words = words
        self._limit = max(1024, _STORE_BYTES // (8 * words))
        self._clear()

    def _clear(self) -> None:
        self._stored = 0
        self._table = np.zeros(1 << 14, np.uint64)
        self._make_store(1 << 12)

    def _make_store(self, size: int) -> None:
        old, used = getattr(self, "_arrays", ()), self._stored
        self._arrays = (
            np.empty((size, self._words), np.uint64),
            np.empty(size, np.int64),
            np.empty(size, np.int16),
        )
        for new, each in zip(self._arrays, old, strict=False):
            new[:used] = each[:used]

    def are_many(self) -> bool:
        """Is it time to hand them on?"""
        return self._stored >= self._limit

    def add(
        self,
        rows: np.ndarray,
        count: int,
        inside: np.ndarray,
        parents: np.ndarray,
        actions: np.ndarray,
    ) -> None:
        """Keep those of rows[:count] that are inside the constraint and not here yet."""
        while 2 * (self._stored + count) > len(self._table):
            larger = np.zeros(4 * len(self._table), np.uint64)
            fingerprint.refill(larger, self._table)
            self._table = larger
        if self._stored + count > len(self._arrays[0]):
            self._make_store(2 * (self._stored + count))
        store, its_parents, its_actions = self._arrays
        verdicts = np.empty(count, np.uint8)
        _, stored = fingerprint.insert(
            self._table, rows, fingerprints(rows[:count]), count, inside, len(store), store,
            self._stored, its_parents, parents.view(np.int64), verdicts,
        )  # fmt: skip
        its_actions[self._stored : stored] = actions[verdicts == fingerprint.NEW]
        self._stored = stored

    def parcels(self, owners: int) -> Iterator[Parcel]:
        """Hand everything on, divided among the owners, and be empty again."""
        rows, parents, actions = (each[: self._stored] for each in self._arrays)
        prints = fingerprints(rows)
        order = np.argsort(prints)  # an owner looks them up in sorted runs, one after the other
        owner_of = (prints[order] & np.uint64(owners - 1)).astype(np.uint16)
        order = order[np.argsort(owner_of, kind="stable")]
        ends = np.cumsum(np.bincount(owner_of, minlength=owners))
        size = max(1, _PARCEL_BYTES // (8 * self._words))
        for owner, every in enumerate(np.split(order, ends[:-1])):
            for at in range(0, len(every), size):
                mine = every[at : at + size]
                yield Parcel(owner, rows[mine], parents[mine].view(np.uint64), actions[mine])
        self._clear()
