"""Checks a refinement: does every step map to a step of the abstract spec, or to none?

All states are explored, and each is mapped by the compiled mapping. That is an action of a spec
whose state is a pair, the concrete and the abstract state, so that it is compiled as all actions
are. That leaves the distinct pairs of abstract states that some step leads through. They are few;
for each, plain Python finds out whether a step of the abstract spec does the same.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from protocol_lab.checker.disagreement import beyond_compiled, defect, repeating
from protocol_lab.checker.options import TEMPORAL, takes_options, values_of
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import OUT_OF_MEMORY, SearchRequest
from protocol_lab.checker.result import Result, Verdict, summary, undecided_lines
from protocol_lab.compiler.kernels import Kernels, SuccessorBuffer, constants_array, expand_some
from protocol_lab.distance.step_graph import OutOfMemory, StepGraph
from protocol_lab.errors import EvaluationError
from protocol_lab.explore import explore
from protocol_lab.liveness.vacuity import NO_STATE
from protocol_lab.model.declarations import Refinement
from protocol_lab.model.evaluation import evaluated
from protocol_lab.model.layout import Struct
from protocol_lab.model.spec import TAKEN, Action, Model, Spec
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import Step, initial_text, step_of, steps_between
from protocol_lab.model.transitions import initial, successors
from protocol_lab.reader.dry_run import read_code
from protocol_lab.reader.layouts_in_code import PairLayout
from protocol_lab.system.memory import allowed_bytes
from protocol_lab.system.process import deferred_interrupts

_ROWS = 1 << 14


@dataclass(repr=False)
class RefinementResult(Result):
    """The outcome of checking a refinement. The counts are those of the exploration behind it.

    abstract: the model that is refined. If violated, `abstract_rows` are what the states of `trace`
    map to, and abstract_steps[k] what its step k maps to: None where it changes nothing there, and
    for the last one, which maps to no step. `inside_constraint`: a constraint cut something off, so
    that "holds" means: for the steps that stay inside.
    """

    claim: str = ""
    abstract: Model | None = None
    abstract_rows: list[bytes] = field(default_factory=list)
    abstract_steps: list[Step | None] = field(default_factory=list)
    abstract_distinct: int = 0
    inside_constraint: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields of `check --json`, and those of a refinement."""
        steps = [each and each.to_json() for each in self.abstract_steps]
        return {
            **super().to_json(),
            "property": self.claim,
            "abstract": self.abstract.spec.name,
            "abstract_distinct": self.abstract_distinct,
            "abstract_steps": steps if self.trace is not None else None,
            "inside_constraint": self.inside_constraint,
        }

    def __repr__(self) -> str:
        head, verdict, *lines = summary(replace(self, trace=None, initial=None)).splitlines()
        if self.verdict == Verdict.HOLDS:
            where = " that stays inside the constraint" if self.inside_constraint else ""
            verdict = f"✓ holds: {self.claim}: every step{where} maps to a step of it, or to none"
        elif self.verdict == Verdict.UNDECIDED:
            [verdict, *_] = undecided_lines(self.model, [self.claim], self.undecided_reason)
        lines.insert(1, f"  {self.abstract_distinct:,} different states of {self.abstract}")
        if self.trace is not None:
            lines.append(f"    1 {self.initial or 'the initial state'}")
            maps = zip(self.trace, self.abstract_steps, strict=True)
            for k, (step, mapped) in enumerate(maps, 2):
                lines.append(f"  {k:3} {step}{f'   = {mapped}' if mapped else ''}")
        return "\n".join([head, verdict, *lines])


