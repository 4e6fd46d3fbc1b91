"""Repeats the results of compiled code in plain Python: counterexamples, and a sample of states.

The sample is some dozens of states, spread evenly over the search, whether it is exhaustive, random
or on Spark. Both must agree on the steps from each state (order, actions, multiplicities), on its
properties, and on the constraints and step invariants of its steps. A disagreement is a defect of
the kit.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from protocol_lab.checker.chunks import MOST_SUCCESSORS
from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.defect_report import defect
from protocol_lab.checker.request import SearchRequest
from protocol_lab.compiler.expansion import SuccessorBuffer
from protocol_lab.errors import EvaluationError, SpecError
from protocol_lab.semantics.transitions import (
    evaluate,
    evaluate_step,
    is_inside,
    successors,
)

SAMPLED = 24
"""How many states of a search are compared."""

STEPS = 8
"""About how many steps of each state have their properties compared."""

_passed: set[tuple] = set()


def compare(
    compiled: CompiledModel, request: SearchRequest, sample: Callable[[int], list[bytes]]
) -> None:
    """Compare the compiled and the plain functions in a sample of the states of a search.

    sample: a function that gives about so many of the states, spread evenly. It is done once for
    the same functions and constants, if there is memory for it. Raises KitDefect.
    """
    model = compiled.model
    judged = [*compiled.properties, *request.step_invariants, *model.spec.actions]
    key = (
        *(each.function for each in judged),
        request.constraint,
        tuple(model.constants),
        model.layout.dtype.str,
    )
    if key in _passed:
        return
    with suppress(MemoryError):
        rows = sample(SAMPLED)
        for row in rows:
            _State(compiled, request, row).compare()
        if rows:
            _passed.add(key)


def evenly(count: int, wanted: int) -> list[int]:
    """This many of the positions 0..count-1, spread evenly; all of them if there are fewer."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64)).tolist()


class _State:
    """One state, alone in the array `rows` that the compiled loops take."""

    def __init__(self, compiled: CompiledModel, request: SearchRequest, row: bytes):
        self.compiled, self.request, self.model = compiled, request, compiled.model
        self.row = row
        self.rows = np.frombuffer(bytearray(row), np.uint64).reshape(1, -1)

    def compare(self) -> None:
        """Raises KitDefect if compiled and plain code disagree."""
        check = self.compiled.check
        for k, each in enumerate(self.compiled.properties):
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
            return  # the search has ended here
        found, count = self._expanded()
        names = [each.name for each in self.model.spec.actions]
        compiled = [
            (names[found.action_of[k]], found.out[k].tobytes(), int(found.multiplicity_of[k]))
            for k in range(count)
        ]
        if compiled != plain:
            differing = {*compiled} ^ {*plain} or {*compiled}
            raise defect(self.model, min(name for name, *_ in differing), self.row)
        for k in range(0, count, 1 + count // STEPS):
            self._compare_step(found.out[k : k + 1].copy())

    def _expanded(self) -> tuple[SuccessorBuffer, int]:
        """The successors in compiled code, and how many there are."""
        room = MOST_SUCCESSORS
        try:
            while True:
                found = SuccessorBuffer(room, self.model.words, 1)
                done, count = found.fill(self.compiled, self.rows, 0, 1)
                if done:
                    return found, count
                room *= 2
        except MemoryError:
            raise
        except Exception:
            raise defect(self.model, "the actions", self.row) from None

    def _compare_step(self, after: np.ndarray) -> None:
        compiled, model, row = self.compiled, self.model, after.tobytes()

        def inside() -> bool:
            bits = compiled.constraints
            failed = self._failed(compiled.check, bits, after)[0] if bits else 0
            if compiled.check_constraint is not None:
                failed |= self._failed(compiled.check_constraint, 1, after)[0]
            return not failed

        self._compare(
            "a constraint", lambda: is_inside(model, row, self.request.constraint), inside
        )
        for each in self.request.step_invariants:
            bit = 1 << model.spec.step_invariants.index(each)
            self._compare(
                each.name,
                lambda each=each: evaluate_step(model, self.row, row, each.function),
                lambda bit=bit: self._failed(compiled.check_steps, bit, after)[0],
            )

    def _compare(self, what: str, plain: Callable[[], Any], compiled: Callable[[], Any]) -> None:
        """Both as true or false."""
        try:
            expected = bool(plain())
        except (EvaluationError, SpecError):
            return  # compiled code raises it, too, so the search has ended here
        try:
            found = bool(compiled())
        except MemoryError:
            raise
        except Exception:
            found = not expected
        if found != expected:
            raise defect(self.model, what, self.row)

    def _failed(self, check: Callable, bits: int, rows: np.ndarray) -> np.ndarray:
        """The properties that fail, as bits; for step invariants the step begins at this state."""
        failed, only = np.zeros(1, np.int64), np.zeros(1, np.int64)
        wanted, constants = np.ones(1, np.uint8), self.compiled.constants
        check(rows, 1, wanted, constants, bits, failed, self.rows, only)
        return failed
