"""The slow twin of `native`: the plain algorithm over the uncompiled functions.

It is the oracle in tests, and runs where Numba can't. A few thousand states a second.
"""

import time
from collections import deque
from collections.abc import Iterator

from protocol_lab.checker.request import GOAL, Question, add_trace
from protocol_lab.checker.result import Result
from protocol_lab.errors import CapacityExceeded
from protocol_lab.semantics.transitions import Attempt, evaluate, evaluate_step, successors
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import view
from protocol_lab.symmetry.permutations import erased, smallest_name


class PythonSearch:
    """One breadth-first search; `run` returns its result."""

    def __init__(self, model: Model, question: Question):
        self.model, self.question = model, question
        self.known: set[bytes] = set()
        self.parent: dict[bytes, bytes | None] = {}
        self.depth: dict[bytes, int] = {}
        self.frontier: deque[bytes] = deque()
        self.unreached = list(model.spec.sometimes_properties)
        self.result = Result(model, "python", question.names)
        self.result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
        self.result.violating = dict.fromkeys(question.names, 0) if question.to_the_end else None

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search."""
        result, began = self.result, time.perf_counter()
        try:
            result.undecided_reason = self._search(began)
            result.exhaustive = result.undecided_reason is None
        except _Violation:
            pass
        except CapacityExceeded as error:
            result.undecided_reason = str(error)
        except _Stopped:
            result.undecided_reason = "stopped"
        except KeyboardInterrupt:
            result.undecided_reason = "interrupted"
        result.never_reached = [each.name for each in self.unreached]
        result.seconds = time.perf_counter() - began
        return result

    def _search(self, began: float) -> str | None:
        bound = f"more than {self.question.max_states:,} distinct states (max_states)"
        for row in self.question.first_rows(self.model):
            if not self._take_in(None, row, "init"):
                return bound
            self._tell(began)
        while self.frontier:
            row = self.frontier.popleft()
            any_step = False
            for each in self._successors(row):
                any_step = True
                if not self._take_in(row, each.row, each.action.name, each.witnesses):
                    return bound
            if self.question.deadlock and not any_step:
                self._violated("deadlock", row, self.parent[row])
            self._tell(began)
        return None

    def _tell(self, began: float) -> None:
        """Say how far the search is. Raises _Stopped if it is not to go on."""
        if self.question.progress and self.result.distinct % 256 == 0:
            now = time.perf_counter() - began
            self.question.progress(self.result, len(self.frontier), now)
        if self.question.stopped and self.question.stopped():
            raise _Stopped

    def _successors(self, row: bytes) -> Iterator[Attempt]:
        try:
            yield from successors(self.model, row)
        except CapacityExceeded as error:
            raise CapacityExceeded(str(error)) from None

    def _take_in(self, before: bytes | None, row: bytes, action: str, witnesses: int = 1) -> bool:
        """Count, store and check one generated state; False if max_states forbids to store it."""
        chosen = before is None and self.question.starts is not None
        known_by = self._identity(row)
        inside = chosen or known_by in self.known or self._inside(row)
        new = inside and known_by not in self.known
        if new and len(self.depth) >= self.question.max_states:
            return False
        self.result.per_action[action] += witnesses
        if new:
            self.known.add(known_by)
            self.parent[row] = before
            self.depth[row] = 1 if before is None else self.depth[before] + 1
            if self.depth[row] > len(self.result.per_depth):
                self.result.per_depth.append(0)
            self.result.per_depth[-1] += 1
            self.frontier.append(row)
            self.unreached = [p for p in self.unreached if evaluate(self.model, row, p.function)]
        if new or not inside:
            for invariant in self.question.invariants:
                if evaluate(self.model, row, invariant.function):
                    self._violated(invariant.name, row, before, counted=new)
            goal = self.question.goal
            if goal and goal(view(self.model.layout, row), self.model.constants):
                self._violated(GOAL, row, before)
        if before is not None:
            for invariant in self.question.step_invariants:
                if evaluate_step(self.model, before, row, invariant.function):
                    self._violated(invariant.name, row, before)
        return True

    def _identity(self, row: bytes) -> bytes:
        """What a state is known by: of all states that count as the same, the same bytes."""
        if self.question.view:
            row = erased(self.model, row)
        return smallest_name(self.model, row) if self.question.symmetry else row

    def _inside(self, row: bytes) -> bool:
        constraint = self.question.constraint
        return not any(
            evaluate(self.model, row, each.function) for each in self.model.spec.constraints
        ) and (constraint is None or constraint(view(self.model.layout, row), self.model.constants))

    def _violated(self, name: str, row: bytes, before: bytes | None, counted: bool = True) -> None:
        if self.result.violated is None:
            self.result.violated = name
            path = [row]
            while before is not None:
                path.append(before)
                before = self.parent[before]
            path.reverse()
            add_trace(self.result, path, self.question.initial_text(self.model, path[0]))
        if name not in (self.result.violating or ()):
            raise _Violation
        self.result.violating[name] += counted


class _Stopped(Exception):
    """The search is no longer wanted."""


class _Violation(Exception):
    """The first violation, where the search is not asked to go on."""
