"""Repeats violations, and a sample of the states that hold, in plain Python.

A violation is always repeated uncompiled before it is shown (`request.add_trace`). Of the states
that hold a sample is: some dozens, spread evenly over the search. Their steps, in order, with
actions and multiplicities, what the properties say of them, and what constraints and step
invariants say of their steps must be the same. If they are not, this is a defect of the kit.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from protocol_lab.checker.chunks import MOST_SUCCESSORS
from protocol_lab.checker.defect_report import defect
from protocol_lab.checker.request import is_inside
from protocol_lab.compiler.expansion import SuccessorBuffer
from protocol_lab.errors import EvaluationError, SpecError
from protocol_lab.semantics.transitions import evaluate, evaluate_step, successors

if TYPE_CHECKING:
    from protocol_lab.checker.breadth_first import NativeSearch

SAMPLED = 24
"""So many states of a search are looked at again."""

STEPS = 8
"""Of so many steps of each, more or less, the properties are compared."""

_passed: set[tuple] = set()


def compare(search: "NativeSearch") -> None:
    """Compare the compiled and the plain functions in a sample of what a search has stored.

    Once for these functions and constants. Raises KitDefect.
    """
    model, request = search.model, search.request
    judged = [*search.properties, *request.step_invariants, *model.spec.actions]
    key = (
        *(each.function for each in judged),
        request.constraint,
        tuple(model.constants),
        model.layout.dtype.str,
    )
    count = search.result.distinct
    if key in _passed or not count:
        return
    for at in np.unique(np.linspace(0, count - 1, SAMPLED).astype(np.int64)):
        _State(search, search.log.row(int(at))).compare()
    _passed.add(key)


class _State:
    """One state, which stands alone in `rows`, as the compiled loops take it."""

    def __init__(self, search: "NativeSearch", row: bytes):
        self.search, self.model, self.row = search, search.model, row
        self.rows = np.frombuffer(bytearray(row), np.uint64).reshape(1, -1)

    def compare(self) -> None:
        """Raises KitDefect if compiled and plain code say different things."""
        check = self.search.compiled.check
        for k, each in enumerate(self.search.properties):
            self._compare(
                each.name,
                lambda each=each: evaluate(self.model, self.row, each.function),
                lambda k=k: self._failed(check, 1 << k, self.rows)[0],
            )
        try:
            plain = [
                (each.action.name, each.row, each.multiplicity)
                for each in successors(self.model, self.row)
            ]
        except (EvaluationError, SpecError):
            return  # here the search has ended
        found, count = self._expanded()
        names = [each.name for each in self.model.spec.actions]
        compiled = [
            (names[found.action_of[k]], found.out[k].tobytes(), int(found.weight_of[k]))
            for k in range(count)
        ]
        if compiled != plain:
            differing = {*compiled} ^ {*plain} or {*compiled}
            raise defect(self.model, min(name for name, *_ in differing), self.row)
        for k in range(0, count, 1 + count // STEPS):
            self._compare_step(found.out[k : k + 1].copy())

    def _expanded(self) -> tuple[SuccessorBuffer, int]:
        """The successors by the compiled actions, and how many there are."""
        found = SuccessorBuffer(MOST_SUCCESSORS, self.model.words, 1)
        try:
            while True:
                done, count = found.fill(self.search.compiled, self.rows, 0, 1)
                if done:
                    return found, count
                found = SuccessorBuffer(2 * len(found.out), self.model.words, 1)
        except Exception:
            raise defect(self.model, "the actions", self.row) from None

    def _compare_step(self, after: np.ndarray) -> None:
        search, model, row = self.search, self.model, after.tobytes()

        def inside() -> bool:
            compiled = search.compiled
            bits = compiled.constraints
            failed = self._failed(compiled.check, bits, after)[0] if bits else 0
            if compiled.check_constraint is not None:
                failed |= self._failed(compiled.check_constraint, 1, after)[0]
            return not failed

        self._compare(
            "a constraint", lambda: is_inside(model, row, search.request.constraint), inside
        )
        for each in search.request.step_invariants:
            bit = 1 << model.spec.step_invariants.index(each)
            self._compare(
                each.name,
                lambda each=each: evaluate_step(model, self.row, row, each.function),
                lambda bit=bit: self._failed(search.compiled.check_steps, bit, after)[0],
            )

    def _compare(self, what: str, plain: Callable[[], Any], compiled: Callable[[], Any]) -> None:
        """Both as true or false."""
        try:
            expected = bool(plain())
        except (EvaluationError, SpecError):
            return  # compiled code raises it, too: then the search has ended here
        try:
            found = bool(compiled())
        except Exception:
            found = not expected
        if found != expected:
            raise defect(self.model, what, self.row)

    def _failed(self, check: Callable, bits: int, rows: np.ndarray) -> np.ndarray:
        """Which of the properties fail, as bits; the row before is this state."""
        failed, only = np.zeros(1, np.int64), np.zeros(1, np.int64)
        wanted, constants = np.ones(1, np.uint8), self.search.compiled.constants
        check(rows, 1, wanted, constants, bits, failed, self.rows, only)
        return failed
