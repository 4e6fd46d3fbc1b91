"""The reference engine: the plain breadth-first algorithm over uncompiled functions.

It is the oracle in tests, and runs where Numba can't. It explores a few thousand states a second.
"""

from collections import deque
from contextlib import suppress
from sys import getsizeof

from protocol_lab.checker.counterexample import add_trace
from protocol_lab.checker.request import (
    GOAL,
    SearchRequest,
    Undecided,
    ending,
    memory_reason,
    too_many_states,
)
from protocol_lab.checker.result import Result
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import evaluate_step, fails, is_inside, is_true, successors
from protocol_lab.symmetry.symmetry_check import erased, smallest_name
from protocol_lab.system.memory import allowed_bytes

_IN_CONTAINERS = 300
"""About how many bytes each state takes in sets and dicts, besides its row."""


class PythonSearch:
    """One breadth-first search; `run` returns its result."""

    def __init__(self, model: Model, request: SearchRequest):
        self.model, self.request = model, request
        self.known: set[bytes] = set()
        self.parent: dict[bytes, bytes | None] = {}
        self.depth: dict[bytes, int] = {}
        self.frontier: deque[bytes] = deque()
        self.memory = allowed_bytes(request.memory_gib)
        own_names = request.symmetry or request.view
        self._bytes_of_state = _IN_CONTAINERS + (1 + own_names) * getsizeof(
            bytes(model.layout.size)
        )
        self.unreached = self._judged = [each for each in model.spec.situations if each.expected]
        self.result = Result(model, "python", request.names)
        self.result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
        self.result.violating = dict.fromkeys(request.names, 0) if request.to_the_end else None

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search."""
        with ending(self.result), suppress(_Violation):
            self._search()
            self.result.exhaustive = True
        self.result.never_reached = [each.name for each in self.unreached]
        return self.result

    def _search(self) -> None:
        for row in self.request.first_rows(self.model):
            self._take_in(None, row, "init")
            self._report()
        while self.frontier:
            row = self.frontier.popleft()
            any_step = False
            for each in successors(self.model, row):
                any_step = True
                self._take_in(row, each.row, each.action.name, each.multiplicity)
            if self.request.deadlock and not any_step:
                self._violated("deadlock", row, self.parent[row])
            self._report()

    def _report(self) -> None:
        """Report the progress. Raises Undecided if the search was stopped, or is too large."""
        self.request.report(self.result, len(self.frontier))
        if len(self.parent) * self._bytes_of_state > self.memory:
            raise Undecided(memory_reason(self.memory))

    def _take_in(
        self, before: bytes | None, row: bytes, action: str, multiplicity: int = 1
    ) -> None:
        """Count, store and check one generated state. Raises Undecided if there are too many."""
        chosen = before is None and self.request.starts is not None
        inside = chosen or is_inside(self.model, row, self.request.constraint)
        known_by = self._identity(row) if inside else row
        new = inside and known_by not in self.known
        if new and len(self.depth) >= self.request.max_states:
            raise too_many_states(self.request.max_states)
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
