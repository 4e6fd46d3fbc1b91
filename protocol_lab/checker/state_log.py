"""The log of all states that a search has found, in the order of their discovery.

A row is needed until its state was expanded. All rows are kept as long as they take no more than
`KEPT_BYTES`, so that a learner can look at every state; a larger search keeps only those of the
frontier, unless `keep_states` is given. For every state a link of four bytes is kept: which
successor of which state of a chunk it is. Links lead back along a path, whose rows are recomputed
by taking its steps in plain Python.

Rows and links are stored in segments, so that nothing is copied when the log grows.
"""

from array import array
from bisect import bisect_right
from itertools import islice

import numpy as np
from numba import types

from protocol_lab.checker.request import SearchRequest
from protocol_lab.checker.visited_set import NEW
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import successors
from protocol_lab.system.memory import Budget

KEPT_BYTES = 512 << 20
"""All rows of a search are kept while they take no more than this."""

_NARROW = 16
"""Rows of up to this many words are narrow."""

_SEGMENT = 4096
"""Rows of a segment, a multiple of the states in a chunk. A chunk begins at a multiple of these or
later, and ends at the next at most: so it lies in one segment."""

_BLOCK_BYTES = 32 << 20
"""Segments are parts of arrays of this size. The system gives such arrays large pages; with small
pages, the first write to each would take longer than the data. Unwritten pages take no memory."""

_LINKS = 1 << 16
"""Links of a segment."""

_PLACE_BITS = 21
_PLACES = 1 << _PLACE_BITS
"""A link's low bits have the number of a successor; the others its parent's place in the chunk."""

MOST_STEPS = _PLACES
"""A search ends as undecided at a state with more steps than this: links can't tell them apart."""


def chunk_states(words: int) -> int:
    """How many states a chunk has if their rows have this many words: few enough for their
    successors to fit into the processor's cache, and enough to make little of the Python around."""
    return 2048 if words <= _NARROW else 1024


