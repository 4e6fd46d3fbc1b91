"""Challenges: the learner plays the adversary, and breaks the protocol in as few steps as possible.

A spec's package lists its challenges in `challenges.py`:

    CHALLENGES = [
        Challenge(
            "lose_a_record",
            "Lose a record",
            "Bring the protocol to a state in which ...",
            spec="package.module",
            constants={"replicas": 2},
            breaks="an_invariant",
            hints=["Look at ...", "Who has not heard of ...?"],
        ),
    ]

Par is the length of a shortest trace; it is searched for when first needed, and a test pins it. The
score is computed from the walk alone: 10 points at par, one less for each further step and for each
hint, and never less than 1. Going back costs nothing: only the steps on the path to the goal count,
and only those of the best branch, since a challenge is for trying things out.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from protocol_lab.catalog import load, spec_names
from protocol_lab.checker.engines import fastest_search
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError, unknown
from protocol_lab.explain.wording import choice_sentence, first_line, words
from protocol_lab.model.constants import show
from protocol_lab.model.spec import HOLDS, Action, Model, Property, Spec
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import chooses_start, find_step
from protocol_lab.quantities import counted
from protocol_lab.teaching.record import note
from protocol_lab.traces.scenario_format import Scenario, split_comment
from protocol_lab.traces.walk import Moment, Walk

FULL_MARKS = 10
"""The points for a solution at par without a hint."""

SEARCHED = 3_000_000
"""How many states a search for a path to the goal looks at before it gives up."""

FORBIDDEN = "this challenge does without it"
"""The reason that a forbidden action gives."""


@dataclass(frozen=True, eq=False)
class Challenge:
    """A goal for the adversary: `breaks` names an invariant (of states or of steps) that must fail,
    or `reach` is a condition (s, c) that must become true.

    `spec` is a name of the catalog, or a spec that was written in a cell. `given` are steps that
    were already taken, one a line, as in a scenario; they do not count. A first line `init(...)`
    chooses one of several initial states. `forbidden` names actions that the adversary can't use.
    Raises LabError unless there is exactly one goal.
    """

    name: str
    title: str
    task: str
    spec: str | Spec
    constants: Mapping[str, Any] = field(default_factory=dict)
    breaks: str = ""
    reach: Callable[..., bool] | None = None
    given: str = ""
    forbidden: Sequence[str] = ()
    hints: Sequence[str] = ()

    def __post_init__(self) -> None:
        if bool(self.breaks) == (self.reach is not None):
            raise LabError(f"The challenge {self.name!r} needs one goal: `breaks` or `reach`.")

    @property
    def spec_name(self) -> str:
        return self.spec if isinstance(self.spec, str) else self.spec.name

    @cached_property
    def model(self) -> Model:
        """The model to step: its forbidden actions always refuse. Raises LabError."""
        spec = load(self.spec) if isinstance(self.spec, str) else self.spec
        if self.forbidden:
            spec = _without(spec, self.forbidden)
        model = spec.bind(**self.constants)
        if self.breaks:
            model.choose([self.breaks])  # is it known?
        return model

    def begin(self) -> Walk:
        """A new walk after the given steps. Raises LabError if one of them can't be taken."""
        steps = [each for each in map(split_comment, self.given.splitlines()) if each[0]]
        starts = [step for step, _ in steps[:1] if chooses_start(self.model, step)]
        walk = Walk.begin(self.model, starts[0] if starts else None)
        for step, caption in steps[len(starts) :]:
            walk.take(step, caption)
        return walk

    @cached_property
    def given_steps(self) -> list[str]:
        """The texts of the steps that were already taken."""
        return [step.text for step in self.begin().steps]

    def is_met(self, walk: Walk, moment: Moment) -> bool:
        """Is the goal reached in this moment of a walk?"""
        if self.reach is not None:
            return bool(self.reach(view(self.model.layout, moment.row), self.model.constants))
        return any(each.name == self.breaks and each.is_broken for each in walk.standings(moment))


def goal_model(challenge: Challenge, model: Model) -> tuple[Model, list[str]]:
    """A model of the same steps with an invariant that fails where the goal is reached, and its
    name."""
    if challenge.breaks:
        return model, [challenge.breaks]
    reach = challenge.reach

    def goal_is_not_reached(s, c):
        return "the goal is reached" if reach(s, c) else HOLDS

    goal = Property(goal_is_not_reached)
    spec = replace(model.spec, invariants=[goal], step_invariants=[], situations=[])
    return spec.bind(**show(model.constants)), [goal.name]


def told_until(scenario: Scenario, slide: int) -> str:
    """The steps of a scenario up to a slide, with captions, as a challenge's `given`."""
    lines = [line for line in scenario.lines if line.kind == "step"]
    told = [line for line in lines if line.slide and int(line.slide.partition("-")[0]) <= slide]
    return "\n".join(f"{line.text}  # {line.caption}" for line in told)


