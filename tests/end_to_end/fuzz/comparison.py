"""Runs one spec on every engine, and says where two answers differ.

The reference engine runs the functions uncompiled, a state at a time; all others are held against
it.
"""

import importlib.util
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from protocol_lab.checker.disagreement import beyond_compiled
from protocol_lab.checker.result import Result
from protocol_lab.distance.step_graph import OutOfMemory, StepGraph
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import evaluate, evaluate_step, initial, levels, successors
from protocol_lab.simulation.simulate import simulate

MAX_STATES = 400
"""Beyond so many states every search of a spec ends as undecided."""

PACKAGE = "fuzz_spec"

COUNTED = (
    "verdict", "violated", "trace_states", "distinct", "generated", "per_depth", "per_action",
    "never_reached", "violating", "stopped",
)  # fmt: skip


@dataclass
class Report:
    """What came of one spec: how many answers were compared, which differed, what it was like."""

    compared: int = 0
    differences: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    states: int = 0

    def same(self, what: str, one: Any, other: Any) -> bool:
        """Count a comparison; a difference is noted."""
        self.compared += 1
        if one != other:
            self.differences.append(f"{what}: {one!r} != {other!r}")
        return one == other


def write_module(text: str, name: str, folder: Path) -> Path:
    """Write a spec as a module of the package PACKAGE, which the folder makes importable."""
    package = folder / PACKAGE
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").touch()
    path = package / f"{name.partition('.')[2]}.py"
    path.write_text(text, encoding="utf-8")
    return path


def load_module(path: Path, name: str) -> Any:
    """The spec of a module that `write_module` wrote, loaded under a name of the package."""
    if str(path.parent.parent) not in sys.path:
        sys.path.insert(0, str(path.parent.parent))
    importlib.invalidate_caches()
    found = importlib.util.spec_from_file_location(f"{PACKAGE}.{name}", path)
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module.spec


def compare(text: str, name: str, family: str, folder: Path, spark: Any = None) -> Report:
    """Compare everything about one spec. spark: a session, to search there as well.

    name: the spec's; family: the module's that it is loaded as. Functions that were compiled for
    one spec of a family are not compiled again for the next.
    """
    report = Report()
    path = write_module(text, name, folder)
    model = load_module(path, path.stem if spark else family).bind()
    _Comparison(model, report).run(spark)
    return report


