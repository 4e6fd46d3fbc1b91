"""The successors that an expanding task collects, each once, grouped by owner."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import types

from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.spark.executor.visited_runs import owner_of

_STORE_BYTES = 32 << 20
"""Bytes of candidates that a task collects before it sends them to their owners."""

_PARCEL_BYTES = 1 << 20
"""About the most bytes of a parcel's rows, since Spark moves parcels whole."""


class Parcel(NamedTuple):
    """Candidates for one owner, in the order of their fingerprints: rows, parents' fingerprints,
    actions' numbers."""

    owner: int
    rows: np.ndarray
    parents: np.ndarray
    actions: np.ndarray


class OutgoingCandidates:
    """The states that a task has generated, each kept once, with the smallest (parent's
    fingerprint, action number) that led to it."""

    def __init__(self, words: int):
        self._words = words
        self._limit = max(1024, _STORE_BYTES // (8 * words))
        self._stored = 0
        self._places = np.zeros(1 << 14, np.int64)
        self._make_store(1 << 12)

    def _make_store(self, size: int) -> None:
        old, used = getattr(self, "_arrays", ()), self._stored
        self._arrays = (
            np.empty((size, self._words), np.uint64),
            np.empty(size, np.uint64),
            np.empty(size, np.uint64),
            np.empty(size, np.int64),
        )
        for new, each in zip(self._arrays, old, strict=False):
            new[:used] = each[:used]

    def are_many(self) -> bool:
        """Are there enough candidates to send them on?"""
        return self._stored >= self._limit

    def add(
        self,
        rows: np.ndarray,
        count: int,
        inside: np.ndarray,
        parents: np.ndarray,
        actions: np.ndarray,
    ) -> None:
        """Add those of rows[:count] that are inside the constraint."""
        if 2 * (self._stored + count) > len(self._places):
            size = len(self._places)
            while 2 * (self._stored + count) > size:
                size *= 4
            self._places = np.zeros(size, np.int64)
            _find_places(self._places, self._arrays[1], self._stored)
        if self._stored + count > len(self._arrays[0]):
            self._make_store(2 * (self._stored + count))
        self._stored = _keep(
            self._places, rows, fingerprints(rows[:count]), inside, parents,
            actions.astype(np.int64), *self._arrays, self._stored,
        )  # fmt: skip

    def parcels(self, owners: int) -> Iterator[Parcel]:
        """Send everything on, grouped by owner; afterwards it is empty."""
        rows, prints, parents, actions = (each[: self._stored] for each in self._arrays)
        order = np.argsort(
            prints
        )  # since an owner looks them up in sorted runs, one after the other
        each_owner = owner_of(prints[order], owners).astype(np.uint16)
        order = order[np.argsort(each_owner, kind="stable")]
        ends = np.cumsum(np.bincount(each_owner, minlength=owners))
        size = max(1, _PARCEL_BYTES // (8 * self._words))
        for owner, every in enumerate(np.split(order, ends[:-1])):
            for at in range(0, len(every), size):
                mine = every[at : at + size]
                yield Parcel(owner, rows[mine], parents[mine], actions[mine].astype(np.int16))
        self._places[:] = 0
        self._stored = 0


_ROWS, _PRINTS, _NUMBERS = types.uint64[:, ::1], types.uint64[::1], types.int64[::1]


@kernel(
    types.int64(
        _NUMBERS, _ROWS, _PRINTS, types.uint8[::1], _PRINTS, _NUMBERS, _ROWS, _PRINTS, _PRINTS,
        _NUMBERS, types.int64,
    ),
)  # fmt: skip
def _keep(places, rows, prints, inside, parent_of, action_of, store, known, parents, actions, used):
    """Enter generated rows, one for each of `prints`, into the store; returns how many it then has.

    places: a power of two of slots, by fingerprint, with one more than the position in the store, 0
    where there is nothing. The store is four parallel arrays: rows, fingerprints, parents, actions.
    """
    mask = np.int64(places.shape[0] - 1)
    for k in range(prints.shape[0]):
        if not inside[k]:
            continue
        slot = np.int64(prints[k]) & mask
        while places[slot] and known[places[slot] - 1] != prints[k]:
            slot = (slot + 1) & mask
        at = places[slot] - 1
        if at < 0:
            at = used
            used += 1
            places[slot] = used
            known[at] = prints[k]
            for word in range(rows.shape[1]):
                store[at, word] = rows[k, word]
        elif (parents[at], actions[at]) <= (parent_of[k], action_of[k]):
            continue
        parents[at] = parent_of[k]
        actions[at] = action_of[k]
    return used


@kernel(types.void(_NUMBERS, _PRINTS, types.int64))
def _find_places(places, known, used):
    """Fill the empty slots of a larger table."""
    mask = np.int64(places.shape[0] - 1)
    for at in range(used):
        slot = np.int64(known[at]) & mask
        while places[slot]:
            slot = (slot + 1) & mask
        places[slot] = at + 1
