"""Puts a counterexample into a result, in causal order: the same for all engines, and computed
uncompiled.

An engine finds the states along the path; see `state_log` for how the native one does. A
breadth-first search takes the decisions of a controller or the environment as early as it can, in
an order that nobody would tell. In causal order every other step that does not follow from a
decision (`Spec.decisions`) comes before it. Which steps follow is tried: two neighbours may change
places if both can happen in the other order too, and lead to the same state. So the steps and the
last state are the same, and nothing is broken before it. A causal order is its own causal order.
"""

from itertools import pairwise

from protocol_lab.checker.disagreement import defect
from protocol_lab.checker.request import GOAL, SearchRequest, reason_of
from protocol_lab.checker.result import Result
from protocol_lab.errors import EvaluationError
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import Step, steps_between, taken_again
from protocol_lab.model.transitions import is_inside, is_true, successors


def add_trace(
    result: Result, rows: list[bytes], request: SearchRequest, initial: str | None = None
) -> None:
    """Put a counterexample into the result: its states, its steps as text, and why it ends there.

    Its steps are in causal order.

    initial: the line init(...) of the first state, if it is known; else it is found among all
    initial states. Everything is repeated uncompiled. Raises KitDefect if that disagrees.
    """
    model, row = result.model, rows[-1]
    try:
        result.initial = initial or request.initial_text(model, rows[0])
        result.trace = steps_between(model, rows)
        if model.spec.decisions:
            known = dict(zip(pairwise(rows), result.trace, strict=True))
            rows = causal_order(model, rows, result.trace, request, result.violated)
            result.trace = [
                known.get(each) or steps_between(model, each)[0] for each in pairwise(rows)
            ]
        result.trace_rows = rows
        result.violation_reason = reason_of(model, result.violated, rows)
        dead = result.violated == "deadlock" and next(successors(model, row), None) is None
        there = result.violated == GOAL and is_true(model, row, request.goal)
    except (StopIteration, EvaluationError):
        raise defect(model, f"the way to {result.violated}", row) from None
    if not (result.violation_reason if result.violated in request.names else dead or there):
        raise defect(model, str(result.violated), row)


def causal_order(
    model: Model, rows: list[bytes], steps: list[Step], request: SearchRequest, violated: str | None
) -> list[bytes]:
    """The states of a counterexample in causal order.

    rows, steps: its states and the steps between them. request: what must not break on the way.
    violated: what breaks at the end; if that is a step invariant, the last step stays the last.
    """
    rows, steps = [*rows], [*steps]
    last = len(steps) - (violated in [each.name for each in request.step_invariants])
    is_decision = [each.action in model.spec.decisions for each in steps]
    has_moved = True
    while has_moved:
        has_moved = False
        for place in range(last):
            decisions = [k for k in range(place) if is_decision[k]]
            while decisions and not is_decision[place]:
                to = decisions.pop()
                moved = _moved(model, rows, steps, place, to)
                if moved is None or not _is_harmless(model, moved, to, place + 1, request):
                    break
                rows, has_moved = moved, True
                for each in (steps, is_decision):
                    each.insert(to, each.pop(place))
                place = to
    return rows


def _moved(
    model: Model, rows: list[bytes], steps: list[Step], place: int, to: int
) -> list[bytes] | None:
    """The states if the step at a place comes before those from `to` on; None if it can't."""
    rows, step = [*rows], steps[place]
    for k in reversed(range(to, place)):
        between = next(
            (
                each
                for each in taken_again(model, rows[k], step)
                if rows[k + 2] in taken_again(model, each, steps[k])
            ),
            None,
        )
        if between is None:
            return None
        rows[k + 1] = between
    return rows


def _is_harmless(
    model: Model, rows: list[bytes], start: int, end: int, request: SearchRequest
) -> bool:
    """Would a search have gone on from each state between these two places, none of them broken?"""
    for row in rows[start + 1 : end]:
        if not is_inside(model, row, request.constraint):
            return False
        if any(reason_of(model, each.name, [row]) for each in request.invariants):
            return False
        if request.goal is not None and is_true(model, row, request.goal):
            return False
    pairs = [rows[k : k + 2] for k in range(start, end)]
    return not any(
        reason_of(model, each.name, pair) for each in request.step_invariants for pair in pairs
    )
