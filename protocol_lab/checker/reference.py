"""The reference engine: the plain breadth-first algorithm over uncompiled functions.

It is the oracle in tests, and runs where Numba can't. It explores a few thousand states a second.
"""

import time
from collections import deque
from itertools import islice
from sys import getsizeof

from protocol_lab.checker.counterexample import add_trace
from protocol_lab.checker.request import (
    GOAL,
    OUT_OF_MEMORY,
    SearchRequest,
    Undecided,
    memory_reason,
    size_exceeded,
)
from protocol_lab.checker.result import Result
from protocol_lab.errors import EvaluationError
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import evaluate_step, fails, is_inside, is_true, successors
from protocol_lab.symmetry.symmetry_check import erased, smallest_name
from protocol_lab.system.memory import allowed_bytes


class PythonSearch:
    """One breadth-first search; `run` returns its result."""

    def __init__(self, model: Model, request: SearchRequest):
        self.model, self.request = model, request
        self.known: set[bytes] = set()
        self.parent: dict[bytes, bytes | None] = {}
        self.depth: dict[bytes, int] = {}
        self.frontier: deque[bytes] = deque()
        self._weigh_at = 0
        self.memory = request.memory_bytes or allowed_bytes(None)
        self.unreached = self._judged = [each for each in model.spec.situations if each.expected]
        self.result = Result(model, "python", request.names)
        self.result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
        self.result.violating = dict.fromkeys(request.names, 0) if request.to_the_end else None

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search."""
        result, began = self.result, time.perf_counter()
        try:
            result.undecided_reason = self._search(began)
            result.exhaustive = result.undecided_reason is None
        except _Violation:
            pass
        except EvaluationError as error:
            result.undecided_reason, result.exceeded = str(error), size_exceeded(error)
        except Undecided as stop:
            result.undecided_reason = str(stop)
        except KeyboardInterrupt:
            result.undecided_reason = "interrupted"
        except MemoryError:
            result.undecided_reason = OUT_OF_MEMORY
        result.never_reached = [each.name for each in self.unreached]
        result.seconds = time.perf_counter() - began
        return result

    def _search(self, began: float) -> str | None:
        bound = f"more than {self.request.max_states:,} distinct states (max_states)"
        for row in self.request.first_rows(self.model):
            if not self._take_in(None, row, "init"):
                return bound
            self._report_progress(began)
        while self.frontier:
            row = self.frontier.popleft()
            any_step = False
            for each in successors(self.model, row):
                any_step = True
                if not self._take_in(row, each.row, each.action.name, each.multiplicity):
                    return bound
            if self.request.deadlock and not any_step:
                self._violated("deadlock", row, self.parent[row])
            self._report_progress(began)
        return None

    def _is_too_large(self) -> bool:
        """Does the search exceed its memory? That is measured only now and then, since it takes a
        while."""
        count = len(self.parent)
        if count < self._weigh_at:
            return False
        self._weigh_at = count + 64 + count // 8
        rows = sum(map(getsizeof, islice(self.parent, 1))) * count
        has_names = self.request.symmetry or self.request.view
        containers = (self.known, self.parent, self.depth, self.frontier)
        return (1 + has_names) * rows + sum(map(getsizeof, containers)) > self.memory

    def _report_progress(self, began: float) -> None:
        """Report the progress. Raises Undecided if the search was stopped."""
        if self.request.progress and self.result.distinct % 256 == 0:
            now = time.perf_counter() - began
            self.request.progress(self.result, len(self.frontier), now)
        if self.request.stopped and self.request.stopped():
            raise Undecided("stopped")
        if self._is_too_large():
            raise Undecided(memory_reason(self.memory))

    def _take_in(
        self, before: bytes | None, row: bytes, action: str, multiplicity: int = 1
    ) -> bool:
        """Count, store and check one generated state; False if max_states forbids to store it."""
        chosen = before is None and self.request.starts is not None
        inside = chosen or is_inside(self.model, row, self.request.constraint)
        known_by = self._identity(row) if inside else row
        new = inside and known_by not in self.known
        if new and len(self.depth) >= self.request.max_states:
            return False
        self.result.per_action[action] += multiplicity
        if new:
            self.known.add(known_by)
            self.parent[row] = before
            self.depth[row] = 1 if before is None else self.depth[before] + 1
            if self.depth[row] > len(self.result.per_depth):
                self.result.per_depth.append(0)
                self._judged = self.unreached
            self.result.per_depth[-1] += 1
            self.frontier.append(row)
            lacking = [each for each in self._judged if fails(self.model, row, each)]
            self.unreached = [p for p in self.unreached if p in lacking]
        if new or not inside:
            for invariant in self.request.invariants:
                if fails(self.model, row, invariant):
                    self._violated(invariant.name, row, before, counted=new)
            goal = self.request.goal
            if goal and is_true(self.model, row, goal):
                self._violated(GOAL, row, before)
        if before is not None:
            for invariant in self.request.step_invariants:
                if evaluate_step(self.model, before, row, invariant.function):
                    self._violated(invariant.name, row, before)
        return True

    def _identity(self, row: bytes) -> bytes:
        """The bytes by which a state is identified; states that count as the same have the same."""
        if self.request.view:
            row = erased(self.model, row)
        return smallest_name(self.model, row) if self.request.symmetry else row

    def _violated(self, name: str, row: bytes, before: bytes | None, counted: bool = True) -> None:
        ends = name not in (self.result.violating or ())
        if self.result.violated is None or ends:  # a deadlock ends a search that goes on otherwise
            self.result.violated = name
            path = [row]
            while before is not None:
                path.append(before)
                before = self.parent[before]
            path.reverse()
            add_trace(self.result, path, self.request)
        if ends:
            raise _Violation
        self.result.violating[name] += counted


class _Violation(Exception):
    """The first violation, if the search is to end there."""
