"""The distance from a state to the nearest violation, and from each of its successors.

If the whole configuration can be explored, it is, once, and then searched backwards from all
violations; after that a distance is looked up. Otherwise the same is done with the states that a
search from here finds within its bounds of time and states.

Distances are exact, or lower bounds that say so. As with `explore`, a state outside the spec's
constraint is checked but not expanded; only the learner's current state always is.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.request import SearchRequest
from protocol_lab.distance.distance_map import DistanceMap, Stopped
from protocol_lab.distance.distance_values import ALL_STATES, FROM_HERE, Near, first_steps
from protocol_lab.model.spec import Model

_KEPT_ANSWERS = 256
_FEW = 1_000
"""So many states are searched at first, so that the loops are compiled or loaded before the time of
an answer is measured."""


class Nearness:
    """Answers how many steps away a violation of the chosen invariants is; can be asked from any
    thread.

    invariants: names of state or step invariants; None for the spec's default ones. seconds,
    max_states, memory_bytes: the bounds of one search from here; the exploration of all states has
    the same max_states and memory_bytes, and is given up where it exceeds them. Raises LabError for
    an unknown invariant.
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
        self.chosen = SearchRequest(*model.choose(invariants))
        self.seconds, self.max_states, self.memory_bytes = seconds, max_states, memory_bytes
        self.map: DistanceMap | None = None
        self.too_large: str | None = None
        self._compiled: CompiledModel | None = None
        self._tried = False
        self._answers: OrderedDict[bytes, Near] = OrderedDict()
        self._asking, self._preparing, self._compiling = (threading.Lock() for _ in "123")

    def prepare(self, stopped: Callable[[], bool] = lambda: False) -> bool:
        """Explore all states and search backwards, so that later questions are only look-ups.

        Returns whether that is complete; if it is not and was not stopped, `too_large` says why. It
        can run in another thread beside `ask`. Raises LabError if the spec can't be compiled or an
        action has a mistake.
        """
        self._compile()
        with self._preparing:
            return self._prepare(stopped, math.inf)

    def ask(self, row: bytes, stopped: Callable[[], bool] = lambda: False) -> Near | None:
        """The distances from this state; None if stopped.

        Takes about `seconds` at most, and compiles when first asked. Half of the time of the first
        question goes into `prepare`. `stopped` is polled every few milliseconds, but not while
        compiling. Raises LabError if the spec can't be compiled or an action has a mistake.
        """
        with self._asking:
            self._compile()
            known = self._answers.get(row)
            if known is not None and (self.map is None or known.how == ALL_STATES):
                self._answers.move_to_end(row)
                return known
            try:
                answer = self._answer(row, stopped)
            except Stopped:
                return None
            self._answers[row] = answer
            if len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)
            return answer

    def _answer(self, row: bytes, stopped: Callable[[], bool]) -> Near:
        began = time.perf_counter()
        if not self._tried and self._preparing.acquire(blocking=False):
            try:
                self._prepare(stopped, began + self.seconds / 2)
                self._tried = not stopped()
            finally:
                self._preparing.release()
        if stopped():
            raise Stopped
        ahead = first_steps(self.model, row, self.chosen.names)
        found, how = self.map, ALL_STATES
        after = found and found.look_up(ahead.unknown)
        if after is None:
            found, how = self._explored(ahead.unknown, stopped, began + self.seconds), FROM_HERE
            after = found.look_up(ahead.unknown)
        return ahead.answer(after, how, found.states, time.perf_counter() - began)

    def _prepare(self, stopped: Callable[[], bool], until: float) -> bool:
        if self.map is None and self.too_large is None:
            try:
                found = self._explored(None, stopped, until)
            except Stopped:
                return False
            if found.reason is None:
                self.map = found
            elif found.reason != "stopped":
                self.too_large = found.reason
        return self.map is not None

    def _explored(
        self, starts: list[bytes] | None, stopped: Callable[[], bool], until: float
    ) -> DistanceMap:
        bounds = self.max_states, self.memory_bytes
        return DistanceMap(self._compiled, self.chosen, starts, *bounds, stopped, until)

    def _compile(self) -> None:
        with self._compiling:
            if self._compiled is None:
                chosen = self.chosen.invariants, self.chosen.step_invariants
                compiled = CompiledModel(self.model, *chosen)
                bounds = _FEW, self.memory_bytes
                DistanceMap(compiled, self.chosen, None, *bounds, lambda: False, math.inf)
                self._compiled = compiled
