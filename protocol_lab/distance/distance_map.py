"""The distance of every state that a search found, by searches backwards along its steps.

A state is *cut* if not all that it leads to is known: the search had to end, or a step or a
property can't be computed. So there are two searches backwards: from the violations, and from the
cut states. If a cut state is nearer than any violation is known to be, there may be a nearer one
behind it, and the distance is a lower bound.

As everywhere, states outside a constraint are checked but not expanded. If one of them breaks an
invariant, that counts for the state before it, as does a step that breaks a step invariant.
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array, csc_array

from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.request import SearchRequest, evaluation_error
from protocol_lab.compiler.kernels import SuccessorBuffer, check_all
from protocol_lab.distance.distance_values import EXACT, MORE, NEVER, Distance
from protocol_lab.distance.step_graph import (
    UNKNOWN,
    Enough,
    OutOfMemory,
    StepGraph,
    as_words,
    reach,
)

_ROWS = 1 << 16
"""States handled between two checks whether to stop."""

_SEARCHING = 0.3
"""The part of the time in which states are found; in the rest, their steps are."""


class Stopped(Exception):
    """Raised when the answer is no longer wanted."""


class DistanceMap:
    """The distances of all states that can be reached from the given ones, or from the initial ones
    if that is None; of as many as fit into the bounds.

    reason: why these are not all, or None. states: how many were searched. stopped: polled every
    few milliseconds. until: when to end, by time.perf_counter(). Raises Stopped, KeyboardInterrupt
    as soon as the search can end, and LabError if an action is faulty.
    """

    def __init__(
        self,
        compiled: CompiledModel,
        chosen: SearchRequest,
        starts: list[bytes] | None,
        max_states: int,
        memory_bytes: int,
        stopped: Callable[[], bool],
        until: float,
    ):
        model = compiled.model
        request = SearchRequest([], [], starts=starts, keep_states=True)
        request.max_states, request.memory_gib = max_states, memory_bytes / 2**30
        search, began = NativeSearch(model, request), time.perf_counter()
        search_until = began + _SEARCHING * (until - began)
        request.stopped = lambda: stopped() or time.perf_counter() > search_until
        found = search.run()
        if found.undecided_reason == "interrupted":
            raise KeyboardInterrupt  # which the search has taken for its own
        if stopped():
            raise Stopped
        self.reason = found.undecided_reason

        def watch(done: int = 0) -> None:
            if stopped():
                raise Stopped
            if time.perf_counter() > until:
                raise Enough

        self.graph = graph = _ViolationGraph(compiled, found.states, memory_bytes)
        try:
            graph.fill(watch)
        except OutOfMemory:
            graph.forget()
            self.reason = f"more than {memory_bytes / 2**20:,.0f} MiB of memory"
        faulty = graph.judge_states(lambda: stopped() and watch())
        if self.reason is None and graph.cut.any():
            row = graph.states[graph.cut.argmax()].tobytes()
            timely = time.perf_counter() <= until
            self.reason = str(evaluation_error(model, row, chosen)) if timely else "stopped"
        sources, targets = graph.steps()
        graph.cut[sources[faulty[targets]]] = True
        into = coo_array(
            (np.ones(len(sources), np.bool_), (sources, targets)), shape=2 * (graph.count,)
        ).tocsc()
        self.steps = _steps_to(into, graph.broken, graph.broken_step)
        self.clear = _steps_to(into, graph.cut, np.zeros_like(graph.cut))
        self.states = graph.count
        graph.states = graph.states[:0]

    def look_up(self, rows: list[bytes]) -> list[Distance] | None:
        """The distance of each state that breaks nothing; None if the map has all states that can
        be reached, and not one of these."""
        positions = self.graph.find(as_words(rows, self.graph.model.words))
        if self.reason is None and (positions == UNKNOWN).any():
            return None
        return [self._distance(k) for k in positions]

    def _distance(self, position: int) -> Distance:
        if position == UNKNOWN:
            return Distance(MORE, 0)
        steps, clear = int(self.steps[position]), int(self.clear[position])
        if steps >= 0 and (clear < 0 or steps <= clear + 1):
            return Distance(EXACT, steps)
        return Distance(NEVER) if clear < 0 else Distance(MORE, clear)


class _ViolationGraph(StepGraph):
    """A step graph with masks of the states that break an invariant, and of those with a step that
    does, or leads outside the constraint to a state that does."""

    def __init__(self, compiled: CompiledModel, states: np.ndarray, memory: int):
        super().__init__(compiled.model, states, [], memory)
        self.compiled = compiled
        self.broken, self.broken_step = (np.zeros(self.count, np.bool_) for _ in "12")

    def look_at(self, found: SuccessorBuffer, count: int, positions: np.ndarray) -> None:
        compiled, parents = self.compiled, found.parent_of[:count]

        def failing(check: Callable, bits: int, wanted: np.ndarray) -> np.ndarray:
            failed, faulty = self._checked(check, bits, found.out, wanted, found.parent_of)
            self.cut[parents[faulty]] = True
            return failed

        if (beyond := positions == UNKNOWN).any():
            outside = np.zeros(count, np.bool_)
            if compiled.constraints:
                outside = failing(compiled.check, compiled.constraints, beyond)
            self.cut[parents[beyond & ~outside]] = True
            broken = failing(compiled.check, compiled.invariants, outside)
            self.broken_step[parents[broken]] = True
        if compiled.check_steps is not None:
            every = np.ones(count, np.bool_)
            broken = failing(compiled.check_steps, compiled.step_invariants, every)
            self.broken_step[parents[broken]] = True

    def judge_states(self, watch: Callable[[], object]) -> np.ndarray:
        """Find the states that break an invariant; returns a mask of those that can't be judged."""
        nowhere, faulty = np.zeros(_ROWS, np.int64), np.zeros(self.count, np.bool_)
        for at in range(0, self.count, _ROWS):
            rows = self.states[at : at + _ROWS]
            self.broken[at : at + _ROWS], unjudged = self._checked(
                self.compiled.check,
                self.compiled.invariants,
                rows,
                np.ones(len(rows), np.bool_),
                nowhere,
            )
            faulty[[at + each for each in unjudged]] = True
            watch()
        self.cut |= faulty
        return faulty

    def forget(self) -> None:
        """Drop all steps: nothing is known of what the states lead to."""
        self.cut[:], self.begins[:] = True, 0
        self.targets = self.targets[:0]

    def _checked(
        self,
        check: Callable,
        bits: int,
        rows: np.ndarray,
        asked: np.ndarray,
        parent_of: np.ndarray,
    ) -> tuple[np.ndarray, list[int]]:
        """(a mask of the rows that break a property, the rows that can't be judged)"""
        failed, wanted = np.zeros(len(asked), np.int64), asked.astype(np.uint8)
        if not bits or not asked.any():
            return failed != 0, []
        faulty = check_all(
            len(asked),
            wanted,
            lambda count: check(
                rows, count, wanted, self.compiled.constants, bits, failed, self.states, parent_of
            ),
        )
        failed[faulty] = 0
        return failed != 0, faulty


def _steps_to(into: csc_array, there: np.ndarray, before: np.ndarray) -> np.ndarray:
    """For each state the fewest steps to one of a mask, -1 if none leads there; the states of a
    second mask are at most one step away. `into` has the steps by target."""
    nearest, next_ones = np.flatnonzero(there), np.flatnonzero(before)
    levels = np.cumsum([0, len(nearest), len(next_ones)])
    every, begins = np.ones(len(there), np.bool_), into.indptr.astype(np.int64)
    by_depth = np.concatenate([nearest, next_ones])
    _, _, steps = reach(by_depth, levels, every, every, begins, into.indices)
    return steps