class StateLog:
    """All states found, by their positions from 0; `stored` is how many there are."""

    def __init__(self, model: Model, request: SearchRequest, budget: Budget):
        self.model, self.request, self.budget = model, request, budget
        self.stored = 0
        self.keeps_all = True
        self._rows: list[np.ndarray | None] = []
        self._free: list[np.ndarray] = []
        self._block = np.empty((0, model.words), np.uint64)
        self._released = 0
        self._links: list[np.ndarray] = []
        self._firsts, self._sources = array("q"), array("q")
        self.make_room(1, at_least=True)

    def make_room(self, count: int, at_least: bool = False) -> bool:
        """Make room for this many more states; returns whether there is."""
        needed = self.stored + count
        while len(self._rows) * _SEGMENT < needed:
            segment = self._free.pop() if self._free else self._segment(at_least)
            if segment is None:
                break
            self._rows.append(segment)
        while len(self._links) * _LINKS < needed:
            if not self.budget.take(4 * _LINKS, at_least):
                break
            self._links.append(np.empty(_LINKS, np.uint32))
        return self.room >= count

    @property
    def room(self) -> int:
        """For how many more states there is room."""
        return min(len(self._rows) * _SEGMENT, len(self._links) * _LINKS) - self.stored

    def _segment(self, at_least: bool) -> np.ndarray | None:
        if not self.budget.take(8 * _SEGMENT * self.model.words, at_least):
            return None
        if len(self._block) < _SEGMENT:
            rows = max(1, _BLOCK_BYTES // (8 * _SEGMENT * self.model.words)) * _SEGMENT
            self._block = np.empty((rows, self.model.words), np.uint64)
        segment, self._block = self._block[:_SEGMENT], self._block[_SEGMENT:]
        return segment

    def segment(self, position: int) -> tuple[np.ndarray, int]:
        """The rows around a state whose row is kept, and the position of the first."""
        found = self._rows[position // _SEGMENT]
        assert found is not None, position
        return found, position - position % _SEGMENT

    def write(
        self, at: int, rows: np.ndarray, parent_of: np.ndarray, begin: int, verdicts: np.ndarray,
        count: int,
    ) -> None:  # fmt: skip
        """Keep the new states among a chunk's candidates, the first of them at this position.

        begin: the value in parent_of for the first state of the chunk. Other threads write at other
        positions meanwhile.
        """
        done = 0
        while done < count:
            into, links = self._rows[at // _SEGMENT], self._links[at // _LINKS]
            done, written = _write(
                rows, parent_of, begin, verdicts, done, count, into, at % _SEGMENT, links,
                at % _LINKS,
            )  # fmt: skip
            at += written

    def add(self, count: int, source: int) -> None:
        """Add the new states of a chunk that began at position `source` (see `write`).

        For initial states: -1 minus the number of those made before.
        """
        if count:
            self._firsts.append(self.stored)
            self._sources.append(source)
            self.stored += count

    def release(self, position: int) -> None:
        """Drop the rows before this position, whose states were expanded, unless all are kept."""
        if self.keeps_all:
            bound = KEPT_BYTES
            self.keeps_all = self.request.keep_states or 8 * self.model.words * self.stored <= bound
        while not self.keeps_all and (self._released + 1) * _SEGMENT <= position:
            self._free.append(self._rows[self._released])
            self._rows[self._released] = None
            self._released += 1

    def close(self) -> None:
        """End the search: drop what its result does not need."""
        self._free = []
        if not self.keeps_all:
            self._rows, self._links = [], []

    def rows(self) -> np.ndarray | None:
        """All rows as one array; None if they were not kept."""
        if not self.keeps_all:
            return None
        ends = range(self.stored, self.stored - len(self._rows) * _SEGMENT, -_SEGMENT)
        joined = np.concatenate(
            [each[: max(0, end)] for each, end in zip(self._rows, ends, strict=True)]
        )
        self._rows = [joined[at : at + _SEGMENT] for at in range(0, self.stored, _SEGMENT)]
        return joined

    def parents(self) -> np.ndarray:
        """For each state the position of the one it was found from, -1 for the first ones."""
        counts = np.diff([*self._firsts, self.stored])
        links = np.concatenate(self._links)[: self.stored]
        found = np.repeat(np.array(self._sources, np.int64), counts)
        found[found >= 0] += (links[found >= 0] >> _PLACE_BITS).astype(np.int64)
        return np.maximum(found, -1)

    def row(self, position: int) -> bytes:
        """The row of a state."""
        kept = self._rows[position // _SEGMENT]
        return self.path(position)[-1] if kept is None else kept[position % _SEGMENT].tobytes()

    def parent(self, position: int) -> int:
        """The position of the state that this one was found from, or -1."""
        return self._origin(position)[0]

    def path(self, position: int) -> list[bytes]:
        """The rows from an initial state to this one; those that were not kept are recomputed."""
        chain = []
        while position >= 0:
            parent, place = self._origin(position)
            chain.append((position, parent, place))
            position = parent
        rows: list[bytes] = []
        for position, parent, place in reversed(chain):
            kept = self._rows[position // _SEGMENT]
            if kept is not None:
                rows.append(kept[position % _SEGMENT].tobytes())
            elif parent < 0:
                rows.append(next(islice(self.request.first_rows(self.model), place, None)))
            else:
                rows.append(next(islice(successors(self.model, rows[-1]), place, None)).row)
        return rows

    def _origin(self, position: int) -> tuple[int, int]:
        """(position of the state it was found from, which successor it is), or (-1, which initial
        state)."""
        source = self._sources[bisect_right(self._firsts, position) - 1]
        link = int(self._links[position // _LINKS][position % _LINKS])
        place = link % _PLACES
        if source < 0:
            return -1, place - 1 - source
        return source + (link >> _PLACE_BITS), place


_ROWS, _SIGNED, _BYTES = types.uint64[:, ::1], types.int64[::1], types.uint8[::1]


@kernel(
    types.UniTuple(types.int64, 2)(
        _ROWS, _SIGNED, types.int64, _BYTES, types.int64, types.int64, _ROWS, types.int64,
        types.uint32[::1], types.int64,
    ),
)  # fmt: skip
def _write(rows, parent_of, begin, verdicts, done, count, into, at, links, link_at):
    """See `StateLog.write`: the candidates [done, count), as far as there is room in the segments.
    Returns (candidates done, states written)."""
    first = done
    while first > 0 and parent_of[first - 1] == parent_of[done]:
        first -= 1
    written = 0
    for k in range(done, count):
        if parent_of[k] != parent_of[first]:
            first = k
        if verdicts[k] != NEW:
            continue
        if at + written == into.shape[0] or link_at + written == links.shape[0]:
            return k, written
        for word in range(rows.shape[1]):
            into[at + written, word] = rows[k, word]
        links[link_at + written] = (parent_of[k] - begin) << _PLACE_BITS | (k - first)
        written += 1
    return count, written
