"""Checks a refinement: does every step map to a step of the abstract spec, or to none?

All states are explored, and each is mapped by the compiled mapping. That is an action of a spec
whose state is a pair, the concrete and the abstract state, so that it is compiled as all actions
are. That leaves the distinct pairs of abstract states that some step leads through. They are few;
for each, plain Python finds out whether a step of the abstract spec does the same.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from protocol_lab.checker.disagreement import beyond_compiled, defect, repeating
from protocol_lab.checker.result import Result, Verdict, summary, trace_lines, undecided_lines
from protocol_lab.compiler.kernels import Kernels, SuccessorBuffer, constants_array, expand_some
from protocol_lab.liveness.lassos import path_back
from protocol_lab.liveness.liveness_result import PropertyResult
from protocol_lab.liveness.property_check import PropertyCheck
from protocol_lab.model.declarations import Refinement
from protocol_lab.model.evaluation import evaluated
from protocol_lab.model.layout import Struct
from protocol_lab.model.spec import TAKEN, Action, Model, Spec
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import Step, initial_text, step_of, steps_between
from protocol_lab.model.transitions import initial, successors
from protocol_lab.reader.dry_run import read_code
from protocol_lab.reader.layouts_in_code import PairLayout

_ROWS = 1 << 14


@dataclass(repr=False)
class RefinementResult(PropertyResult):
    """The outcome of checking a refinement.

    abstract: the model that is refined. If violated, `abstract_rows` are what the states of `trace`
    map to, and abstract_steps[k] what its step k maps to: None where it changes nothing there, and
    for the last one, which maps to no step.
    """

    abstract: Model | None = None
    abstract_rows: list[bytes] = field(default_factory=list)
    abstract_steps: list[Step | None] = field(default_factory=list)
    abstract_distinct: int = 0

    def to_json(self) -> dict[str, Any]:
        """The fields of `check --json`, and those of a refinement."""
        steps = [each and each.to_json() for each in self.abstract_steps]
        return {
            **super().to_json(),
            "abstract": self.abstract.spec.name,
            "abstract_distinct": self.abstract_distinct,
            "abstract_steps": steps if self.trace is not None else None,
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
            maps = zip(self.trace, self.abstract_steps, strict=True)
            steps = [f"{step}   = {mapped}" if mapped else step for step, mapped in maps]
            lines += trace_lines(self.initial or "the initial state", steps)
        return "\n".join([head, verdict, *lines])


class RefinementCheck(PropertyCheck):
    """The check of a refinement that a spec declares.

    mapped[k] is the number of a row of `images`, what state k maps to by compiled code. If not all
    states were seen, a step that maps to none is still a violation.
    """

    result: RefinementResult

    def __init__(self, model: Model, claim: Refinement):
        self.claim, self.abstract = claim, claim.abstract(model.constants)
        pair = _pair(model, claim, self.abstract)
        read_code(pair, [each.function for each in pair.spec.actions])

    def result_of(self, explored: Result) -> RefinementResult:
        """The result, with nothing judged yet."""
        name = self.claim.name
        return RefinementResult.of(explored, name, [name], abstract=self.abstract)

    def image(self, row: bytes) -> bytes:
        """What a state maps to, by the plain function. Raises EvaluationError."""
        found = bytearray(self.abstract.layout.size)
        states = view(self.model.layout, row), view(self.abstract.layout, found, "abstract state")
        function, constants = self.claim.function, self.model.constants
        evaluated(function, states[0], constants, states[1], spec=self.model.spec.name)
        return bytes(found)

    def _map(self) -> None:
        """Map all states, some at a time."""
        pair, states = _pair(self.model, self.claim, self.abstract), self.explored.states
        kernels = Kernels(pair)
        self.expand, self.constants = kernels.expand([()]), constants_array(pair)
        words, own = pair.words, self.model.words
        # A state has one image; the compiled loop wants a few more rows to work in.
        buffer = SuccessorBuffer(2 * _ROWS, words, _ROWS)
        numbers: dict[bytes, int] = {}
        self.mapped = np.empty(len(states), np.int64)
        for at in range(0, len(states), _ROWS):
            self.watch()
            rows = np.zeros((min(_ROWS, len(states) - at), words), np.uint64)
            rows[:, :own] = states[at : at + len(rows)]
            done, _ = expand_some(
                0, len(rows),
                lambda begin, end, rows=rows: buffer.fill(self, rows, begin, end),
                lambda: buffer.progress,
                lambda: None,
            )  # fmt: skip
            changed = (buffer.out[:done, :own] != rows[:done, :own]).any(axis=1)
            if done < len(rows) or changed.any():
                wrong = at + (int(changed.argmax()) if changed.any() else done)
                row = states[wrong].tobytes()
                with repeating():
                    self.image(row)  # raises what is wrong
                if not changed.any():
                    raise beyond_compiled()
                raise defect(self.model, self.result.claim, row)
            found, inverse = np.unique(buffer.out[:done, own:], axis=0, return_inverse=True)
            known = [numbers.setdefault(each.tobytes(), len(numbers)) for each in found]
            self.mapped[at : at + done] = np.array(known, np.int64)[inverse.ravel()]
        self.images = list(numbers)
        self.result.compile_seconds += kernels.compile_seconds

    def judge(self) -> None:
        """Look for the first state, or the first step, that maps to nothing."""
        self._map()
        abstract, images, mapped = self.abstract, self.images, self.mapped
        self.result.abstract_distinct = len(images)
        beginnings = {each.row for each in initial(abstract)}
        for k in range(self.explored.per_depth[0]):
            if images[mapped[k]] not in beginnings:
                self._show([k])
                self.result.violation_reason = (
                    f"this initial state maps to no initial state of {abstract.spec.name}:"
                    f" {_text(abstract, images[mapped[k]])}"
                )
                return
        sources, targets = self.graph.steps()
        pairs = mapped[sources] * len(images) + mapped[targets]
        _, first = np.unique(pairs, return_index=True)
        allowed: dict[int, set[bytes]] = {}
        for at in sorted(first):
            self.watch()
            before, after = (int(mapped[each[at]]) for each in (sources, targets))
            if before == after:
                continue
            if before not in allowed:
                allowed[before] = {each.row for each in successors(abstract, images[before])}
            if images[after] not in allowed[before]:
                way = path_back(int(sources[at]), self.explored.parents)[::-1]
                self._show([*way, int(targets[at])])
                self.result.violation_reason = (
                    f"no step of {abstract.spec.name} does what the last step does:"
                    f" {_differences(abstract, images[before], images[after])}"
                )
                return

    def _show(self, way: list[int]) -> None:
        """Put the path into the result, with what it maps to."""
        model, result = self.model, self.result
        rows = [self.explored.states[k].tobytes() for k in way]
        result.violated, result.undecided_reason = result.claim, None
        result.trace_rows = rows
        result.initial = initial_text(model, rows[0])
        result.trace = steps_between(model, rows)
        result.abstract_rows = images = [self.image(row) for row in rows]
        if images != [self.images[self.mapped[k]] for k in way]:
            raise defect(model, result.claim, rows[-1])
        result.abstract_steps = [
            _step_between(self.abstract, before, after) for before, after in pairwise(images)
        ]


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