@takes_options(SearchRequest, TEMPORAL)
def check_refinement(
    model: Model, claim: Refinement, *, progress: bool = True, **options: Any
) -> RefinementResult:
    """Check a refinement that the spec declares.

    If not all states were seen, a step that maps to none is still a violation; otherwise the
    verdict is undecided. Raises LabError for bad input.
    """
    values = values_of(SearchRequest, check_refinement, model, TEMPORAL, options)
    began = time.perf_counter()
    abstract = claim.abstract(model.constants)
    result = RefinementResult(model, "native", [claim.name])
    result.claim, result.abstract = claim.name, abstract
    memory = values.get("memory_bytes") or allowed_bytes(None)
    pair = _pair(model, claim, abstract)
    read_code(pair, [each.function for each in pair.spec.actions])
    search = _Search(model, claim, abstract, memory, result)
    try:
        with deferred_interrupts() as interrupted:
            stopped = values.get("stopped")
            search.watch = lambda: _stop_if(interrupted() or bool(stopped and stopped()))
            search.run(progress, {**options, "memory_gib": memory / 2**30})
            _judge(search, result)
            if result.exhaustive and not search.starts:
                result.exhaustive, result.undecided_reason = False, NO_STATE
    except (EvaluationError, OutOfMemory, KeyboardInterrupt, MemoryError) as stop:
        result.exhaustive = False
        said = {KeyboardInterrupt: "interrupted", MemoryError: OUT_OF_MEMORY}
        result.undecided_reason = said.get(type(stop)) or str(stop)
    result.seconds = time.perf_counter() - began - result.compile_seconds
    return result


def _stop_if(wanted: bool) -> None:
    if wanted:
        raise KeyboardInterrupt


@dataclass
class _Search:
    """All states of the model, what they map to by compiled code, and the steps between them.

    mapped[k] is the number of a row of `images`; step i leads from sources[i] to targets[i]. States
    stand in the order of the search, the first `starts` being initial; so do the sources.
    """

    model: Model
    claim: Refinement
    abstract: Model
    memory: int
    result: RefinementResult
    states: Any = None
    parents: Any = None
    starts: int = 0
    mapped: Any = None
    images: list[bytes] = field(default_factory=list)
    sources: Any = None
    targets: Any = None
    watch: Callable[[], None] = lambda: None

    def image(self, row: bytes) -> bytes:
        """What a state maps to, by the plain function. Raises EvaluationError."""
        found = bytearray(self.abstract.layout.size)
        states = view(self.model.layout, row), view(self.abstract.layout, found, "abstract state")
        function, constants = self.claim.function, self.model.constants
        evaluated(function, states[0], constants, states[1], spec=self.model.spec.name)
        return bytes(found)

    def path(self, position: int) -> list[int]:
        """The positions of a shortest path to a state."""
        way = [position]
        while self.parents[way[-1]] >= 0:
            way.append(int(self.parents[way[-1]]))
        return way[::-1]

    def run(self, progress: bool, options: dict[str, Any]) -> None:
        result = self.result
        options = {**options, "keep_states": True}
        explored = explore(self.model, invariants=[], progress=progress, **options)
        self.model = result.model = explored.model  # which may have more storage
        for each in ("per_depth", "per_action", "exhaustive", "undecided_reason", "never_reached"):
            setattr(result, each, getattr(explored, each))
        result.compile_seconds = explored.compile_seconds
        self.states, self.parents = explored.states, explored.parents
        self.starts = explored.per_depth[0] if explored.per_depth else 0
        if result.undecided_reason in ("interrupted", "stopped"):
            raise KeyboardInterrupt
        graph = StepGraph(self.model, self.states, [], self.memory)
        with ProgressBar("steps", shown=progress, total=graph.count) as bar:
            graph.fill(lambda done: (bar.count(done), self.watch()))
        self.sources, self.targets = graph.steps()
        result.inside_constraint = len(self.targets) < len(graph.targets)
        if graph.cut.any():
            result.exhaustive, result.undecided_reason = False, graph.cut_reason
        self._map()
        result.compile_seconds += graph.compile_seconds + self._kernels.compile_seconds

    def _map(self) -> None:
        """Map all states, some at a time."""
        pair = _pair(self.model, self.claim, self.abstract)
        self._kernels = Kernels(pair)
        self.expand, self.constants = self._kernels.expand([()]), constants_array(pair)
        words, own = pair.words, self.model.words
        # A state has one image; the compiled loop wants a few more rows to work in.
        buffer = SuccessorBuffer(2 * _ROWS, words, _ROWS)
        numbers: dict[bytes, int] = {}
        self.mapped = np.empty(len(self.states), np.int64)
        for at in range(0, len(self.states), _ROWS):
            self.watch()
            rows = np.zeros((min(_ROWS, len(self.states) - at), words), np.uint64)
            rows[:, :own] = self.states[at : at + len(rows)]
            done, _ = expand_some(
                0, len(rows),
                lambda begin, end, rows=rows: buffer.fill(self, rows, begin, end),
                lambda: buffer.progress,
                lambda: None,
            )  # fmt: skip
            changed = (buffer.out[:done, :own] != rows[:done, :own]).any(axis=1)
            if done < len(rows) or changed.any():
                wrong = at + (int(changed.argmax()) if changed.any() else done)
                row = self.states[wrong].tobytes()
                with repeating():
                    self.image(row)  # raises what is wrong
                if not changed.any():
                    raise beyond_compiled()
                raise defect(self.model, self.result.claim, row)
            found, inverse = np.unique(buffer.out[:done, own:], axis=0, return_inverse=True)
            known = [numbers.setdefault(each.tobytes(), len(numbers)) for each in found]
            self.mapped[at : at + done] = np.array(known, np.int64)[inverse.ravel()]
        self.images = list(numbers)


