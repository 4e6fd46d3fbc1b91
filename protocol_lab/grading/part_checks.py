"""Grades one part of a lab: is it safe, does it do its work, and does it go on?

Everything is asked of every reachable state of each trial. A protocol that refuses everything is
safe, so each part also names states that must be reachable, states that must stay reachable from
every state, or temporal properties. The points of a part are given whole or not at all, and
whatever fails is shown by a shortest counterexample.
"""

import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from protocol_lab.checker.result import Result, Verdict
from protocol_lab.drawing.pictures import picture_strip
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import first_line
from protocol_lab.explore import explore
from protocol_lab.grading.assembly import Assembled, assembled
from protocol_lab.grading.frame_conditions import breach
from protocol_lab.grading.labs import Lab, Part
from protocol_lab.grading.submissions import Submission
from protocol_lab.liveness.check import check_property
from protocol_lab.semantics.step_text import initial_text, steps_between
from protocol_lab.semantics.transitions import evaluate, initial, successors
from protocol_lab.spec.constants import show_text
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view
from protocol_lab.traces.scenarios import scenario_text
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
        for constants in lab.parts[number].trials:
            _try(made, lab, lab.parts[number], constants)
    except _Lacking as lacking:
        raise _Lacking(made.in_own_lines(lacking.reason), lacking.found) from None
    except LabError as error:
        raise _Lacking(made.in_own_lines(str(error))) from None


def _try(made: Assembled, lab: Lab, part: Part, constants: dict[str, Any]) -> None:
    """Judge a part in one configuration. Raises _Lacking."""
    goals = (*part.reaches, *part.stays_possible)
    wanted = [each for each in made.spec.sometimes_properties if each.name in goals]
    model = replace(made.spec, sometimes_properties=wanted).bind(**constants)
    size = show_text(model.constants)
    if part.invariants or goals:
        _expect_safe(model, part, size)
        _expect_frames(model, lab, part, size)
    for name in part.properties:
        found = check_property(model, name, progress=False, max_states=MANY)
        if found.verdict == Verdict.VIOLATED:
            doc = next(each.doc for each in made.spec.properties if each.name == name)
            claim = first_line(doc).rstrip(".")
            raise _Lacking(f"with {size} {name} breaks, the claim that {_small(claim)}", found)
        if found.verdict == Verdict.UNDECIDED:
            raise _Lacking(f"with {size} it is undecided: {found.undecided_reason}")


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _expect_safe(model: Model, part: Part, size: str) -> None:
    """Every invariant holds, what must be reachable is, and each function of the part is used."""
    invariants = list(part.invariants)
    options: dict[str, Any] = {"invariants": invariants, "progress": False}
    found = explore(model, engine="python", max_states=FEW, **options)
    if found.verdict == Verdict.UNDECIDED and found.distinct >= FEW:
        found = explore(model, max_states=MANY, **options)
    if found.verdict == Verdict.VIOLATED:
        steps = len(found.trace)
        raise _Lacking(
            f"with {size} {found.violated} breaks after {steps} step{'s' * (steps != 1)}:"
            f" {found.violation_reason}",
            found,
        )
    if found.verdict == Verdict.UNDECIDED:
        raise _Lacking(f"with {size} it is undecided: {found.undecided_reason}")
    for each in model.spec.sometimes_properties:
        if each.name in found.never_reached:
            what = first_line(each.doc).rstrip(".")
            raise _Lacking(f"with {size} nothing breaks, but this never happens: {what}")


def _expect_frames(model: Model, lab: Lab, part: Part, size: str) -> None:
    """No action changes what it must not change, and what must stay possible does."""
    graph = _Graph(model)
    for before, action, args, after in graph.edges(FEW if not part.stays_possible else 10 * FEW):
        if action in lab.changes:
            old, new = (plain(view(model.layout, row)) for row in (before, after))
            path = breach(lab.changes[action], args, old, new)
            if path:
                raise _Lacking(
                    f"with {size} {action} changes {path}, which it must leave alone",
                    graph.way_to(before, after),
                )
    for name in part.stays_possible:
        goal = next(each for each in model.spec.sometimes_properties if each.name == name)
        stuck = graph.first_that_never(goal.function)
        if stuck is not None:
            what = first_line(goal.doc).rstrip(".")
            raise _Lacking(
                f"with {size} there is a state from which this can never happen any more: {what}",
                graph.way_to(stuck),
            )


class _Graph:
    """The states of a model and the steps between them, in breadth-first order."""

    def __init__(self, model: Model):
        self.model = model
        self.parent: dict[bytes, bytes | None] = {}
        self.before: dict[bytes, list[bytes]] = {}

    def edges(self, most: int) -> Iterable[tuple[bytes, str, dict[str, Any], bytes]]:
        """Every step, with the states before and after it, of the first `most` states."""
        frontier: deque[bytes] = deque()
        for start in initial(self.model):
            self._note(start.row, None, frontier)
        while frontier and len(self.parent) <= most:
            row = frontier.popleft()
            for each in successors(self.model, row):
                yield row, each.action.name, each.args, each.row
                self._note(each.row, row, frontier)

    def _note(self, row: bytes, before: bytes | None, frontier: deque[bytes]) -> None:
        if row not in self.parent:
            self.parent[row] = before
            self.before[row] = []
            frontier.append(row)
        if before is not None:
            self.before[row].append(before)

    def first_that_never(self, goal: Any) -> bytes | None:
        """The first state from which no path leads to a state that has a property."""
        can = {row for row in self.parent if not evaluate(self.model, row, goal)}
        todo = list(can)
        while todo:
            for row in self.before[todo.pop()]:
                if row not in can:
                    can.add(row)
                    todo.append(row)
        return next((row for row in self.parent if row not in can), None)

    def way_to(self, row: bytes, after: bytes | None = None) -> Result:
        """A shortest path to a state, and on to the one after it if that is given, as a result."""
        rows = [row]
        while self.parent[rows[-1]] is not None:
            rows.append(self.parent[rows[-1]])
        rows.reverse()
        rows += [] if after is None else [after]
        found = Result(self.model, "python", [])
        found.trace_rows, found.trace = rows, steps_between(self.model, rows)
        found.initial = initial_text(self.model, rows[0])
        return found
