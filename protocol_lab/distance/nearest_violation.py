"""The distance from a state to the nearest violation, and from each of its successors.

There are two methods, and the answer says which was used. If the whole configuration can be
explored, it is, once, and then searched backwards from all violations; after that a distance is
looked up. Otherwise a forward search, with labels for the first steps, looks as far as its bounds
of time and states let it.

Distances are exact, or lower bounds that say so. As with `explore`, a state outside the spec's
constraint is checked but not expanded; only the learner's current state always is.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.request import SearchRequest, evaluation_error
from protocol_lab.distance.backward import ENDLESS, MISSING, DistanceMap
from protocol_lab.distance.distance_values import (
    ALL_STATES,
    EXACT,
    FROM_HERE,
    MORE,
    NEVER,
    UNKNOWN,
    Distance,
    Near,
    from_here,
)
from protocol_lab.distance.forward import FirstSteps, Interrupted, search_first_steps
from protocol_lab.distance.successor_graph import CHUNK, CUT, Graph, GraphFull
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import initial, needed_attempts

_KEPT_ANSWERS = 256
_TO_LOAD_LOOPS = 1_000  # states


@dataclass(frozen=True)
class _Ahead:
    """A state, its possible steps, and what is known of them without a search.

    positions: the states after the steps in a graph, -1 outside the constraint. one_does_not_fit: a
    step leads to a state that can't be stored, so nothing is known of it.
    """

    is_broken: bool
    is_outside: bool
    rows: list[bytes]
    positions: np.ndarray
    broken: np.ndarray
    one_does_not_fit: bool

    def answer(self, after_row: Callable[[int], Distance], how: str, states: int) -> Near:
        """The answer, given the distance after the k-th step as after_row(k)."""
        after = []
        for k in range(len(self.rows)):
            if self.broken[k]:
                after.append(Distance(EXACT))
            elif self.positions[k] < 0:
                after.append(Distance(UNKNOWN))
            else:
                after.append(after_row(k))
        here = from_here(after, self.is_broken, self.is_outside, self.one_does_not_fit)
        return Near(here, after, how, states, 0.0)


class _Stopped(Exception):
    """Raised when the learner has moved on."""


class Nearness:
    """Answers how many steps away a violation of the chosen invariants is; can be asked from any
    thread.

    invariants: names of state or step invariants; None for the spec's default ones. seconds,
    max_states, memory_bytes: the bounds of one forward search; the exploration of all states has
    the same max_states and memory_bytes, and is given up where it exceeds them. A forward search
    needs in addition 24 bytes a state for every 64 first steps. Raises LabError for an unknown
    invariant.
    """

    def __init__(
        self,
        model: Model,
        invariants: Iterable[str] | None = None,
        *,
        seconds: float = 2.0,
        max_states: int = 2_000_000,
        memory_bytes: int = 2**30,
    ):
        self.model = model
        self.invariants, self.step_invariants = model.choose(invariants)
        self.seconds, self.max_states, self.memory_bytes = seconds, max_states, memory_bytes
        self.map: DistanceMap | None = None
        self.too_large: str | None = None
        self._compiled: CompiledModel | None = None
        self._whole: Graph | None = None
        self._starts: Iterator[bytes] = iter(())
        self._expanded = 0
        self._graph: Graph | None = None
        self._answers: OrderedDict[bytes, Near] = OrderedDict()
        self._asking, self._preparing, self._compiling = (threading.Lock() for _ in "123")

    @property
    def nbytes(self) -> int:
        """The bytes that are kept for later questions."""
        kept = (self.map, self._whole, self._graph)
        return sum(each.nbytes for each in kept if each is not None)

    def prepare(self, stopped: Callable[[], bool] | None = None) -> bool:
        """Explore all states and search backwards, so that later questions are only look-ups.

        It continues where an earlier call was stopped. Returns whether it is complete; if it is not
        and was not stopped, `too_large` says why. It can run in another thread beside `ask`. Raises
        LabError if the spec can't be compiled or an action has a mistake.
        """
        watch = _watch(stopped)
        with self._preparing, suppress(_Stopped):
            self._prepare(watch, watch)
        return self.map is not None

    def ask(self, row: bytes, stopped: Callable[[], bool] | None = None) -> Near | None:
        """The distances from this state; None if stopped.

        Takes about `seconds` at most, and compiles when first asked. Half of the time of each
        question goes into `prepare`, until that is complete or given up. `stopped` is polled every
        few milliseconds, but not while compiling. Raises LabError if the spec can't be compiled or
        an action has a mistake.
        """
        try:
            with self._asking:
                return self._answer(row, stopped)
        except _Stopped:
            return None

    def _answer(self, row: bytes, stopped: Callable[[], bool] | None) -> Near:
        self._compile()
        _watch(stopped)()
        known = self._answers.get(row)
        if known is not None and (self.map is None or known.how == ALL_STATES):
            self._answers.move_to_end(row)
            return known
        began = time.perf_counter()
        self._prepare_a_little(stopped, began + self.seconds / 2)
        near = self._look_up(row) or self._search(row, _watch(stopped, began + self.seconds))
        near = replace(near, seconds=time.perf_counter() - began)
        self._answers[row] = near
        if len(self._answers) > _KEPT_ANSWERS:
            self._answers.popitem(last=False)
        return near

    def _compile(self) -> None:
        with self._compiling:
            if self._compiled is None:
                compiled = CompiledModel(self.model, self.invariants, self.step_invariants)
                self._load_loops(compiled)
                self._compiled = compiled

    def _load_loops(self, compiled: CompiledModel) -> None:
        """Search a little, so that Numba compiles or loads the loops before the time of the first
        answer is measured."""
        graph = Graph(compiled, _TO_LOAD_LOOPS, self.memory_bytes)
        with suppress(GraphFull):
            first = [each.row for each in islice(initial(self.model), _TO_LOAD_LOOPS)]
            positions, broken = graph.enter(first)
            starts = np.unique(positions[(positions >= 0) & ~broken])
            search_first_steps(graph, starts, lambda: None)

    # --- All states, once ---------------------------------------------------------------------

    def _prepare_a_little(self, stopped: Callable[[], bool] | None, until: float) -> None:
        if not self._preparing.acquire(blocking=False):
            return  # another thread is preparing
        try:
            self._prepare(_watch(stopped, until), _watch(stopped))
        except Interrupted:
            pass
        finally:
            self._preparing.release()

    def _prepare(self, watch: Callable[[], None], watch_backwards: Callable[[], None]) -> None:
        """Continue exploring; the backward search, which can't be resumed, has a watch of its
        own."""
        if self.map is not None or self.too_large is not None:
            return
        self._compile()
        try:
            self._explore(watch)
            self.map = DistanceMap(self._whole, watch_backwards)
            self._graph = None
        except (GraphFull, EvaluationError) as bound:
            self.too_large = str(bound)
        self._whole = None

    def _explore(self, watch: Callable[[], None]) -> None:
        """Expand all states that can be reached from the initial ones, in breadth-first order."""
        if self._whole is None:
            self._whole, self._expanded = self._new_graph(), 0
            self._starts = (each.row for each in initial(self.model))
        whole = self._whole
        while some := list(islice(self._starts, CHUNK)):
            whole.enter(some)
            if whole.stored >= whole.max_states:
                raise GraphFull(f"more than {whole.max_states:,} states")
            watch()
        while self._expanded < whole.stored:
            end = min(self._expanded + CHUNK, whole.stored)
            whole.expand(np.arange(self._expanded, end, dtype=np.int32))
            self._expanded = end
            watch()
        cut = np.flatnonzero(whole.flags[: whole.stored] & CUT)
        if len(cut):
            request = SearchRequest(self.invariants, self.step_invariants)
            raise evaluation_error(self.model, whole.rows[cut[0]].tobytes(), request)

    def _look_up(self, row: bytes) -> Near | None:
        """The answer from the map, if that has all the states."""
        if self.map is None:
            return None
        ahead = self._ahead(row, self._new_graph())
        steps = self.map.look_up(ahead.rows)
        if ((steps == MISSING) & (ahead.positions >= 0) & ~ahead.broken).any():
            return None
        return ahead.answer(
            lambda k: Distance(NEVER) if steps[k] == ENDLESS else Distance(EXACT, int(steps[k])),
            ALL_STATES,
            len(self.map.steps),
        )

    # --- A search from here -------------------------------------------------------------------

    def _search(self, row: bytes, watch: Callable[[], None]) -> Near:
        """Search in the graph of earlier searches; if that is too full, in an empty one."""
        if self._graph is not None:
            near = self._search_in(self._graph, row, watch)
            if near is not None:
                return near
        self._graph = graph = self._new_graph()
        return self._search_in(graph, row, watch, to_the_bound=True)

    def _search_in(
        self, graph: Graph, row: bytes, watch: Callable[[], None], to_the_bound: bool = False
    ) -> Near | None:
        """The answer; None if the graph became full first, unless a bound is wanted then."""
        try:
            ahead = self._ahead(row, graph)
        except GraphFull:
            if to_the_bound:
                raise LabError(
                    f"The steps from here do not fit into {self.memory_bytes:,} bytes:"
                    " raise memory_bytes."
                ) from None
            return None
        starts = np.unique(ahead.positions[(ahead.positions >= 0) & ~ahead.broken])
        found = search_first_steps(graph, starts, watch)
        if found.full and not to_the_bound:
            return None
        index = {int(start): k for k, start in enumerate(starts)}
        return ahead.answer(
            lambda k: _distance(found, index[int(ahead.positions[k])]), FROM_HERE, 1 + found.states
        )

    def _ahead(self, row: bytes, graph: Graph) -> _Ahead:
        """The possible steps of a state, with their targets entered into a graph."""
        own, is_broken = graph.enter([row])
        tried = list(needed_attempts(self.model, row))
        rows = [each.row for each in tried if each.taken]
        positions, broken = graph.enter(rows, before=row)
        does_not_fit = any(each.over_capacity for each in tried)
        return _Ahead(bool(is_broken[0]), own[0] < 0, rows, positions, broken, does_not_fit)

    def _new_graph(self) -> Graph:
        return Graph(self._compiled, self.max_states, self.memory_bytes)


def _watch(stopped: Callable[[], bool] | None, until: float | None = None) -> Callable[[], None]:
    """The function that a search calls again and again: it raises _Stopped or, past `until`,
    Interrupted."""

    def watch() -> None:
        if stopped is not None and stopped():
            raise _Stopped
        if until is not None and time.perf_counter() > until:
            raise Interrupted

    return watch


def _distance(found: FirstSteps, k: int) -> Distance:
    if found.found[k] >= 0:
        return Distance(EXACT, found.found[k])
    return Distance(NEVER) if found.ended[k] else Distance(MORE, found.clear[k])
