"""Repeats the results of compiled code in plain Python: counterexamples, and states of the search.

Of a small search all states are compared, as far as 0.2 s of processor time is enough, and of a
larger one as many as fit into a twentieth of its time, spread evenly over it, whether it is
exhaustive, random or on Spark; the result says how many. Both must agree on the steps from each
state (order, actions, multiplicities), on its properties, and on the constraints and step
invariants of its steps. A disagreement is a defect of the kit.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from protocol_lab.checker.chunks import MOST_SUCCESSORS
from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.disagreement import defect
from protocol_lab.checker.request import SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.compiler.kernels import SuccessorBuffer
from protocol_lab.errors import EvaluationError, SpecError
from protocol_lab.model.transitions import evaluate_step, fails, is_inside, successors
from protocol_lab.system.process import deferred_interrupts

LEAST = 24
"""So many states of a search are compared, however long that takes."""

FEW, SECONDS = 5_000, 0.2
"""A search is small if it has so few states, or took so few seconds. Then all of its states are
compared, as far as that takes no longer than these seconds of a processor: some hundred states of a
large protocol, some thousand of one with few short actions."""

PART = 0.05
"""Of a larger search as many states are compared as this part of its own time is enough for."""

STEPS = 8
"""About how many steps of each state have their properties compared."""

_compared: dict[tuple, tuple[int, int]] = {}
"""By functions and constants: how many states of a search had none that differs, and how many
distinct states that search had."""


def compare(
    compiled: CompiledModel, request: SearchRequest, result: Result, states: Iterable[bytes]
) -> None:
    """Compare the compiled and the plain functions in states of a search, and note in its result in
    how many.

    states: those of the search, in an order whose beginnings are spread evenly over it (`spread`).
    It is done once for the same functions and constants, unless a later search has more states; if
    memory is short, in fewer states. An interruption ends it. Raises KitDefect.
    """
    model = compiled.model
    judged = [*compiled.properties, *request.step_invariants, *model.spec.actions]
    key = (
        *(each.function for each in judged),
        request.constraint,
        tuple(model.constants),
        model.layout.dtype.str,
    )
    result.compared, of = _compared.get(key, (0, -1))
    if result.distinct <= of:
        return
    is_small = result.distinct <= FEW or result.seconds <= SECONDS
    clock = time.thread_time if is_small else time.perf_counter
    end = clock() + (SECONDS if is_small else PART * result.seconds)
    result.compared = 0
    with suppress(MemoryError), deferred_interrupts() as interrupted:
        for row in states:
            _State(compiled, request, row).compare()
            result.compared += 1
            if interrupted() or (request.stopped and request.stopped()):
                return
            if result.compared >= LEAST and clock() > end:
                break
    if result.compared:
        _compared[key] = result.compared, result.distinct


def spread(size: int) -> Iterable[int]:
    """The positions 0..size-1 in an order whose beginnings are spread evenly: the numbers whose
    binary digits, read backwards, count up."""
    digits = max(1, (size - 1).bit_length())
    backwards = (int(f"{k:0{digits}b}"[::-1], 2) for k in range(1 << digits))
    return (each for each in backwards if each < size)


class _State:
    """One state."""

    def __init__(self, compiled: CompiledModel, request: SearchRequest, row: bytes):
        self.compiled, self.request, self.model = compiled, request, compiled.model
        self.row, self.rows = row, _alone(row)

    def compare(self) -> None:
        """Raises KitDefect if compiled and plain code disagree."""
        check = self.compiled.check
        for k, each in enumerate(self.compiled.properties):
            self._compare(
                each.name,
                lambda each=each: bool(fails(self.model, self.row, each)),
                lambda k=k: self._failed(check, 1 << k, self.rows),
            )
        steps = self._compare("the actions", self._plain_steps, self._compiled_steps) or []
        for _, row, _ in steps[:: 1 + len(steps) // STEPS]:
            self._compare_step(row)

    def _plain_steps(self) -> list[tuple[str, bytes, int]]:
        """(action, state after it, multiplicity) of each step from this state."""
        taken = successors(self.model, self.row)
        return [(each.action.name, each.row, each.multiplicity) for each in taken]

    def _compiled_steps(self) -> list[tuple[str, bytes, int]]:
        room, names = MOST_SUCCESSORS, [each.name for each in self.model.spec.actions]
        while True:
            found = SuccessorBuffer(room, self.model.words, 1)
            done, count = found.fill(self.compiled, self.rows, 0, 1)
            if done:
                break
            room *= 2
        return [
            (names[found.action_of[k]], found.out[k].tobytes(), int(found.multiplicity_of[k]))
            for k in range(count)
        ]

    def _compare_step(self, row: bytes) -> None:
        compiled, model, after = self.compiled, self.model, _alone(row)

        def inside() -> bool:
            bits = compiled.constraints
            failed = bool(bits) and self._failed(compiled.check, bits, after)
            if compiled.check_constraint is not None:
                failed |= self._failed(compiled.check_constraint, 1, after)
            return not failed

        self._compare(
            "a constraint", lambda: is_inside(model, row, self.request.constraint), inside
        )
        for each in self.request.step_invariants:
            bit = 1 << model.spec.step_invariants.index(each)
            self._compare(
                each.name,
                lambda each=each: bool(evaluate_step(model, self.row, row, each.function)),
                lambda bit=bit: self._failed(compiled.check_steps, bit, after),
            )

    def _compare(self, what: str, plain: Callable[[], Any], compiled: Callable[[], Any]) -> Any:
        """What both give; None if it can't be computed, so that the search has ended here."""
        try:
            found = compiled()
        except MemoryError:
            raise
        except EvaluationError:
            return None
        except Exception:
            found = None
        try:
            expected = plain()
        except (EvaluationError, SpecError):
            return None
        if found != expected:
            if isinstance(found, list):  # of steps
                what = min(name for name, *_ in {*found} ^ {*expected} or {*found})
            raise defect(self.model, what, self.row)
        return found

    def _failed(self, check: Callable, bits: int, rows: np.ndarray) -> bool:
        """Does one of these properties fail? For step invariants the step begins at this state."""
        failed, only = np.zeros(1, np.int64), np.zeros(1, np.int64)
        wanted, constants = np.ones(1, np.uint8), self.compiled.constants
        check(rows, 1, wanted, constants, bits, failed, self.rows, only)
        return bool(failed[0])


def _alone(row: bytes) -> np.ndarray:
    """A state, alone in an array as the compiled loops take it."""
    return np.frombuffer(bytearray(row), np.uint64).reshape(1, -1)
