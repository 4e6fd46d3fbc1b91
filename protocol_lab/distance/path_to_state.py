"""Finds the shortest path to a state that a learner describes."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.checker.engines import fastest_search
from protocol_lab.checker.request import GOAL, UNBOUNDED, SearchRequest
from protocol_lab.compiler.conditions import predicate
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import Step
from protocol_lab.quantities import amount, whole_number

_MOST_SECONDS = 1e8

FOUND, UNREACHABLE, UNDECIDED = "found", "unreachable", "undecided"


@dataclass(frozen=True)
class Found:
    """The outcome of a search for a state.

    verdict: FOUND, with the `steps` of a shortest path and its states in `rows`, from the one where
    the search began; UNREACHABLE: all reachable states were seen; UNDECIDED, for the `reason`
    given. `depth` counts the states on the longest path that was searched.
    """

    verdict: str
    rows: list[bytes]
    steps: list[Step]
    reason: str | None
    states: int
    depth: int

    @property
    def text(self) -> str:
        """The outcome in one sentence."""
        searched = f"{self.states:,} states were searched"
        if self.verdict == UNREACHABLE:
            return f"No such state can be reached: {searched}, and there are no more."
        if self.verdict == UNDECIDED:
            return f"None found up to a depth of {self.depth} states: {self.reason}."
        count = len(self.steps)
        if not count:
            return "The condition is true here already."
        return f"{count} step{'s' if count > 1 else ''} to the nearest such state; {searched}."


def find_state(
    model: Model,
    row: bytes | None,
    condition: str | Callable[..., Any],
    *,
    stopped: Callable[[], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
    max_states: int = 10_000_000,
    seconds: float | None = None,
) -> Found:
    """The shortest path from `row` to a state where the condition is true.

    row: None for the initial states. condition: an expression over s and c, or such a function;
    only it has to be compiled. progress(states, depth) is called, and `stopped` polled, every few
    milliseconds, but not while compiling. States outside the spec's constraint are checked but not
    expanded; the first state always is. Raises LabError for a condition that is not an expression,
    uses unknown names, can't be compiled or fails.
    """
    max_states = whole_number("max_states", max_states, 1, UNBOUNDED)
    if seconds is not None:
        seconds = amount("seconds", seconds, 0, _MOST_SECONDS, "seconds")
    goal = predicate(model, condition)
    request = SearchRequest([], [], goal=goal, starts=None if row is None else [row])
    request.max_states = max_states
    search = fastest_search()(model, request)
    until = time.perf_counter() + (math.inf if seconds is None else seconds)
    request.stopped = lambda: (stopped is not None and stopped()) or time.perf_counter() > until
    if progress is not None:
        request.progress = lambda result, _: progress(result.distinct, result.depth)
    result = search.run()
    if result.undecided_reason == "stopped" and time.perf_counter() > until:
        result.undecided_reason = f"more than {seconds:g} seconds"
    verdict = UNREACHABLE if result.exhaustive else UNDECIDED
    return Found(
        FOUND if result.violated == GOAL else verdict,
        result.trace_rows,
        result.trace or [],
        result.undecided_reason,
        result.distinct,
        result.depth,
    )