# --- Which there are -------------------------------------------------------------------------


def challenges_of(spec_name: str) -> list[Challenge]:
    """The challenges of a spec, or of all specs of a package ("kafka"), the easiest first."""
    module = f"{spec_name.partition('.')[0]}_spec.challenges"
    try:
        if importlib.util.find_spec(module) is None:
            return []
    except ModuleNotFoundError:
        return []  # the spec was written in a cell
    found = importlib.import_module(module).CHALLENGES
    return [each for each in found if "." not in spec_name or each.spec_name == spec_name]


def next_challenge(challenge: Challenge) -> Challenge | None:
    """The one that follows in its package, which is harder; None after the last, and after one
    that was written in a cell."""
    found = challenges_of(challenge.spec_name.partition(".")[0])
    places = [k for k, each in enumerate(found) if each.name == challenge.name]
    return next((each for k in places for each in found[k + 1 : k + 2]), None)


def challenge_named(name: str) -> Challenge:
    """The challenge with this name. Raises LabError with the known names if there is none."""
    packages = sorted({each.partition(".")[0] for each in spec_names()})
    known = {each.name: each for package in packages for each in challenges_of(package)}
    if name not in known:
        raise unknown("challenge", name, known)
    return known[name]


# --- Ways to the goal ------------------------------------------------------------------------

_shortest: dict[Challenge, Walk] = {}


def shortest(challenge: Challenge, stopped: Callable[[], bool] | None = None) -> Walk | None:
    """A walk along a shortest path to the goal, at its end, the given steps included.

    It is searched for once in a process, within the bounds of the constants. None if the search was
    stopped, or found no path.
    """
    if challenge not in _shortest:
        walk = challenge.begin()
        found = _path_to_goal(challenge, walk.row, stopped)
        if not found.violated:
            return None
        for step in found.trace:
            walk.take(step.text)
        _shortest[challenge] = walk
    return _shortest[challenge]


def remember_shortest(challenge: Challenge, steps: Sequence[str]) -> None:
    """Keep a shortest path after the given steps, which another process has searched for."""
    walk = challenge.begin()
    for step in steps:
        walk.take(step)
    _shortest[challenge] = walk


def par(challenge: Challenge, stopped: Callable[[], bool] | None = None) -> int | None:
    """The fewest steps to the goal; None if the search was stopped, or found no path."""
    walk = shortest(challenge, stopped)
    return None if walk is None else _steps_to(challenge, walk.moment)


def known_par(challenge: Challenge) -> int | None:
    """Par, if it is known already; does not search."""
    return par(challenge) if challenge in _shortest else None


def _path_to_goal(challenge: Challenge, row: bytes, stopped: Callable[[], bool] | None) -> Result:
    """Search for a shortest path from a state to the goal."""
    invariants, steps = challenge.model.choose([challenge.breaks] if challenge.breaks else [])
    request = SearchRequest(
        invariants,
        steps,
        goal=challenge.reach,
        starts=[row],
        max_states=SEARCHED,
        stopped=stopped,
    )
    # Only the stepper can stop it, which has no cell to show a progress line in.
    with ProgressBar(challenge.model.spec.name, shown=stopped is None) as bar:
        request.progress, request.compiling = bar.update, bar.compiling
        return fastest_search()(challenge.model, request).run()


# --- Hints -----------------------------------------------------------------------------------


def next_hint(
    challenge: Challenge,
    walk: Walk,
    hints: Sequence[str],
    stopped: Callable[[], bool] | None = None,
) -> str | None:
    """The hint after those taken so far: the written ones in order, then the next step from here.

    A written hint comes at once; a next step is searched for, which may take a second or two, and
    can be asked for repeatedly. None if the search was stopped. Every hint costs a point.
    """
    if len(hints) < len(challenge.hints):
        return challenge.hints[len(hints)]
    if _goal_on(challenge, walk, walk.moment):
        return "The goal is reached already."
    if not _is_on_course(challenge, walk.moment):
        return "The given steps are not on this branch: go back to where the challenge begins."
    found = _path_to_goal(challenge, walk.row, stopped)
    if found.violated:
        left = counted(len(found.trace), "step")
        return f"On a shortest way from here, {left} long, the next is {found.trace[0]}"
    if found.exhaustive:
        return "The goal can't be reached from here: go back."
    if found.undecided_reason == "stopped":
        return None
    return f"The goal is more than {counted(found.depth - 1, 'step')} away from here: go back."


# --- The score -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """The score of a walk. `steps` are those to the goal, or so far; `par` None: not known yet."""

    steps: int
    hints: int
    solved: bool
    par: int | None

    @property
    def points(self) -> int | None:
        """0 until the goal is reached; then 10 at par, less one a further step or hint, at least 1.

        None as long as par is not known.
        """
        return self.at_most if self.solved else 0

    @property
    def at_most(self) -> int | None:
        """The points if the goal is reached now, or with the next step; None: par is not known."""
        if self.par is None:
            return None
        steps = self.steps if self.solved else self.steps + 1
        return max(1, FULL_MARKS - max(0, steps - self.par) - self.hints)


