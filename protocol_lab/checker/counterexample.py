"""Puts a counterexample into a result: the same for all engines, and computed uncompiled.

An engine finds the states along the path; see `state_log` for how the native one does.
"""

from protocol_lab.checker.disagreement import defect
from protocol_lab.checker.request import GOAL, SearchRequest, reason_of
from protocol_lab.checker.result import Result
from protocol_lab.errors import EvaluationError
from protocol_lab.model.step_text import steps_between
from protocol_lab.model.transitions import is_true, may_end, successors


def add_trace(
    result: Result, rows: list[bytes], request: SearchRequest, initial: str | None = None
) -> None:
    """Put a counterexample into the result: its states, its steps as text, and why it ends there.

    initial: the line init(...) of the first state, if it is known; else it is found among all
    initial states. Everything is repeated uncompiled. Raises KitDefect if that disagrees.
    """
    model, row = result.model, rows[-1]
    try:
        result.trace_rows = rows
        result.initial = initial or request.initial_text(model, rows[0])
        result.trace = steps_between(model, rows)
        result.violation_reason = reason_of(model, result.violated, rows)
        stuck = result.violated == "deadlock" and next(successors(model, row), None) is None
        dead = stuck and not may_end(model, row)
        there = result.violated == GOAL and is_true(model, row, request.goal)
    except (StopIteration, EvaluationError):
        raise defect(model, f"the way to {result.violated}", row) from None
    if not (result.violation_reason if result.violated in request.names else dead or there):
        raise defect(model, str(result.violated), row)