class _Comparison:
    def __init__(self, model: Model, report: Report):
        self.model, self.spec, self.report = model, model.spec, report

    def run(self, spark: Any) -> None:
        """Compare all answers about the spec."""
        whole = self._question("to the end", to_the_end=True)
        first = self._question("first")
        if first is not None:
            self.report.verdicts[first["verdict"]] += 1
        if whole is None:
            return
        self.report.states = whole["distinct"]
        self._question("deadlock", deadlock=True)
        if whole["distinct"] > 20:
            self._question("bounded", max_states=17)
        self._simulate(whole)
        if whole["stopped"] is None:
            self._states(whole["result"])
        if self.spec.symmetries:
            self._symmetry(whole)
        if spark is not None:
            self._spark(whole, spark)

    # --- One question, asked of all --------------------------------------------------------

    def _question(self, what: str, **options: Any) -> dict[str, Any] | None:
        """Compare the answers to a question; the native one, or None if a function of the spec is
        wrong in itself, or needs more than the 64 bits of compiled code."""
        options.setdefault("max_states", MAX_STATES)
        native, python = (self._explore(each, **options) for each in ("native", "python"))
        if native["stopped"] == str(beyond_compiled()) and python["verdict"] != "error":
            self.report.verdicts["beyond 64 bits"] += 1
            goes_on = native["distinct"] <= python["distinct"]
            self.report.same(f"{what}: plain Python goes on", goes_on, True)
            return None
        self._counts(what, "native", native, python)
        if native["verdict"] == "error":
            self.report.verdicts["error"] += 1
            return None
        rows = [each["result"].trace_rows for each in (native, python) if each["result"]]
        self.report.same(f"{what}: trace of native and python", rows[0], rows[-1])
        self._trace(what, native["result"])
        return native

    def _explore(self, engine: str, **options: Any) -> dict[str, Any]:
        """The outcome on one of the engines."""
        try:
            result = explore(self.model, engine=engine, progress=False, **options)
        except LabError as error:
            return {"verdict": "error", "stopped": str(error), "result": None}
        outcome = {each: getattr(result, each) for each in COUNTED if hasattr(result, each)}
        length = None if result.trace is None else len(result.trace_rows)
        return outcome | {
            "stopped": result.undecided_reason,
            "trace_states": length,
            "result": result,
        }

    def _counts(self, what: str, engine: str, found: dict, python: dict, but: str = "") -> None:
        for each in COUNTED:
            if each != but:
                where = f"{what}: {each} of {engine} and python"
                self.report.same(where, found.get(each), python.get(each))

    def _trace(self, what: str, result: Result) -> None:
        """Is the trace a path of uncompiled steps, to a state that is violated?"""
        if not result.violated:
            return
        rows = list(result.trace_rows)
        ahead = [each.row for each in _that_fit(initial(self.model))]
        for k, row in enumerate(rows):
            if row not in ahead:
                self.report.same(f"{what}: state {k + 1} of the trace", row, "reachable")
                return
            ahead = [each.row for each in _that_fit(successors(self.model, row))]
        invariants = {each.name: each.function for each in self.spec.invariants}
        on_steps = {each.name: each.function for each in self.spec.step_invariants}
        if result.violated in invariants:
            violated = bool(evaluate(self.model, rows[-1], invariants[result.violated]))
        elif result.violated in on_steps:
            violated = bool(evaluate_step(self.model, *rows[-2:], on_steps[result.violated]))
        else:
            violated = not ahead
        self.report.same(f"{what}: {result.violated} at the end of the trace", violated, True)

    # --- The others --------------------------------------------------------------------------

    def _simulate(self, whole: dict[str, Any]) -> None:
        try:
            result = simulate(self.model, walks=40, steps=15, progress=False)
        except LabError as error:
            if whole["verdict"] == "holds":
                self.report.same("simulation", str(error), "no error")
            return
        self._trace("simulation", result)
        if whole["verdict"] == "holds":
            self.report.same("simulation: verdict", result.violated, None)
        if whole["stopped"] is None and not self.spec.constraints:
            seen = result.distinct <= whole["distinct"]
            self.report.same("simulation: no more states than there are", seen, True)

    def _states(self, native: Result) -> None:
        """The native states are those that uncompiled steps lead to, in the same order; the graph
        that the stepper's distances come from has the same states and steps."""
        rows, edges = reached(self.model)
        if self.spec.erase is None:
            found = [each.tobytes() for each in native.states]
            self.report.same("the states of native and python in order", found, rows)
        graph = StepGraph(self.model, native.states, [], 2**30)
        try:
            graph.fill(lambda done: None)
        except (OutOfMemory, LabError) as error:
            self.report.same("graph", str(error), "no error")
            return
        self.report.same("graph: states", graph.count, len(rows))
        pairs = {*zip(*map(np.ndarray.tolist, graph.steps()), strict=True)}
        self.report.same("graph: steps", len(pairs), edges)

    def _symmetry(self, whole: dict[str, Any]) -> None:
        native, python = (
            self._explore(each, symmetry=True, to_the_end=True, max_states=MAX_STATES)
            for each in ("native", "python")
        )
        self._counts("symmetry", "native", native, python)
        if whole["stopped"] is not None:
            return
        if native["verdict"] == "error":
            self.report.verdicts["symmetry refuted"] += 1
        else:
            self.report.verdicts["symmetry used"] += 1
            fewer = native["distinct"] <= whole["distinct"]
            self.report.same("symmetry: no more states than without", fewer, True)
            self.report.same("symmetry: verdict", native["verdict"], whole["verdict"])
            depths = len(native["per_depth"]), len(whole["per_depth"])
            self.report.same("symmetry: depth", *depths)

    def _spark(self, whole: dict[str, Any], session: Any) -> None:
        """Spark finishes the level of a stop, so it is the whole search that is compared."""
        options = {"to_the_end": True, "max_states": MAX_STATES}
        spread = {"session": session, "driver_below": 5, "partitions": 2}
        spark = self._explore("spark", **options, **spread)
        if whole["stopped"] is not None:
            decided = "holds" in (spark["verdict"], whole["verdict"])
            self.report.same("spark: holds", spark["verdict"] == "holds", decided)
            return
        where = {level["where"] for level in spark["result"].levels}
        self.report.verdicts["on spark"] += "spark" in where
        # Of violations of the same depth it may report another one.
        self._counts("spark", "spark", spark, whole, but="violated")
        self._trace("spark", spark["result"])


def reached(model: Model, most: int = MAX_STATES) -> tuple[list[bytes], int]:
    """(the states that uncompiled steps lead to, up to so many; how many steps lead from one of
    them to another one); up to a step that can't be computed."""
    rows, edges = [], 0
    with suppress(EvaluationError):
        for _, row, found in islice(levels(model), most):
            rows.append(row)
            edges += len({each.row for each in found} - {row})
    return rows, edges


def _that_fit(found: Any) -> Any:
    """The initial states, or those that steps lead to, up to one that has no result."""
    with suppress(EvaluationError):
        yield from found
