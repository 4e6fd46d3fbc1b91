"""What every engine is asked, and what they share when they answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from protocol_lab.checker.result import Result
from protocol_lab.errors import CapacityExceeded
from protocol_lab.semantics.step_text import initial_text, steps_between
from protocol_lab.semantics.transitions import evaluate, evaluate_step, initial, successors
from protocol_lab.spec.spec import Model, Property, Spec

UNBOUNDED = 2**62

GOAL = "goal"
"""What is "violated" where a search has reached its goal."""


@dataclass
class Question:
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
        """The states that the search begins with, one at a time. Raises CapacityExceeded."""
        if self.starts is not None:
            yield from self.starts
            return
        for each in initial(model):
            yield each.row

    def initial_text(self, model: Model, row: bytes) -> str | None:
        """The line init(...) that chooses this state to begin with; None if there is none."""
        return initial_text(model, row) if self.starts is None else None


def properties_to_compile(spec: Spec, invariants: list[Property]) -> list[Property]:
    """What is to be evaluated on a state, for a question about these invariants."""
    return [*invariants, *spec.sometimes_properties, *spec.constraints]


def add_trace(result: Result, rows: list[bytes], initial: str | None) -> None:
    """Put the path into the result: its states, its steps as text, and why it ends there.

    initial: the line init(...) that chooses its first state, if it takes one to do so.
    """
    model = result.model
    result.trace_rows, result.initial = rows, initial
    result.trace = steps_between(model, rows)
    result.violation_reason = reason_of(model, result.violated, rows)


def reason_of(model: Model, name: str | None, rows: list[bytes]) -> str | None:
    """What the violated invariant says about the last state of a path."""
    for each in model.spec.invariants:
        if each.name == name:
            return evaluate(model, rows[-1], each.function)
    for each in model.spec.step_invariants:
        if each.name == name:
            return evaluate_step(model, rows[-2], rows[-1], each.function)
    return "no action can be taken" if name == "deadlock" else None


def explain_capacity(model: Model, row: bytes) -> str:
    """The sentence for a step from this state that does not fit into the declared storage."""
    try:
        list(successors(model, row))
    except CapacityExceeded as error:
        return str(error)
    raise AssertionError("a step that fits uncompiled did not fit compiled")
