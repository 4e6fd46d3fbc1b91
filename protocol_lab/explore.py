"""`explore`: every reachable state of a model, on the engine of your choice."""

import time
from collections.abc import Iterable
from typing import Any

from protocol_lab.checker.engines import engine_here, search_class
from protocol_lab.checker.options import ENGINES, NATIVE, SPARK, takes_options, values_of
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import OUT_OF_MEMORY, SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError, quoted
from protocol_lab.model.constants import limits_of
from protocol_lab.model.layout import names_in
from protocol_lab.model.spec import Model, expect_model
from protocol_lab.reader.dry_run import dry_run
from protocol_lab.symmetry.symmetry_check import check_alike
from protocol_lab.system.process import deferred_interrupts

HIDDEN = "states with equal views were merged, so some successors may be unexplored"
"""Why a search that was completed under a view remains undecided."""


@takes_options(SearchRequest, *ENGINES)
def explore(
    model: Model,
    *,
    engine: str = NATIVE,
    invariants: Iterable[str] | None = None,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Search breadth first for a violated invariant, up to the end or a stated bound.

    Temporal properties and refinements are judged by `check_property`: they need all states with
    the steps between them, which a search does not keep.

    engine: native, python or spark. invariants: names, [] for none, None for the spec's default
    ones. progress: show a progress line. With symmetry or a view, counts are those of the states
    that were searched. Where a sequence or bag is full whose size is a constant declared with
    `storage`, the search begins again with more room (but not in a folder that was named).
    Interrupting returns what is known, as undecided. Raises LabError for bad input, also for an
    option that the engine does not support.
    """
    expect_model(model)
    if engine not in ENGINES:
        raise LabError(f"There is no engine {quoted(engine)}; use one of {', '.join(ENGINES)}.")
    engine = engine_here(engine)
    if invariants is not None:
        invariants = [invariants] if isinstance(invariants, str) else [*invariants]
    said: list[str] = []
    seconds = compiling = 0.0
    with ProgressBar(model.spec.name, shown=progress) as bar:
        while True:
            result = _searched(model, engine, invariants, options, bar)
            seconds += result.seconds
            compiling += result.compile_seconds
            wider = model.widened(result.exceeded)
            if wider is None:
                break
            said.append(_what_was_widened(model, wider, result))
            model = wider
    result.widened, result.seconds, result.compile_seconds = said, seconds, compiling
    if result.exceeded:
        result.undecided_reason = _at_the_most(model, result)
    if options.get("view") and result.exhaustive:
        result.exhaustive = False
        result.undecided_reason = HIDDEN
    return result


def _searched(
    model: Model,
    engine: str,
    names: Iterable[str] | None,
    options: dict[str, Any],
    bar: ProgressBar,
) -> Result:
    """The result of one search, with the storage that the model has."""
    values = values_of(SearchRequest, explore, model, engine, options)
    chosen, chosen_steps = model.choose(names)
    request = SearchRequest(chosen, chosen_steps, **values)
    with deferred_interrupts():  # an interrupt raised in the middle of an import might be swallowed
        search_class = _search_class(engine)
    dry_run(model, chosen + chosen_steps)
    if request.symmetry:
        conditions = [] if request.constraint is None else [request.constraint]
        check_alike(model, chosen + chosen_steps, conditions)
    request.progress, request.compiling = bar.update, bar.compiling
    began = time.perf_counter()
    try:
        with deferred_interrupts():  # the constructor may import Spark
            search = search_class(model, request)
    except KeyboardInterrupt:
        return _nothing_known(model, engine, request, "interrupted while compiling", began)
    except MemoryError:
        return _nothing_known(model, engine, request, OUT_OF_MEMORY, began)
    result = search.run()
    result.symmetry, result.view = request.symmetry, request.view
    return result


def _what_was_widened(model: Model, wider: Model, result: Result) -> str:
    """One line that says which storage was enlarged to what, and after how many states."""
    changed = [
        f"{name}={after}"
        for name, after in wider.constants._asdict().items()
        if after != getattr(model.constants, name)
    ]
    return (
        f"more room was needed after {result.distinct:,} states: the search began again with"
        f" {' '.join(changed)}"
    )


def _at_the_most(model: Model, result: Result) -> str:
    """Why a search is undecided whose storage is full and already has its declared maximum."""
    limits = limits_of(type(model.constants))
    reason = str(result.undecided_reason)
    for name in names_in(result.exceeded):
        if name in limits and limits[name].storage:
            most = f"{limits[name].high} is the maximum of {name}"
            reason = reason.replace(f"raise {result.exceeded}", most)
    return reason


def _nothing_known(
    model: Model, engine: str, request: SearchRequest, reason: str, began: float
) -> Result:
    """The result of a search that ended before it could begin: while it compiled, since `began`."""
    result = Result(model, engine, request.names)
    result.undecided_reason = reason
    result.compile_seconds = time.perf_counter() - began
    result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
    import numpy as np

    result.states, result.parents = np.empty((0, model.words), np.uint64), np.empty(0, np.int64)
    return result


def _search_class(engine: str) -> type:
    """The class of an engine; Spark is imported only where it is used."""
    if engine != SPARK:
        return search_class(engine)
    from protocol_lab.spark.distributed_search import SparkSearch

    return SparkSearch
