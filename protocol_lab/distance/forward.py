"""Distances to a violation after each of several first steps, by one forward search for all.

Every first step has a label, a bit. A state has the labels by which it was reached so far; at each
level only labels that reach it for the first time are propagated, along steps that the graph mostly
has already. So each label does a breadth-first search of its own, and its distance is exact, while
the actions are run once for each state (multi-source breadth-first search; Then et al., "The More
the Merrier", VLDB 2014).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.distance.successor_graph import BROKEN, BROKEN_STEP, CHUNK, CUT, Graph, GraphFull

_SPREAD = 1 << 14
"""States whose labels are propagated between two checks whether to stop."""


class Interrupted(Exception):
    """Raised by a search's `watch` when the time is up: the search returns what it knows."""


@dataclass
class FirstSteps:
    """The result of one search: for each start the steps to a violation, or else how far it looked.

    found[k]: the fewest steps from start k to a violation, -1 if none was found. clear[k]: there is
    no violation within this many steps. ended[k]: everything reachable from it was seen. full: the
    graph had no room for more.
    """

    found: list[int]
    clear: list[int]
    ended: list[bool]
    states: int = 0
    full: bool = False


def search_first_steps(graph: Graph, starts: np.ndarray, watch: Callable[[], None]) -> FirstSteps:
    """Search level by level from these positions, distinct ones whose states break nothing.

    `watch` is called every few milliseconds. It raises Interrupted to end the search with what is
    known by then; other exceptions are passed on.
    """
    search = _Search(graph, starts)
    try:
        search.run(watch)
    except Interrupted:
        search.close_level(complete=False)
    except GraphFull:
        search.answer.full = True
        search.close_level(complete=False)
    return search.answer


class _Search:
    """The labels of all states, as `words` words of 64 bits each.

    seen: all labels of a state. arriving: those that reached it at this level; `next`: at the next.
    """

    def __init__(self, graph: Graph, starts: np.ndarray):
        self.graph, self.count = graph, len(starts)
        self.words = max(1, -(-self.count // 64))
        self.answer = FirstSteps([-1] * self.count, [0] * self.count, [False] * self.count)
        self.active = np.zeros(self.words, np.uint64)
        self.hit, self.cut = np.zeros(self.words, np.uint64), np.zeros(self.words, np.uint64)
        self.seen, self.arriving, self.next = (self._no_labels(len(graph.rows)) for _ in "123")
        self.frontier = np.array(starts, np.int32)
        for k, start in enumerate(starts):
            label = np.uint64(1 << k % 64)
            self.active[k // 64] |= label
            self.seen[start, k // 64] |= label
            self.arriving[start, k // 64] |= label
        self.answer.states = len(self.frontier)
        self.depth = 0

    def run(self, watch: Callable[[], None]) -> None:
        """Level after level, until every label is decided."""
        while self.active.any():
            self._next_level(watch)
            self.close_level(complete=True)

    def _next_level(self, watch: Callable[[], None]) -> None:
        self.ahead, filled = np.empty(len(self.graph.rows), np.int32), 0
        for begin in range(0, len(self.frontier), _SPREAD):
            part = self.frontier[begin : begin + _SPREAD]
            self._expand(part, watch)
            self._make_room()
            graph = self.graph
            filled, fresh = spread(
                part, graph.begins, graph.degrees, graph.targets, graph.flags, self.active,
                self.seen, self.arriving, self.next, self.hit, self.cut, self.ahead, filled,
            )  # fmt: skip
            self.answer.states += fresh
            watch()
        self.ahead = self.ahead[:filled]

    def _expand(self, part: np.ndarray, watch: Callable[[], None]) -> None:
        waiting = part[self.graph.degrees[part] < 0]
        for at in range(0, len(waiting), CHUNK):
            self.graph.expand(waiting[at : at + CHUNK])
            watch()

    def close_level(self, complete: bool) -> None:
        """Decide the labels that this level settles; if it was not completed, decide all of
        them."""
        arrived = np.zeros(self.words, np.uint64)
        if complete:
            arrived = np.bitwise_or.reduce(self.next[self.ahead], axis=0, initial=np.uint64(0))
        for k in self._labels(self.active):
            word, label = k // 64, np.uint64(1 << k % 64)
            if self.hit[word] & label:
                self.answer.found[k] = self.depth + 1
            elif complete and not self.cut[word] & label:
                self.answer.clear[k] = self.depth + 1
                self.answer.ended[k] = not arrived[word] & label
                if not self.answer.ended[k]:
                    continue
            self.active[word] &= ~label
        if complete:
            self.frontier = self.ahead
            self.arriving, self.next = self.next, self.arriving
            self.depth += 1

    def _labels(self, words: np.ndarray) -> list[int]:
        return [k for k in range(self.count) if int(words[k // 64]) >> k % 64 & 1]

    def _no_labels(self, size: int) -> np.ndarray:
        return np.zeros((size, self.words), np.uint64)

    def _make_room(self) -> None:
        """Follow the graph where it grew."""
        size = len(self.graph.rows)
        if size > len(self.seen):
            for name in ("seen", "arriving", "next"):
                larger = self._no_labels(size)
                old = getattr(self, name)
                larger[: len(old)] = old
                setattr(self, name, larger)
            self.ahead = np.concatenate([self.ahead, np.empty(size - len(self.ahead), np.int32)])


@kernel()
def spread(
    part, begins, degrees, targets, flags, active, seen, arriving, ahead_of, hit, cut, ahead, filled
) -> tuple[int, int]:
    """Propagate the active labels that arrived at the states of `part` along their steps.

    They are erased in `arriving` and, where they are new, entered into `seen` and `ahead_of`; a
    state that gets its first one at the next level is appended to ahead[filled:]. hit collects the
    labels that meet a violation, cut those that meet a step which does not fit. Returns (filled,
    states that had no label before).
    """
    fresh = 0
    words = active.shape[0]
    for k in range(part.shape[0]):
        here = part[k]
        any_label = False
        for word in range(words):
            labels = arriving[here, word] & active[word]
            any_label = any_label or labels != 0
            if flags[here] & BROKEN_STEP:
                hit[word] |= labels
            if flags[here] & CUT:
                cut[word] |= labels
        if any_label:
            for at in range(begins[here], begins[here] + degrees[here]):
                there = targets[at]
                unseen, unvisited, is_new = True, True, False
                for word in range(words):
                    unseen = unseen and seen[there, word] == 0
                    unvisited = unvisited and ahead_of[there, word] == 0
                    new = arriving[here, word] & active[word] & ~seen[there, word]
                    if new != 0:
                        is_new = True
                        seen[there, word] |= new
                        ahead_of[there, word] |= new
                        if flags[there] & BROKEN:
                            hit[word] |= new
                if is_new and unvisited:
                    ahead[filled] = there
                    filled += 1
                fresh += is_new and unseen
        for word in range(words):
            arriving[here, word] = 0
    return filled, fresh