def score(challenge: Challenge, walk: Walk, hints: int = 0) -> Score:
    """The score of a walk, from its best branch once one has reached the goal. Does not search."""
    goal = _best_goal(challenge, walk)
    steps = _steps_to(challenge, goal or walk.moment)
    return Score(max(0, steps), hints, goal is not None, known_par(challenge))


def progress(challenge: Challenge, walk: Walk, hints: Sequence[str] = ()) -> dict[str, Any]:
    """Everything that is shown about a challenge, as plain values for JSON. Does not search.

    `hints` are the texts of the hints taken so far. Once the goal is reached and par is known,
    `told` are the steps of the learner's best path in words, `shortest` those of a shortest one,
    and `next` is the title of the challenge that follows; the points are then noted in the
    learner's record.
    """
    now = score(challenge, walk, len(hints))
    solved = now.solved and now.par is not None
    if solved:
        note("challenge", challenge.name, now.points)
    written = len(challenge.hints) - len(hints)
    return {
        "name": challenge.name,
        "title": challenge.title,
        "task": challenge.task,
        "goal": _goal(challenge),
        "given": len(challenge.given_steps),
        "steps": now.steps,
        "par": now.par,
        "solved": now.solved,
        "points": now.points,
        "at_most": now.at_most,
        "full_marks": FULL_MARKS,
        "hints": list(hints),
        "next_hint": "a hint" if written > 0 else "the next step from here",
        "told": _told(challenge, _best_goal(challenge, walk)) if solved else None,
        "next": follower.title if solved and (follower := next_challenge(challenge)) else None,
        "shortest": _texts(challenge, shortest(challenge).moment) if solved else None,
    }


def _goal(challenge: Challenge) -> str:
    """The goal in a sentence."""
    if challenge.breaks:
        spec, name = challenge.model.spec, challenge.breaks
        found = next(each for each in spec.invariants + spec.step_invariants if each.name == name)
        return f"Break the promise: “{first_line(found.doc) or words(name)}”"
    meaning = first_line(challenge.reach.__doc__ or "").rstrip(".")
    return f"Reach this: {meaning or words(challenge.reach.__name__)}"


def _best_goal(challenge: Challenge, walk: Walk) -> Moment | None:
    """The moment in which the goal is reached in the fewest steps; None: in none of a walk."""
    found = [_goal_on(challenge, walk, end) for end in walk.branches.values()]
    return min(filter(None, found), key=lambda moment: moment.depth, default=None)


def _told(challenge: Challenge, end: Moment) -> list[str]:
    """The steps of a path in words, as the choices say them."""
    told = []
    for moment in _own_path(challenge, end):
        row = moment.previous.row
        taken = find_step(challenge.model, row, moment.step.text)
        told.append(choice_sentence(challenge.model, row, taken.action, taken.args))
    return told


def _texts(challenge: Challenge, end: Moment) -> list[str]:
    return [moment.step.text for moment in _own_path(challenge, end)]


def _own_path(challenge: Challenge, end: Moment) -> list[Moment]:
    """The path to a moment after the given steps."""
    return end.path()[1 + len(challenge.given_steps) :]


def _goal_on(challenge: Challenge, walk: Walk, end: Moment) -> Moment | None:
    """The first moment on the path to another in which the goal is reached; None: never."""
    own = _own_path(challenge, end) if _is_on_course(challenge, end) else []
    return next((each for each in own if challenge.is_met(walk, each)), None)


def _steps_to(challenge: Challenge, moment: Moment) -> int:
    """The steps to a moment, the given ones not counted."""
    return moment.depth - 1 - len(challenge.given_steps)


def _is_on_course(challenge: Challenge, moment: Moment) -> bool:
    """Does the path to a moment begin with the given steps?"""
    given = challenge.given_steps
    taken = [each.step.text for each in moment.path()[1:]]
    return taken[: len(given)] == given


# --- Actions that the adversary has to do without ----------------------------------------------


def _without(spec: Spec, names: Sequence[str]) -> Spec:
    """The spec with these actions always refusing. Raises LabError for an unknown name."""
    known = [each.name for each in spec.actions]
    for name in names:
        if name not in known:
            raise unknown("action", name, known)
    actions = [_refusing(each) if each.name in names else each for each in spec.actions]
    return replace(spec, actions=actions)


def _refusing(action: Action) -> Action:
    """An action of the same name and parameters that always refuses."""
    parameters = ", ".join(["s", "c", *action.domains])
    source = f"def {action.name}({parameters}):\n    return {FORBIDDEN!r}\n"
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(source, "<challenge>", "exec"), scope)
    function = scope[action.name]
    function.lab_source = source
    function.__doc__ = action.doc
    return Action(function, action.domains)
