"""The request for a search: what to check and where to stop; and helpers that engines share."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocol_lab.checker.disagreement import beyond_compiled, repeating
from protocol_lab.checker.options import (
    ENGINES,
    NATIVE,
    PYTHON,
    SIMULATION,
    SPARK,
    TEMPORAL,
    option,
)
from protocol_lab.checker.result import Result
from protocol_lab.compiler.conditions import predicate
from protocol_lab.errors import CapacityExceeded, EvaluationError, LabError
from protocol_lab.model.spec import Model, Property
from protocol_lab.model.step_text import initial_text
from protocol_lab.model.transitions import (
    evaluate,
    evaluate_step,
    fails,
    initial,
    is_true,
    successors,
)
from protocol_lab.quantities import whole_number

UNBOUNDED = 2**62

GOAL = "goal"
"""The name that is reported as violated when a search has reached its goal."""


OUT_OF_MEMORY = (
    "the system has no more memory for this process: lower the constants, or give --memory less"
    " than there is"
)
"""Why a search is undecided if the system refused memory before the search's own bound."""


def memory_reason(allowed_bytes: int) -> str:
    """Why a search is undecided that would exceed the memory it may use."""
    gib = allowed_bytes / 2**30
    return (
        f"the search needs more than the {gib:.{1 if gib >= 0.1 else 3}f} GiB of memory it may"
        " use: lower the constants, raise --memory, or use Spark"
    )


def too_many_states(most: int) -> "Undecided":
    """The end of a search that would have more than so many states."""
    return Undecided(f"more than {most:,} distinct states (max_states)")


def _declared_symmetry(model: Model, value: bool) -> bool:
    if not model.spec.symmetries:
        raise LabError(
            f"{model.spec.name} declares no interchangeable nodes: leave symmetry out, or declare"
            " them with spec.symmetric(...)."
        )
    return True


def _declared_view(model: Model, value: bool) -> bool:
    if model.spec.erase is None:
        raise LabError(
            f"{model.spec.name} declares no view: leave it out, or write one with @spec.view."
        )
    return True


@dataclass
class SearchRequest:
    """One search: what to check, where to stop, and whom to call back.

    People can set the fields with an `option`. compiling(name, number, count) is called before each
    function that is compiled or loaded, and progress(result, frontier) often. constraint:
    a function (s, c), true inside. goal: a
    function (s, c); where it is true the search ends, with GOAL as the violated property and the
    path there as its trace. symmetry, view: states that differ only by a renaming of the spec's
    symmetric nodes, or by what its view erases,
    are merged. Then merged states are counted once, but all steps are counted.
    """

    invariants: list[Property]
    step_invariants: list[Property]
    constraint: Callable[..., Any] | None = option(
        None,
        help="a condition over s and c, such as 's.x < 3'; states outside are checked, but"
        " neither counted nor expanded",
        word="--constraint",
        kind=str | Callable,
        metavar="EXPR",
        supported_by=(*ENGINES, TEMPORAL, SIMULATION),
        read=predicate,
    )
    deadlock: bool = option(
        False,
        help="report a state without a step as a violation",
        word="--deadlock",
        kind=bool,
        supported_by=ENGINES,
    )
    to_the_end: bool = option(
        False,
        help="go on after a violation, and count the violating states",
        word="--continue",
        kind=bool,
        supported_by=ENGINES,
    )
    symmetry: bool = option(
        False,
        help="symmetry reduction: count states once that differ by a renaming of symmetric nodes",
        word="--symmetry",
        kind=bool,
        supported_by=(NATIVE, PYTHON),
        read=_declared_symmetry,
    )
    view: bool = option(
        False,
        help="merge states whose views (see @spec.view) are equal; the verdict is then never"
        " 'holds'",
        word="--view",
        kind=bool,
        supported_by=(NATIVE, PYTHON),
        read=_declared_view,
    )
    max_states: int = option(
        UNBOUNDED,
        help="stop at this many distinct states",
        word="--max-states",
        kind=int,
        metavar="N",
        read=lambda model, value: whole_number("max_states", value, 1, UNBOUNDED),
    )
    memory_gib: float | None = option(
        None,
        help="GiB of memory that the search may use; by default half of what there is",
        word="--memory",
        kind=float,
        metavar="GIB",
        supported_by=(NATIVE, PYTHON, TEMPORAL),
    )
    keep_states: bool = option(
        False,
        help="keep all states for looking at them afterwards, even if they take more than 512 MiB",
        word="--keep-states",
        kind=bool,
        supported_by=(NATIVE,),
    )
    stopped: Callable[[], bool] | None = option(
        None,
        help="a function, called often; the search ends as undecided once it returns true",
        kind=Callable,
        supported_by=(*ENGINES, TEMPORAL, SIMULATION),
    )
    session: Any = option(
        None,
        help="a Spark session, or its address: local[4], spark://HOST:7077; by default local mode"
        " on all cores, started while the kernels compile",
        word="--session",
        kind=Any,
        metavar="URL",
        supported_by=(SPARK,),
    )
    folder: str | Path | None = option(
        None,
        help="where the levels are kept: a folder that all machines see; if it has an earlier run"
        " of the same search, that is continued. By default a temporary folder",
        word="--folder",
        kind=str | Path,
        metavar="FOLDER",
        supported_by=(SPARK,),
    )
    driver_below: int = option(
        50_000,
        help="the driver expands levels of fewer states itself; by default 50,000, which take"
        " about as long as a Spark job takes at least",
        kind=int,
        supported_by=(SPARK,),
    )
    partitions: int | None = option(
        None,
        help="the number of partitions (owners) at the start, a power of two, which doubles as"
        " the search grows; by default one a core",
        kind=int,
        supported_by=(SPARK,),
    )
    starts: list[bytes] | None = option(
        None,
        help="the states to begin with, as bytes, which are expanded even outside the constraint;"
        " by default the initial ones",
        kind=list[bytes],
        supported_by=(NATIVE, PYTHON),
    )
    goal: Callable[..., Any] | None = None
    progress: Callable[[Result, int], None] | None = None
    compiling: Callable[[str, int, int], None] = lambda *_: None

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

    def report(self, result: Result, frontier: int) -> None:
        """Report the progress of a running search. Raises Undecided if it was stopped."""
        if self.progress:
            self.progress(result, frontier)
        if self.stopped and self.stopped():
            raise Undecided("stopped")

    def initial_text(self, model: Model, row: bytes) -> str | None:
        """The line init(...) that chooses this state to begin with; None if there is none."""
        return initial_text(model, row) if self.starts is None else None


