"""Chunks of a level, and the threads that process several chunks at once.

Everything about a chunk except its place in the order can be computed on any core: expanding its
states, evaluating constraints, hashing; then entering fingerprints, each thread into partitions of
its own; then evaluating the properties of new states and keeping their rows. The search counts the
chunks one after the other, so its counts do not depend on the number of cores. The compiled loops
release the GIL, so that threads run in parallel.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np
from numba import types

from protocol_lab.checker.state_log import chunk_states
from protocol_lab.checker.visited_set import NEW
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.compiler.kernels import SuccessorBuffer
from protocol_lab.system.operating_system import cores

MOST_SUCCESSORS = 64
"""A chunk has room for this many successors per state on average; where there are more, chunks
become shorter."""

_BY_THREAD = 4
"""Chunks per thread that are processed at once, so that no thread waits long for another."""

_Answer = TypeVar("_Answer")


class Chunk(SuccessorBuffer):
    """The candidates of one chunk of states, and what is known about each.

    rows: the array with its states, and `base` the position of its first row. begin, end: the
    positions of its states; done: the end of those that were expanded; count: how many candidates
    they have. judged: the number of candidates before the first whose constraints or view can't be
    computed (is_faulty_view: it was the view); entered: how many found room in the visited set;
    new: how many of those were new; checked: for how many the properties could be evaluated.
    per_action: how often each action was taken; unmet: the expected situations that no new state
    has, as bits; broken: the invariants that some candidate breaks.
    """

    def __init__(self, room: int, words: int):
        super().__init__(room, words, chunk_states(words))
        self.failed, self.failed_steps, self.reached = (np.zeros(room, np.int64) for _ in "123")
        self.inside = np.ones(room, np.uint8)
        self.verdicts = np.zeros(room, np.uint8)
        self.prints = np.empty(0, np.uint64)
        self.rows, self.base = self.out, 0
        self.begin = self.end = self.done = self.count = 0
        self.judged = self.entered = self.new = self.checked = 0
        self.per_action, self.unmet, self.broken = np.zeros(0, np.int64), -1, 0
        self.is_faulty_view = False

    def enlarge(self, room: int) -> None:
        """Make room for this many candidates, dropping the present ones."""
        rows, base, begin, end = self.rows, self.base, self.begin, self.end
        self.__init__(room, self.out.shape[1])
        self.rows, self.base, self.begin, self.end = rows, base, begin, end

    @property
    def is_whole(self) -> bool:
        """Were all of its states expanded, and all their successors judged?"""
        return self.done == self.end and self.judged == self.count


_SIGNED = types.int64[::1]


@kernel(
    types.UniTuple(types.int64, 3)(
        types.uint8[::1], *[_SIGNED] * 5, types.int64, types.int64, _SIGNED
    ),
)  # fmt: skip
def tally(
    verdicts, action_of, multiplicity_of, failed, failed_steps, reached, invariants, count,
    per_action,
) -> tuple[int, int, int]:  # fmt: skip
    """Summarise the candidates [0, count) of a chunk; adds to per_action how often each action was
    taken.

    Returns (how many are new; the properties that no new one has, as bits; whether one breaks an
    invariant or reaches the goal, as bits of which at least one is set).
    """
    new, unmet, broken = 0, -1, 0
    for k in range(count):
        per_action[action_of[k]] += multiplicity_of[k]
        broken |= (failed[k] & invariants) | failed_steps[k] | reached[k]
        if verdicts[k] == NEW:
            new += 1
            unmet &= failed[k]
    return new, unmet, broken


def _done(answer: _Answer) -> Future[_Answer]:
    """The result of a task that was run at once."""
    future: Future[_Answer] = Future()
    future.set_result(answer)
    return future


class Workers:
    """The threads of one search, started once there is work for more than one."""

    def __init__(self) -> None:
        self.threads = cores()
        self._pool: ThreadPoolExecutor | None = None

    @property
    def batch(self) -> int:
        """How many chunks to process at once."""
        return _BY_THREAD * self.threads if self.threads > 1 else 1

    def start(self, tasks: list[Callable[[], _Answer]]) -> list[Future[_Answer]]:
        """Start these tasks; a single one is run at once in this thread, and its exception
        raised."""
        if len(tasks) == 1 or self.threads == 1:
            return [_done(task()) for task in tasks]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads)
        return [self._pool.submit(task) for task in tasks]

    def run(self, tasks: list[Callable[[], _Answer]]) -> list[_Answer]:
        """The results of the tasks, once all are done. Raises the exception of one that failed."""
        started = self.start(tasks)
        wait(started)
        return [each.result() for each in started]

    def close(self) -> None:
        """Wait for the running tasks, and end the threads."""
        if self._pool is not None:
            self._pool.shutdown()
