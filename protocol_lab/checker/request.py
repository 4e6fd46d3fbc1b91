"""What every engine is asked, and what they share when they answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from protocol_lab.checker.defect_report import defect
from protocol_lab.checker.result import Result
from protocol_lab.errors import EvaluationError
from protocol_lab.semantics.step_text import initial_text, steps_between
from protocol_lab.semantics.transitions import evaluate, evaluate_step, initial, is_true, successors
from protocol_lab.spec.spec import Model, Property, Spec

UNBOUNDED = 2**62

GOAL = "goal"
"""What is "violated" where a search has reached its goal."""


OUT_OF_MEMORY = (
    "the system has no more memory for this process: lower the constants, or give --memory less"
    " than there is"
)
"""Why a search ends that was refused memory before it reached its own bound."""


def memory_reason(allowed_bytes: int) -> str:
    """Why a search ends that would exceed the memory it may use."""
    gib = allowed_bytes / 2**30
    return (
        f"the search needs more than the {gib:.{1 if gib >= 0.1 else 3}f} GiB of memory it may"
        " use: lower the constants, raise --memory, or use Spark"
    )


@dataclass
class SearchRequest:
    """One exploration: what to check, where to stop, whom to tell.

    constraint: a function (s, c), true inside. to_the_end: go on after a violation and
    count the violating states. compiling(name, number, how many) is called before each function
    that is compiled or loaded, and progress(result, frontier, seconds) often; stopped() may end the
    search. memory_bytes: None for half of the machine's. starts: the states to begin with, which
    are expanded wherever they are; None for the initial ones. goal: a function (s, c); where it is
    true the search ends, with GOAL for what was violated and the way there as its trace. symmetry,
    view: are states the same that differ by a renaming of the spec's symmetric nodes, or by what
    its view erases. Then states, but not steps, are counted once for all that are the same.
    """

    invariants: list[Property]
    step_invariants: list[Property]
    constraint: Callable[..., Any] | None = None
    deadlock: bool = False
    to_the_end: bool = False
    max_states: int = UNBOUNDED
    memory_bytes: int | None = None
    progress: Callable[[Result, int, float], None] | None = None
    compiling: Callable[[str, int, int], None] = lambda *_: None
    stopped: Callable[[], bool] | None = None
    starts: list[bytes] | None = None
    goal: Callable[..., Any] | None = None
    symmetry: bool = False
    view: bool = False

    @property
    def names(self) -> list[str]:
        """The invariants by name, in the order in which the first violated one is reported."""
        return [each.name for each in self.invariants + self.step_invariants]

    def first_rows(self, model: Model) -> Iterator[bytes]:
        """The states that the search begins with, one at a time. Raises EvaluationError."""
        if self.starts is not None:
            yield from self.starts
            return
        for each in initial(model):
            yield each.row

    def initial_text(self, model: Model, row: bytes) -> str | None:
        """The line init(...) that chooses this state to begin with; None if there is none."""
        return initial_text(model, row) if self.starts is None else None


def properties_to_compile(spec: Spec, invariants: list[Property]) -> list[Property]:
    """The properties that a search for these invariants evaluates on a state."""
    return [*invariants, *spec.sometimes_properties, *spec.constraints]


def add_trace(result: Result, rows: list[bytes], request: SearchRequest) -> None:
    """Put the path into the result: its states, its steps as text, and why it ends there.

    All of it is repeated uncompiled. Raises KitDefect where that gives something else.
    """
    model, row = result.model, rows[-1]
    try:
        result.trace_rows, result.initial = rows, request.initial_text(model, rows[0])
        result.trace = steps_between(model, rows)
        result.violation_reason = reason_of(model, result.violated, rows)
        dead = result.violated == "deadlock" and next(successors(model, row), None) is None
        there = result.violated == GOAL and is_true(model, row, request.goal)
    except (StopIteration, EvaluationError):
        raise defect(model, f"the way to {result.violated}", row) from None
    if not (result.violation_reason if result.violated in request.names else dead or there):
        raise defect(model, str(result.violated), row)


def reason_of(model: Model, name: str | None, rows: list[bytes]) -> str | None:
    """What the violated invariant says about the last state of a path."""
    for each in model.spec.invariants:
        if each.name == name:
            return evaluate(model, rows[-1], each.function)
    for each in model.spec.step_invariants:
        if each.name == name:
            return evaluate_step(model, rows[-2], rows[-1], each.function)
    return "no action can be taken" if name == "deadlock" else None


def is_inside(model: Model, row: bytes, constraint: Callable[..., Any] | None) -> bool:
    """Is a state inside the spec's constraints and this one? Raises as `evaluate`."""
    return not any(evaluate(model, row, each.function) for each in model.spec.constraints) and (
        constraint is None or is_true(model, row, constraint)
    )


def explain(model: Model, row: bytes, request: SearchRequest) -> EvaluationError:
    """What can't be computed of a state: of its steps, its properties, or those of its steps.

    Raises SpecError for a function that fails, and KitDefect if uncompiled all can be computed.
    """
    try:
        _judge(model, row, request)
        for each in successors(model, row):
            _judge(model, each.row, request)
            for step_invariant in request.step_invariants:
                evaluate_step(model, row, each.row, step_invariant.function)
    except EvaluationError as error:
        return error
    raise defect(model, "the functions", row)


def _judge(model: Model, row: bytes, request: SearchRequest) -> None:
    """Evaluate everything that is asked about a state."""
    for each in [*model.spec.constraints, *model.spec.sometimes_properties, *request.invariants]:
        evaluate(model, row, each.function)
    for condition in (request.constraint, request.goal):
        if condition is not None:
            is_true(model, row, condition)
