"""Grades one part of a lab: is it safe, does it do its work, and does it go on?

Everything is asked of every reachable state of each trial. A protocol that refuses everything is
safe, so each part also names states that must be reachable, states that must stay reachable from
every state, or temporal properties. The points of a part are given whole or not at all, and
whatever fails is shown by a shortest counterexample.
"""

import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from protocol_lab.checker.result import Result, Verdict
from protocol_lab.distance.step_graph import OutOfMemory
from protocol_lab.drawing.pictures import picture_strip
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import first_line
from protocol_lab.explore import explore
from protocol_lab.grading.assembly import assembled
from protocol_lab.grading.labs import Lab, Part
from protocol_lab.grading.submissions import Submission
from protocol_lab.grading.trial_graph import TrialGraph, compiled_graph, plain_graph
from protocol_lab.liveness.check import check_property
from protocol_lab.model.constants import show_text
from protocol_lab.model.spec import Model, Spec
from protocol_lab.traces.scenario_format import scenario_text
from protocol_lab.traces.walk import Walk

FEW = 3_000
"""Up to this many states are explored in plain Python; beyond, the functions are compiled."""

MANY = 1_000_000
"""The most states that a trial may have: ours have a few thousand."""


@dataclass
class PartGrade:
    """The grade of one part: points, the reason if they are not all, and a counterexample."""

    part: str
    points: int
    out_of: int
    reason: str = ""
    seconds: float = 0.0
    steps: list[str] = field(default_factory=list)
    scenario: str = ""
    picture: str = ""

    def to_json(self) -> dict[str, Any]:
        """The grade as the worker sends it."""
        return asdict(self)


class _Lacking(Exception):
    """A part does not get its points; `found` has a counterexample, if there is one."""

    def __init__(self, reason: str, found: Result | None = None):
        super().__init__(reason)
        self.reason, self.found = reason, found


def grade_part(lab: Lab, number: int, submission: Submission, folder: Path) -> PartGrade:
    """Grade the part of this number, from 0, with the functions of the parts up to it.

    folder: an empty one, for the assembled file.
    """
    part, began = lab.parts[number], time.perf_counter()
    grade = PartGrade(part.name, 0, part.points)
    try:
        _judge(lab, number, submission, folder)
        grade.points = part.points
    except _Lacking as lacking:
        grade.reason = lacking.reason
        if lacking.found is not None and lacking.found.trace_rows:
            _show(grade, lacking.found)
    except LabError as error:
        grade.reason = str(error)
    except MemoryError:
        grade.reason = "it ran out of memory"
    grade.seconds = round(time.perf_counter() - began, 2)
    return grade


def _show(grade: PartGrade, found: Result) -> None:
    """Tell and draw a counterexample."""
    walk = Walk.along(found)
    grade.steps = [step.text for step in found.trace]
    grade.scenario = scenario_text(found)
    with suppress(LabError):  # the lab's drawing fails in a state that only this submission has
        grade.picture = picture_strip(walk)


def _judge(lab: Lab, number: int, submission: Submission, folder: Path) -> None:
    """Raises _Lacking and LabError."""
    if submission.unreadable:
        raise _Lacking(submission.unreadable)
    names = [name for part in lab.parts[: number + 1] for name in part.writes]
    for name in names:
        if name in submission.refusals:
            raise _Lacking(submission.refusals[name])
        if name not in submission.functions:
            raise _Lacking(f"{name} is missing")
    made = assembled(lab, submission, names, folder)
    try:
        spec = made.load(lab)
        for constants in lab.parts[number].trials:
            _try(spec, lab, number, constants)
    except _Lacking as lacking:
        raise _Lacking(made.in_own_lines(lacking.reason), lacking.found) from None
    except LabError as error:
        raise _Lacking(made.in_own_lines(str(error))) from None
    except Exception as error:  # the grader's own, see `worker`
        error.args = tuple(made.in_own_lines(str(each)) for each in error.args)
        raise


def _try(spec: Spec, lab: Lab, number: int, constants: dict[str, Any]) -> None:
    """Judge a part in one configuration. Raises _Lacking."""
    part = lab.parts[number]
    goals = (*part.reaches, *part.stays_possible)
    wanted = [each for each in spec.expected if each.name in goals]
    model = replace(spec, situations=wanted).bind(**constants)
    size = show_text(model.constants)
    try:
        graph = _expect_safe(model, lab, lab.invariants_of(number), size)
        _expect_frames(graph, lab, part, size)
    except OutOfMemory as reason:
        raise _Lacking(f"with {size} it is undecided: {reason}") from None
    for name in part.properties:
        found = check_property(model, name, progress=False, max_states=MANY)
        if found.verdict == Verdict.VIOLATED:
            doc = next(each.doc for each in spec.properties if each.name == name)
            claim = first_line(doc).rstrip(".")
            claim = claim[:1].lower() + claim[1:]
            raise _Lacking(f"with {size} {name} breaks, the claim that {claim}", found)
        if found.verdict == Verdict.UNDECIDED:
            raise _Lacking(f"with {size} it is undecided: {found.undecided_reason}")


def _expect_safe(model: Model, lab: Lab, invariants: list[str], size: str) -> TrialGraph:
    """Every invariant holds, and what must be reachable is; returns all states and steps."""
    options: dict[str, Any] = {"invariants": invariants, "progress": False}
    found = explore(model, engine="python", max_states=FEW, **options)
    is_small = found.verdict != Verdict.UNDECIDED or found.distinct < FEW
    if not is_small:
        found = explore(model, max_states=MANY, keep_states=True, **options)
    if found.verdict == Verdict.VIOLATED:
        steps = len(found.trace)
        raise _Lacking(
            f"with {size} {found.violated} breaks after {steps} step{'s' * (steps != 1)}:"
            f" {found.violation_reason}",
            found,
        )
    if found.verdict == Verdict.UNDECIDED:
        raise _Lacking(f"with {size} it is undecided: {found.undecided_reason}")
    for each in model.spec.expected:
        if each.name in found.never_reached:
            what = first_line(each.doc).rstrip(".")
            raise _Lacking(f"with {size} nothing breaks, but this never happens: {what}")
    if is_small:
        return plain_graph(found.model, lab.changes)
    return compiled_graph(found, lab.changes)


def _expect_frames(graph: TrialGraph, lab: Lab, part: Part, size: str) -> None:
    """No action changes what it must not change, and what must stay possible does."""
    if (breach := graph.breach(lab.changes)) is not None:
        action, path, way = breach
        raise _Lacking(f"with {size} {action} changes {path}, which it must leave alone", way)
    for name in part.stays_possible:
        goal = next(each for each in graph.model.spec.expected if each.name == name)
        way = graph.first_that_never(goal)
        if way is not None:
            what = first_line(goal.doc).rstrip(".")
            raise _Lacking(
                f"with {size} there is a state from which this can never happen any more: {what}",
                way,
            )
