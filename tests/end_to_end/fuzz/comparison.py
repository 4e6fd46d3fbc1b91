"""Runs one spec through everything that can run it, and says where two answers differ."""

import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.result import Result
from protocol_lab.distance.successor_graph import Graph, GraphFull
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.simulation.simulate import simulate
from protocol_lab.spec.spec import Model
from tests.end_to_end.fuzz import plain_kit
from tests.end_to_end.fuzz.breadth_first import Asked, Found, Stopped, search
from tests.end_to_end.fuzz.runs import run_graph
from tests.end_to_end.fuzz.systems import Plain, Stepping, key_of_row

MAX_STATES = 400
"""Beyond so many states every search of a spec ends as undecided."""

SYMMETRIC_STATES = 150
"""Of so many states all renamings are tried by hand."""

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
    _Comparison(model, plain_kit.load(text), report).run(spark)
    return report


class _Comparison:
    def __init__(self, model: Model, plain: plain_kit.PlainModel, report: Report):
        self.model, self.plain, self.report = model, plain, report
        self.systems = {"plain": Plain(plain), "stepping": Stepping(model)}

    def run(self, spark: Any) -> None:
        """Compare all answers about the spec."""
        if self._has_no_start():
            for engine in ("native", "python"):
                told = self._explore(engine)["stopped"] or ""
                self.report.same(f"{engine} without a state", "no initial state" in told, True)
            return
        whole = self._question("to the end", to_the_end=True)
        first = self._question("first", step_by_step=bool(whole and whole.violated))
        if first is not None:
            self.report.verdicts[first.verdict] += 1
        if whole is None:
            return
        self.report.states = sum(whole.per_depth)
        self._question("deadlock", deadlock=True)
        if sum(whole.per_depth) > 20:
            self._question("bounded", max_states=17)
        self._simulate(whole)
        self._graph(whole)
        if self.model.spec.symmetries:
            self._symmetry(whole)
        for fairness in ("none", "next") if self.plain.spec.properties else ():
            self._runs(whole, fairness)
        if spark is not None:
            self._spark(whole, spark)

    def _has_no_start(self) -> bool:
        try:
            return next(self.plain.starts(), None) is None
        except (plain_kit.Undecided, plain_kit.Fault):
            return False

    # --- One question, asked of all --------------------------------------------------------

    def _question(self, what: str, step_by_step: bool = False, **options: Any) -> Found | None:
        """Compare the answers to a question; None if a function of the spec is wrong in itself."""
        options.setdefault("max_states", MAX_STATES)
        asked = _asked(self.plain.spec, **options)
        found, plain = self._walk("plain", asked)
        native, python = (self._explore(each, **options) for each in ("native", "python"))
        self._counts(what, "native", native, "python", python)
        if "error" in (native["verdict"], plain["verdict"]):
            self._errors(what, native, plain)
            return None
        self._counts(what, "native", native, "plain", plain, but="stopped")
        if what == "to the end" or step_by_step:
            _, walked = self._walk("stepping", asked)
            self._counts(what, "python", python, "stepping", walked)
        self._states(what, native["result"], found)
        rows = [each["result"].trace_rows for each in (native, python)]
        self.report.same(f"{what}: trace of native and python", *rows)
        self._trace(what, native["result"])
        return found

    def _walk(self, system: str, asked: Asked) -> tuple[Found | None, dict[str, Any]]:
        """What the walk over one of the systems finds, and that as an outcome."""
        try:
            found = search(self.systems[system], asked)
        except (plain_kit.Fault, LabError) as error:
            return None, {"verdict": "error", "stopped": str(error)}
        return found, _outcome_of(found)

    def _errors(self, what: str, native: dict[str, Any], plain: dict[str, Any]) -> None:
        """A function that is wrong in itself is told by all who meet it.

        The kit may meet it where a walk stops before: in its dry run, which goes on after a
        violation and outside the constraints.
        """
        if native["verdict"] == "error" and plain["verdict"] != "error":
            beyond = Asked([], [], [], [], max_states=MAX_STATES)
            for kind, names in vars(_asked(self.plain.spec, to_the_end=True)).items():
                if kind in ("invariants", "step_invariants", "sometimes"):
                    setattr(beyond, kind, names)
            beyond.to_the_end = True
            _, plain = self._walk("plain", beyond)
        self.report.verdicts["error"] += 1
        self.report.same(f"{what}: error", native["verdict"], plain["verdict"])

    def _explore(self, engine: str, **options: Any) -> dict[str, Any]:
        """The outcome on one of the kit's engines."""
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

    def _counts(self, what: str, one: str, left: dict, other: str, right: dict, but: str = ""):
        for each in COUNTED:
            if each != but:
                self.report.same(
                    f"{what}: {each} of {one} and {other}", left.get(each), right.get(each)
                )

    def _states(self, what: str, native: Result, found: Found) -> None:
        keys = [key_of_row(self.model, row.tobytes()) for row in native.states]
        self.report.same(f"{what}: the states of native and plain in order", keys, found.order)

    def _trace(self, what: str, result: Result) -> None:
        """Is the trace a path of the second implementation, to a state that is violated?"""
        if not result.violated:
            return
        keys = [key_of_row(self.model, row) for row in result.trace_rows]
        plain, states = self.systems["plain"], []
        ahead = {plain.key(each): each for each in _that_fit(self.plain.starts())}
        for key in keys:
            if key not in ahead:
                self.report.same(f"{what}: state {len(states) + 1} of the trace", key, "reachable")
                return
            states.append(ahead[key])
            ahead = {plain.key(each): each for each in _that_fit(self.plain.steps(states[-1]))}
        if result.violated in self.plain.spec.invariants:
            violated = not plain.holds("invariants", result.violated, states[-1])
        elif result.violated in self.plain.spec.step_invariants:
            violated = not plain.holds("step_invariants", result.violated, *states[-2:])
        else:
            violated = not list(self.plain.steps(states[-1]))
        self.report.same(f"{what}: {result.violated} at the end of the trace", violated, True)

    # --- The others --------------------------------------------------------------------------

    def _simulate(self, whole: Found) -> None:
        try:
            result = simulate(self.model, walks=40, steps=15, progress=False)
        except LabError as error:
            if whole.verdict == "holds":
                self.report.same("simulation", str(error), "no error")
            return
        self._trace("simulation", result)
        if whole.verdict == "holds":
            self.report.same("simulation: verdict", result.violated, None)
        if whole.stopped is None and not self.plain.spec.constraints:
            seen = result.distinct <= sum(whole.per_depth)
            self.report.same("simulation: no more states than there are", seen, True)

    def _graph(self, whole: Found) -> None:
        """The graph that the stepper's distances come from has the same states and steps."""
        if whole.stopped is not None:
            return
        spec = self.model.spec
        graph = Graph(
            CompiledModel(self.model, spec.invariants, spec.step_invariants), 10**6, 2**30
        )
        try:
            graph.enter(list(self.systems["stepping"].starts()))
            done = 0
            while done < graph.stored:
                end = min(graph.stored, done + 256)
                graph.expand(_positions(done, end))
                done = end
        except (GraphFull, LabError) as error:
            self.report.same("graph", str(error), "no error")
            return
        self.report.same("graph: states", graph.stored, sum(whole.per_depth))
        self.report.same("graph: steps", graph.used, whole.edges)

    def _symmetry(self, whole: Found) -> None:
        native, python = (
            self._explore(each, symmetry=True, to_the_end=True, max_states=MAX_STATES)
            for each in ("native", "python")
        )
        self._counts("symmetry", "native", native, "python", python)
        if whole.stopped is not None or sum(whole.per_depth) > SYMMETRIC_STATES:
            return
        told_apart = next(self._told_apart(), None)
        if native["verdict"] == "error":
            self.report.verdicts["symmetry refuted"] += 1
            self.report.same("symmetry: is refuted, and is wrong", told_apart is None, False)
        elif told_apart is None:
            self.report.verdicts["symmetry used"] += 1
            renamings = list(self.plain.renamings())
            orbits = {
                min(repr(self.plain.shown(self.plain.renamed(e, n))) for n in renamings)
                for e in self._reachable()
            }
            self.report.same("symmetry: distinct and orbits", native["distinct"], len(orbits))
            self.report.same("symmetry: verdict", native["verdict"], whole.verdict)
            self.report.same("symmetry: depth", len(native["per_depth"]), len(whole.per_depth))
        else:
            self.report.same("symmetry: a wrong claim is noticed", told_apart, None)

    def _runs(self, whole: Found, fairness: str) -> None:
        """The temporal property, where a run may stop anywhere or at its end only."""
        if whole.stopped is not None:
            return
        try:
            result = check_property(self.model, "claim", fairness=fairness, progress=False)
        except LabError as error:
            self.report.same(f"runs, fairness {fairness}", str(error), "no error")
            return
        plain = self.systems["plain"]
        graph, states = run_graph(plain, self._is_inside, fairness == "none")
        formula = self.plain.spec.properties["claim"]()
        true = [
            {key for key, state in states.items() if each(state, self.plain.c)}
            for each in formula.predicates
        ]
        broken = graph.breaks(formula.operator, true[0], true[-1])
        self.report.verdicts["runs broken" if broken else "runs hold"] += 1
        some_run = graph.breaks("always eventually", set(), set())
        expected = "violated" if broken else "holds" if some_run else "undecided"
        self.report.same(f"runs, fairness {fairness}: {formula.operator}", result.verdict, expected)
        moot = formula.operator == "leads to" and not graph.breaks("leads to", true[0], set())
        self.report.same("runs: vacuous", result.vacuous, expected == "holds" and moot)
        self.report.same("runs: steps", result.steps, graph.labelled)

    def _spark(self, whole: Found, session: Any) -> None:
        """Spark finishes the level of a stop, so it is the whole search that is compared."""
        options = {"to_the_end": True, "max_states": MAX_STATES}
        spread = {"session": session, "driver_below": 5, "partitions": 2}
        spark = self._explore("spark", **options, **spread)
        if whole.stopped is not None:
            decided = "holds" in (spark["verdict"], whole.verdict)
            self.report.same("spark: holds", spark["verdict"] == "holds", decided)
            return
        where = {level["where"] for level in spark["result"].levels}
        self.report.verdicts["on spark"] += "spark" in where
        # Of violations of the same depth it may report another one.
        self._counts("spark", "spark", spark, "plain", _outcome_of(whole), but="violated")
        self._trace("spark", spark["result"])

    def _reachable(self) -> list[plain_kit.Parts]:
        plain = self.systems["plain"]
        _, states = run_graph(plain, self._is_inside, may_stop_anywhere=True)
        return list(states.values())

    def _is_inside(self, state: plain_kit.Parts) -> bool:
        plain, names = self.systems["plain"], self.plain.spec.constraints
        return all(plain.holds("constraints", name, state) for name in names)

    def _told_apart(self) -> Iterator[str]:
        """Where exchanging two nodes makes a difference, tried on all states and steps."""
        plain, model = self.systems["plain"], self.plain
        starts = list(plain.starts())
        reachable = [_Answers(self._says, plain, each) for each in self._reachable()]
        known = {plain.key(each.state): each for each in reachable}
        for names in model.exchanges():
            renamed = [model.renamed(each, names) for each in starts]
            if {*map(plain.key, renamed)} != {*map(plain.key, starts)}:
                yield f"the initial states, {names}"
            for one in reachable:
                state = model.renamed(one.state, names)
                other = known.setdefault(plain.key(state), _Answers(self._says, plain, state))
                for name, here in one.properties.items():
                    if here != other.properties[name]:
                        yield f"{name}, {names}"
                expected = Counter(
                    (a, plain.key(model.renamed(each, names)), w) for a, each, w in one.steps
                )
                if expected != Counter((a, plain.key(each), w) for a, each, w in other.steps):
                    yield f"steps, {names}"
                for name in model.spec.step_invariants:
                    for _, after, _ in one.steps:
                        here = self._says("step_invariants", name, one.state, after)
                        after = model.renamed(after, names)
                        if here != self._says("step_invariants", name, other.state, after):
                            yield f"{name}, {names}"

    def _says(self, kind: str, name: str, *states: plain_kit.Parts) -> bool | None:
        """What a property says; None where it has no value, as a sometimes property may that no
        search evaluates there, since it was reached before."""
        try:
            return self.systems["plain"].holds(kind, name, *states)
        except Stopped:
            return None