def _pair(model: Model, claim: Refinement, abstract: Model) -> Model:
    """A model whose state is a pair, and whose one action maps the first part to the second."""

    def map_state(s, c):
        mapping(s.concrete, c, s.abstract)
        return TAKEN

    mapping = claim.function
    parts = {"concrete": model.layout, "abstract": abstract.layout}
    size = model.layout.size
    layout = PairLayout(
        Struct, {"concrete": 0, "abstract": size}, parts, size + abstract.layout.size
    )
    spec = Spec(f"{model.spec.name}, {claim.name}", Struct, model.spec.constants)
    spec.actions.append(Action(map_state, {}))
    return Model(spec, model.constants, layout)


def _judge(search: _Search, result: RefinementResult) -> None:
    """Look for the first state, or the first step, that maps to nothing."""
    abstract, images = search.abstract, search.images
    result.abstract_distinct = len(images)
    beginnings = {each.row for each in initial(abstract)}
    for k in range(search.starts):
        if images[search.mapped[k]] not in beginnings:
            _show(search, result, [k])
            result.violation_reason = (
                f"this initial state maps to no initial state of {abstract.spec.name}:"
                f" {_text(abstract, images[search.mapped[k]])}"
            )
            return
    sources, targets = search.sources, search.targets
    pairs = search.mapped[sources] * len(images) + search.mapped[targets]
    _, first = np.unique(pairs, return_index=True)
    allowed: dict[int, set[bytes]] = {}
    for at in sorted(first):
        search.watch()
        before, after = (int(search.mapped[each[at]]) for each in (sources, targets))
        if before == after:
            continue
        if before not in allowed:
            allowed[before] = {each.row for each in successors(abstract, images[before])}
        if images[after] not in allowed[before]:
            _show(search, result, [*search.path(int(sources[at])), int(targets[at])])
            result.violation_reason = (
                f"no step of {abstract.spec.name} does what the last step does:"
                f" {_differences(abstract, images[before], images[after])}"
            )
            return


def _show(search: _Search, result: RefinementResult, way: list[int]) -> None:
    """Put the path into the result, with what it maps to."""
    model, abstract = search.model, search.abstract
    rows = [search.states[k].tobytes() for k in way]
    result.violated, result.undecided_reason = result.claim, None
    result.trace_rows = rows
    result.initial = initial_text(model, rows[0])
    result.trace = steps_between(model, rows)
    result.abstract_rows = images = [search.image(row) for row in rows]
    if images != [search.images[search.mapped[k]] for k in way]:
        raise defect(model, result.claim, rows[-1])
    result.abstract_steps = [
        _step_between(abstract, before, after) for before, after in pairwise(images)
    ]


def _step_between(abstract: Model, before: bytes, after: bytes) -> Step | None:
    if before == after:
        return None
    found = (each for each in successors(abstract, before) if each.row == after)
    taken = next(found, None)
    return taken and step_of(abstract, before, taken.action, taken.args)


def _text(model: Model, row: bytes) -> str:
    return ", ".join(
        f"{name} {_shown(each)}" for name, each in plain(view(model.layout, row)).items()
    )


def _differences(model: Model, before: bytes, after: bytes) -> str:
    old, new = (plain(view(model.layout, row)) for row in (before, after))
    return ", ".join(f"{n} {_shown(old[n])} → {_shown(new[n])}" for n in new if new[n] != old[n])


def _shown(value: Any) -> str:
    return "{}" if value == set() else str(value)