class Undecided(Exception):
    """Ends a search without a verdict; the text says which bound was hit."""


@contextmanager
def ending(result: Result, out_of_memory: str = OUT_OF_MEMORY) -> Iterator[None]:
    """A context for a search. If a bound, an interruption or what can't be computed ends it, the
    result is undecided for that reason. Adds how long it took, without compiling."""
    began, compiling, reason = time.perf_counter(), result.compile_seconds, None
    try:
        yield
    except (Undecided, EvaluationError) as stop:
        reason = str(stop)
        result.exceeded = stop.size if isinstance(stop, CapacityExceeded) else ""
    except KeyboardInterrupt:
        reason = "interrupted"
    except MemoryError:
        reason = out_of_memory
    if reason is not None:
        result.exhaustive, result.undecided_reason = False, reason
    result.seconds += time.perf_counter() - began - (result.compile_seconds - compiling)


def reason_of(model: Model, name: str | None, rows: list[bytes]) -> str | None:
    """The violated invariant's reason in the last state of a path."""
    for each in model.spec.invariants:
        if each.name == name:
            return evaluate(model, rows[-1], each.function)
    for each in model.spec.step_invariants:
        if each.name == name:
            return evaluate_step(model, rows[-2], rows[-1], each.function)
    return "no action can be taken" if name == "deadlock" else None


@repeating()
def evaluation_error(
    model: Model, row: bytes, request: SearchRequest, expected: Collection[str] | None = None
) -> EvaluationError:
    """The error in a state, or one of its successors, where compiled code failed without a message.

    It is found by evaluating everything again in plain Python; of the expected situations those
    with the given names, or all. What plain Python can compute needs more than compiled code has:
    larger numbers, or longer loops. Raises SpecError for a function that fails.
    """
    if expected is None:
        expected = [each.name for each in model.spec.expected]
    try:
        _judge(model, row, request, expected)
        for each in successors(model, row):
            _judge(model, each.row, request, expected)
            for step_invariant in request.step_invariants:
                evaluate_step(model, row, each.row, step_invariant.function)
    except EvaluationError as error:
        return error
    return beyond_compiled()


def _judge(model: Model, row: bytes, request: SearchRequest, expected: Collection[str]) -> None:
    """Evaluate everything that the request asks about a state."""
    unreached = [each for each in model.spec.expected if each.name in expected]
    for each in [*model.spec.constraints, *unreached, *request.invariants]:
        fails(model, row, each)
    for condition in (request.constraint, request.goal):
        if condition is not None:
            is_true(model, row, condition)
