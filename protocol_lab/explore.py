"""`explore`: every reachable state of a model, on the engine of your choice."""

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

import numpy as np

from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import OUT_OF_MEMORY, UNBOUNDED, SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.compiler.conditions import predicate
from protocol_lab.errors import LabError, quoted
from protocol_lab.quantities import whole_number
from protocol_lab.semantics.dry_run import rehearse
from protocol_lab.spec.spec import Model, expect_model
from protocol_lab.symmetry.symmetry_check import check_alike
from protocol_lab.system.interrupts import deferred_interrupts
from protocol_lab.system.memory import allowed_bytes

ENGINES = ("native", "python", "spark")

HIDDEN = "of states that the view does not tell apart one was expanded, and the others may go on"
"""Why a search that was completed under a view remains undecided."""


def explore(
    model: Model,
    *,
    engine: str = "native",
    invariants: Iterable[str] | None = None,
    constraint: str | Callable[..., Any] | None = None,
    deadlock: bool = False,
    to_the_end: bool = False,
    symmetry: bool = False,
    view: bool = False,
    max_states: int | None = None,
    memory_gib: float | None = None,
    progress: bool = True,
    stopped: Callable[[], bool] | None = None,
    **engine_options: Any,
) -> Result:
    """Search breadth first for a violated invariant, up to the end or a stated bound.

    invariants: names, [] for none, None for the spec's default ones. constraint: an expression
    over s and c, or such a function; states outside are checked but neither counted nor expanded.
    to_the_end: go on after a violation and count the violating states. symmetry: count states once
    that differ by a renaming of nodes that the spec declares symmetric (not on Spark); generated
    states and verdict are those of the states found. view: the same for states that differ in what
    the spec's view erases only; then nothing is said to hold. Interrupting returns what is known,
    as undecided. Raises LabError for bad input.
    """
    expect_model(model)
    if engine not in ENGINES:
        raise LabError(f"There is no engine {quoted(engine)}; use one of {', '.join(ENGINES)}.")
    if max_states is not None:
        max_states = whole_number("max_states", max_states, 1, UNBOUNDED)
    memory_bytes = None if memory_gib is None else allowed_bytes(memory_gib)
    if engine == "spark" and (symmetry or view):
        raise LabError(
            "Spark knows states by all their bytes: search on the native engine, or without"
            " symmetry and view."
        )
    if symmetry and not model.spec.symmetries:
        raise LabError(
            f"{model.spec.name} declares no nodes that may change places: leave symmetry out, or"
            " write spec.symmetric(...) if there are such."
        )
    if view and model.spec.erase is None:
        raise LabError(
            f"{model.spec.name} declares no view: leave it out, or write one with @spec.view."
        )
    chosen, chosen_steps = model.choose(invariants)
    request = SearchRequest(
        chosen,
        chosen_steps,
        predicate(model, constraint) if constraint is not None else None,
        deadlock,
        to_the_end,
        max_states or UNBOUNDED,
        memory_bytes,
        stopped=stopped,
        symmetry=symmetry,
        view=view,
    )
    with deferred_interrupts():  # raised in the middle of an import it might be swallowed
        search_class = _search_class(engine)
    options = list(signature(search_class).parameters)[2:]
    for name in engine_options:
        if name not in options:
            known = [each for each in signature(explore).parameters if each != "engine_options"]
            raise LabError(
                f"explore has no option {quoted(name)}; it has: {', '.join(known + options)}."
            )
    rehearse(model, chosen + chosen_steps)
    if symmetry:
        conditions = [] if request.constraint is None else [request.constraint]
        check_alike(model, chosen + chosen_steps, conditions)
    with ProgressBar(model.spec.name, shown=progress) as bar:
        request.progress, request.compiling = bar.update, bar.compiling
        try:
            with deferred_interrupts():  # which may import Spark
                search = search_class(model, request, **engine_options)
        except KeyboardInterrupt:
            return _nothing_known(model, engine, request, "interrupted while compiling")
        except MemoryError:
            return _nothing_known(model, engine, request, OUT_OF_MEMORY)
        result = search.run()
    result.symmetry, result.view = symmetry, view
    if view and result.exhaustive:
        result.exhaustive = False
        result.undecided_reason = HIDDEN
    return result


def _nothing_known(model: Model, engine: str, request: SearchRequest, reason: str) -> Result:
    """The result of a search that ended before it began."""
    result = Result(model, engine, request.names)
    result.undecided_reason = reason
    result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
    result.states, result.parents = np.empty((0, model.words), np.uint64), np.empty(0, np.int64)
    return result


def _search_class(engine: str) -> Any:
    """The engines, imported only where they are used: Spark alone takes a second."""
    if engine == "native":
        from protocol_lab.checker.breadth_first import NativeSearch

        return NativeSearch
    if engine == "python":
        from protocol_lab.checker.reference import PythonSearch

        return PythonSearch
    from protocol_lab.spark.distributed_search import SparkSearch

    return SparkSearch
