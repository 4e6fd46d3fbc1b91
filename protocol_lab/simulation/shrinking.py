"""Shrinks a counterexample: leaves out steps while it still ends in the violation.

Most steps of a walk that found a violation have nothing to do with it. Stretches of its steps are
left out, long ones first, then single steps (delta debugging; Zeller and Hildebrandt, "Simplifying
and Isolating Failure-Inducing Input", 2002). A later step that is then impossible is left out, too.
The remaining path breaks the same invariant, and none of its steps can be left out; still there may
be a shorter path of another kind.
"""

from contextlib import suppress

from protocol_lab.checker.request import SearchRequest
from protocol_lab.errors import EvaluationError
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import Step, steps_between, taken_again
from protocol_lab.model.transitions import evaluate, evaluate_step, is_inside

TRIES = 20_000
"""How many steps are tried to shorten a path; a path of some dozen steps needs some hundred."""


def shrink(model: Model, request: SearchRequest, rows: list[bytes], violated: str) -> list[bytes]:
    """The states of a path, from the same initial state, that is as short or shorter.

    rows: a path whose last state or step breaks the invariant `violated`. It ends after a fixed
    number of steps tried, so the result is the same on any machine.
    """
    return _Shrinking(model, request, violated).run(rows)


class _Shrinking:
    def __init__(self, model: Model, request: SearchRequest, violated: str):
        self.model, self.request, self.tries = model, request, TRIES
        spec = model.spec
        self.state = [each.function for each in spec.invariants if each.name == violated]
        self.step = [each.function for each in spec.step_invariants if each.name == violated]
        self.after: dict[tuple[bytes, Step], bytes | None] = {}
        self.inside: dict[bytes, bool] = {}

    def run(self, rows: list[bytes]) -> list[bytes]:
        rows = _without_loops(rows)
        steps = steps_between(self.model, rows)
        size = max(1, len(steps) // 2)
        while True:
            shorter = self._leave_out(rows, steps, size)
            if shorter is None and size == 1:
                return rows
            if shorter is None:
                size //= 2
            else:
                rows, steps = shorter
                size = min(size, max(1, len(steps) // 2))

    def _leave_out(
        self, rows: list[bytes], steps: list[Step], size: int
    ) -> tuple[list[bytes], list[Step]] | None:
        """The path without one stretch of `size` steps, the first that it does not need."""
        for at in range(0, len(steps), size):
            if self.tries <= 0:
                return None
            with suppress(EvaluationError):  # on a path that the walk did not take
                found = self._replay(rows[: at + 1], steps[:at], steps[at + size :])
                if found is not None:
                    return found
        return None

    def _replay(
        self, rows: list[bytes], taken: list[Step], ahead: list[Step]
    ) -> tuple[list[bytes], list[Step]] | None:
        """Take those of the steps ahead that can be taken, up to the violation; None if there is
        none. The path is then shorter than before, since a step was left out."""
        rows, taken = list(rows), list(taken)
        for step in ahead:
            if not self._is_inside(rows[-1]):
                return None
            row = self._take(rows[-1], step)
            if row is None:
                continue
            rows.append(row)
            taken.append(step)
            if self._is_broken(rows):
                return rows, taken
        return None

    def _take(self, row: bytes, step: Step) -> bytes | None:
        """The state after a step; None if it can't be taken here."""
        if (row, step) not in self.after:
            self.tries -= 1
            self.after[row, step] = next(taken_again(self.model, row, step), None)
        return self.after[row, step]

    def _is_broken(self, rows: list[bytes]) -> bool:
        if self.step:
            return any(evaluate_step(self.model, *rows[-2:], each) for each in self.step)
        return any(evaluate(self.model, rows[-1], each) for each in self.state)

    def _is_inside(self, row: bytes) -> bool:
        if row not in self.inside:
            self.inside[row] = is_inside(self.model, row, self.request.constraint)
        return self.inside[row]


def _without_loops(rows: list[bytes]) -> list[bytes]:
    """The path without its cycles from a state back to the same state."""
    last = {row: at for at, row in enumerate(rows[:-1])}
    kept, at = [], 0
    while at < len(rows) - 1:
        at = last[rows[at]]
        kept.append(rows[at])
        at += 1
    return [*kept, rows[-1]]
