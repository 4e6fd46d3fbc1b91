"""Distances to a violation from every state of a finished search, by one backward search."""

from collections.abc import Callable

import numpy as np

from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.distance.successor_graph import BROKEN, BROKEN_STEP, Graph, as_words, find

ENDLESS, MISSING = -1, -2
"""Values in place of a distance: no violation can be reached; the state is not in the map."""

_CHUNK = 1 << 16
"""States handled between two checks whether to stop."""


class DistanceMap:
    """The distance of every state of a graph whose states were all expanded.

    0 for a state that breaks an invariant, else the fewest steps to a violation, ENDLESS if none
    can be reached. It keeps 4 bytes a state and the table of fingerprints. `watch` is called every
    few milliseconds while the map is made, and may raise.
    """

    def __init__(self, graph: Graph, watch: Callable[[], None]):
        self.table, self.where = graph.table, graph.where
        self.steps = _search(graph, watch)

    @property
    def nbytes(self) -> int:
        """The bytes that the map keeps."""
        return self.table.nbytes + self.where.nbytes + self.steps.nbytes

    def look_up(self, rows: list[bytes]) -> np.ndarray:
        """The distance of each state, or ENDLESS; MISSING for a state that is not in the map."""
        positions = find(fingerprints(as_words(rows)), self.table, self.where)
        return np.where(positions < 0, MISSING, self.steps[positions])


def _search(graph: Graph, watch: Callable[[], None]) -> np.ndarray:
    begins, sources = _reversed(graph, watch)
    steps = np.full(graph.stored, ENDLESS, np.int32)
    queue = np.empty(graph.stored, np.int32)
    flags = graph.flags[: graph.stored]
    begin, filled, depth = 0, 0, 0
    while depth < 2 or begin < filled:
        end = filled
        for at in range(begin, end, _CHUNK):
            part = queue[at : min(at + _CHUNK, end)]
            filled = step_back(part, begins, sources, steps, depth, queue, filled)
            watch()
        begin = end
        if (
            depth < 2
        ):  # the search begins at states that break an invariant, and before steps that do
            starts = np.flatnonzero(
                (flags & (BROKEN, BROKEN_STEP)[depth] != 0) & (steps == ENDLESS)
            )
            steps[starts] = depth
            queue[filled : filled + len(starts)] = starts
            filled += len(starts)
        depth += 1
    return steps


def _reversed(graph: Graph, watch: Callable[[], None]) -> tuple[np.ndarray, np.ndarray]:
    """The graph's steps by target: sources[begins[k] : begins[k + 1]] are the states before k."""
    begins = np.zeros(graph.stored + 1, np.int64)
    for at in range(0, graph.used, 8 * _CHUNK):
        count_targets(graph.targets[at : min(at + 8 * _CHUNK, graph.used)], begins)
        watch()
    np.cumsum(begins, out=begins)
    sources, ends = np.empty(graph.used, np.int32), begins[:-1].copy()
    for at in range(0, graph.stored, _CHUNK):
        last = min(at + _CHUNK, graph.stored)
        fill_sources(at, last, graph.begins, graph.degrees, graph.targets, ends, sources)
        watch()
    return begins, sources


@kernel()
def count_targets(targets, counts) -> None:
    """Add to counts[k + 1] how often k occurs."""
    for k in range(targets.shape[0]):
        counts[targets[k] + 1] += 1


@kernel()
def fill_sources(first, last, begins, degrees, targets, ends, sources) -> None:
    """Write the states [first, last) into the lists of their successors, which end at ends[k]."""
    for source in range(first, last):
        for at in range(begins[source], begins[source] + degrees[source]):
            target = targets[at]
            sources[ends[target]] = source
            ends[target] += 1


@kernel()
def step_back(part, begins, sources, steps, distance, queue, filled) -> int:
    """Append the states before those of `part` to the queue, unless they have a distance
    already."""
    for k in range(part.shape[0]):
        for at in range(begins[part[k]], begins[part[k] + 1]):
            source = sources[at]
            if steps[source] < 0:
                steps[source] = distance
                queue[filled] = source
                filled += 1
    return filled
