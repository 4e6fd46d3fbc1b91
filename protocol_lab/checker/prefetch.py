"""Prefetches the next chunks of a level: expands them on other cores before their turn.

Expanding needs nothing but the rows of the level, which are all there when it begins. So other
threads may do it beforehand; the search takes the chunks in one after the other as ever, and counts
the same. The compiled loops let go of the GIL, so that threads run side by side.
"""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from protocol_lab.compiler.expansion import SuccessorBuffer

MOST_SUCCESSORS = 64
"""Room is made for so many successors a state on average; beyond that chunks become shorter."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Candidates(SuccessorBuffer):
    """The successors of one chunk of states, and room for what is found out about each.

    `done` is the end of the states that were expanded, `count` how many successors they have.
    """

    def __init__(self, room: int, words: int, chunk: int):
        super().__init__(room, words, chunk)
        self.failed, self.failed_steps, self.reached = (np.zeros(room, np.int64) for _ in "123")
        self.inside = np.ones(room, np.uint8)
        self.verdicts = np.zeros(room, np.uint8)
        self.done = self.count = 0


Expand = Callable[[np.ndarray, int, int, Candidates], tuple[int, int]]
"""Expands rows[begin:end] into candidates; raises what the actions raise."""


class Prefetcher:
    """The chunks of one search that are expanded before their turn."""

    def __init__(self, expand: Expand, words: int, chunk: int):
        self.expand, self.words, self.chunk = expand, words, chunk
        self.room = 8 * chunk
        self.threads = cores()
        self.pool: ThreadPoolExecutor | None = None
        self.waiting: deque[tuple[int, int, Future, Candidates]] = deque()
        self.free: list[Candidates] = []

    def candidates(self) -> Candidates:
        """Room for one chunk."""
        while self.free:
            found = self.free.pop()
            if len(found.out) >= self.room:
                return found
        return Candidates(self.room, self.words, self.chunk)

    def take(self, rows: np.ndarray, begin: int, level_end: int) -> Candidates | None:
        """The expanded chunk that begins here, if it was expanded without a fault.

        Those after it are started, up to the end of the level.
        """
        end = min(begin + self.chunk, level_end)
        found = None
        if self.waiting and self.waiting[0][0] == begin:
            _, _, future, candidates = self.waiting.popleft()
            found = candidates if future.exception() is None else None
        else:
            self._drop()
        if found is not None and found.done < end:
            self.room = min(2 * self.room, MOST_SUCCESSORS * self.chunk)
        self._start(rows, self.waiting[-1][1] if self.waiting else end, level_end)
        return found if found is not None and found.done > begin else None

    def give_back(self, candidates: Candidates) -> None:
        """The chunk is taken in; its room can be used again."""
        self.free.append(candidates)

    def close(self) -> None:
        """Wait for what is still at work."""
        self._drop()
        if self.pool is not None:
            self.pool.shutdown()

    def _start(self, rows: np.ndarray, begin: int, level_end: int) -> None:
        while self.threads > 1 and begin < level_end and len(self.waiting) < self.threads:
            if self.pool is None:
                self.pool = ThreadPoolExecutor(self.threads)
            end, candidates = min(begin + self.chunk, level_end), self.candidates()
            future = self.pool.submit(self.expand, rows, begin, end, candidates)
            self.waiting.append((begin, end, future, candidates))
            begin = end

    def _drop(self) -> None:
        for *_, future, candidates in self.waiting:
            future.exception()
            self.free.append(candidates)
        self.waiting.clear()
