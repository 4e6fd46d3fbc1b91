"""The distance from a state to the nearest violation, and from each of its successors.

Two ways, and the answer says which. Where the whole configuration can be explored, it is, once, and
then searched backwards from all violations: from then on a distance is looked up. Otherwise a
search forward, labelled by first step, looks as far as its bounds of time and states let it.

Distances are exact or honest bounds, with the meaning of states that `explore` has: one outside the
spec's constraint is checked, but no further step is tried from it. Only the state that the learner
stands on is always left, wherever it is.
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
from protocol_lab.checker.request import SearchRequest, explain
from protocol_lab.distance.backward import ENDLESS, MISSING, DistanceMap
from protocol_lab.distance.forward import FirstSteps, Interrupted, search_first_steps
from protocol_lab.distance.successor_graph import CHUNK, CUT, Graph, GraphFull
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.semantics.transitions import attempts, initial
from protocol_lab.spec.spec import Model

EXACT, MORE, NEVER, UNKNOWN = "exact", "more", "never", "unknown"
ALL_STATES, FROM_HERE = "all states", "search from here"

_KEPT_ANSWERS = 256
_TO_LOAD_LOOPS = 1_000  # states


@dataclass(frozen=True)
class Distance:
    """The fewest steps to a violation.

    `kind`: EXACT, in `steps` steps, the violating one included; MORE than `steps`; NEVER: all that
    can be reached was seen; UNKNOWN: the state is outside the spec's constraint, where nothing is
    searched.
    """

    kind: str
    steps: int = 0

    @property
    def text(self) -> str:
        """In words: "here", "5 steps", "more than 9 steps", "none can be reached"."""
        steps = "1 step" if self.steps == 1 else f"{self.steps:,} steps"
        return {
            EXACT: steps if self.steps else "here",
            MORE: f"more than {steps}",
            NEVER: "none can be reached",
            UNKNOWN: "outside the constraint",
        }[self.kind]


@dataclass(frozen=True)
class Near:
    """The answer for one state.

    here: from the state. after: once each step that can be taken was taken, in the order in which
    `attempts` gives them; 0 for a step that violates. how: ALL_STATES or FROM_HERE. states: how
    many were searched. seconds: how long it took, without compiling.
    """

    here: Distance
    after: list[Distance]
    how: str
    states: int
    seconds: float

    @property
    def note(self) -> str:
        """How the answer was found, and how far it was looked, in one sentence."""
        if self.how == ALL_STATES:
            return f"All {self.states:,} states were explored, and searched backwards."
        return f"{self.states:,} states from here were searched, in {self.seconds:.1f} s."


@dataclass(frozen=True)
class _Ahead:
    """A state and the steps that can be taken there, and what is known of them at once.

    positions are those in a graph, -1 outside the constraint. one_does_not_fit: a step leads to a
    state that can't be stored, of which nothing is known.
    """

    is_broken: bool
    is_outside: bool
    rows: list[bytes]
    positions: np.ndarray
    broken: np.ndarray
    one_does_not_fit: bool

    def answer(self, after_row: Callable[[int], Distance], how: str, states: int) -> Near:
        """The answer, where after_row(k) tells the distance after the k-th step."""
        after = []
        for k in range(len(self.rows)):
            if self.broken[k]:
                after.append(Distance(EXACT))
            elif self.positions[k] < 0:
                after.append(Distance(UNKNOWN))
            else:
                after.append(after_row(k))
        return Near(self._here(after), after, how, states, 0.0)

    def _here(self, after: list[Distance]) -> Distance:
        """One step more than after the nearest step."""
        if self.is_broken:
            return Distance(EXACT)
        exact = [each.steps for each in after if each.kind == EXACT]
        clear = [each.steps for each in after if each.kind == MORE] + [-1] * self.one_does_not_fit
        if exact and (not clear or min(exact) <= min(clear) + 1):
            return Distance(EXACT, min(exact) + 1)
        if clear:
            return Distance(MORE, min(clear) + 1)
        nothing_searched = self.is_outside and any(each.kind == UNKNOWN for each in after)
        return Distance(UNKNOWN if nothing_searched else NEVER)


class _Stopped(Exception):
    """The learner has moved on."""


class Nearness:
    """Answers how near the chosen invariants are to being violated; may be asked from any thread.

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
        """The bytes that are kept for further questions."""
        kept = (self.map, self._whole, self._graph)
        return sum(each.nbytes for each in kept if each is not None)

    def prepare(self, stopped: Callable[[], bool] | None = None) -> bool:
        """Explore all states and search backwards, so that from now on asking is looking up.

        Goes on where an earlier call was stopped. Returns whether all is done; if it is not and
        was not stopped, `too_large` says why. May run beside `ask`, in another thread. Raises
        LabError if the spec can't be compiled or an action is faulty.
        """
        watch = _watch(stopped)
        with self._preparing, suppress(_Stopped):
            self._prepare(watch, watch)
        return self.map is not None

    def ask(self, row: bytes, stopped: Callable[[], bool] | None = None) -> Near | None:
        """The distances from this state; None if stopped.

        Takes about `seconds` at most, and compiles when first asked. Half of the time goes
        into `prepare`, question by question until that is done or given up. `stopped` is polled
        every few milliseconds, but not while compiling. Raises LabError if the spec can't be
        compiled or an action is faulty.
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
        """Search a little: Numba compiles or loads a loop when it is first called, which would
        take the time of the first answer."""
        graph = Graph(compiled, _TO_LOAD_LOOPS, self.memory_bytes)
        with suppress(GraphFull):
            first = [each.row for each in islice(initial(self.model), _TO_LOAD_LOOPS)]
            positions, broken = graph.enter(first)
            starts = np.unique(positions[(positions >= 0) & ~broken])
            search_first_steps(graph, starts, lambda: None)

    # --- All states, once ---------------------------------------------------------------------

    def _prepare_a_little(self, stopped: Callable[[], bool] | None, until: float) -> None:
        if not self._preparing.acquire(blocking=False):
            return  # another thread is at it
        try:
            self._prepare(_watch(stopped, until), _watch(stopped))
        except Interrupted:
            pass
        finally:
            self._preparing.release()

    def _prepare(self, watch: Callable[[], None], watch_backwards: Callable[[], None]) -> None:
        """Explore on; the search backwards, which can't be resumed, has a watch of its own."""
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
            raise explain(self.model, whole.rows[cut[0]].tobytes(), request)

    def _look_up(self, row: bytes) -> Near | None:
        """The answer from the map, if it has everything that is needed."""
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
        """Search in what earlier searches have left; where that is too full, in an empty graph."""
        if self._graph is not None:
            near = self._search_in(self._graph, row, watch)
            if near is not None:
                return near
        self._graph = graph = self._new_graph()
        return self._search_in(graph, row, watch, to_the_bound=True)

    def _search_in(
        self, graph: Graph, row: bytes, watch: Callable[[], None], to_the_bound: bool = False
    ) -> Near | None:
        """The answer; None if the graph was full first, unless that bound is to be answered."""
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
        """What can happen in a state, entered into a graph."""
        own, is_broken = graph.enter([row])
        tried = list(attempts(self.model, row))
        rows = [each.row for each in tried if each.taken]
        positions, broken = graph.enter(rows, before=row)
        does_not_fit = any(each.over_capacity for each in tried)
        return _Ahead(bool(is_broken[0]), own[0] < 0, rows, positions, broken, does_not_fit)

    def _new_graph(self) -> Graph:
        return Graph(self._compiled, self.max_states, self.memory_bytes)


def _watch(stopped: Callable[[], bool] | None, until: float | None = None) -> Callable[[], None]:
    """What a search calls again and again: raises _Stopped or, past `until`, Interrupted."""

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