@dataclass
class _Answers:
    """What is asked of a state once, however many others it is compared with."""

    says: Callable[..., bool | None]
    plain: Plain
    state: plain_kit.Parts

    @cached_property
    def properties(self) -> dict[str, bool | None]:
        """The value of each property of states."""
        spec = self.plain.model.spec
        return {
            name: self.says(kind, name, self.state)
            for kind in ("invariants", "sometimes_properties", "constraints")
            for name in getattr(spec, kind)
        }

    @cached_property
    def steps(self) -> list[tuple[str, plain_kit.Parts, int]]:
        """The steps from it."""
        return list(self.plain.steps(self.state))


def _positions(begin: int, end: int) -> Any:
    import numpy as np

    return np.arange(begin, end)


def _asked(spec: plain_kit.Spec, **options: Any) -> Asked:
    return Asked(
        list(spec.invariants),
        list(spec.step_invariants),
        list(spec.sometimes_properties),
        list(spec.constraints),
        **options,
    )


def _outcome_of(found: Found) -> dict[str, Any]:
    counts = {each: getattr(found, each) for each in COUNTED if hasattr(found, each)}
    return counts | {
        "distinct": sum(found.per_depth),
        "generated": sum(found.per_action.values()),
    }


def _that_fit(found: Iterator[tuple[Any, plain_kit.Parts, Any]]) -> Iterator[plain_kit.Parts]:
    """The initial states, or those that steps lead to, up to one that has no result."""
    with suppress(plain_kit.Undecided, plain_kit.Fault):
        for _, state, _ in found:
            yield state
