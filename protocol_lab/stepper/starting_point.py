"""The session that a stepper starts from: a walk, perhaps of a scenario, challenge or lesson; as
plain values, too, from which it continues.

A page keeps the values with the widget's state. So a walk survives its kernel: in a saved notebook,
after a restart, and when its cell is run again. The steps are taken again, and nothing in the
values is executed, since a notebook may come from anybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from protocol_lab.catalog import bound_model, known_as, load_from_catalog
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import spec_title
from protocol_lab.lessons.lesson_files import Lesson, lesson_named
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.model.constants import as_text, show
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import initial_texts
from protocol_lab.teaching.challenges import Challenge, challenge_named, challenges_of, goal_model
from protocol_lab.traces.scenario_format import Scenario
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from protocol_lab.traces.walk import Walk

OFFERED = 100
"""At most this many initial states are listed to choose from."""


@dataclass
class Session:
    """A walk with its scenario, challenge or lesson. It is kept while the learner opens another
    one. The walk of a lesson is that of its current `part`.

    `watched` names the invariants whose violations count; None: the default ones. `hints` are the
    texts of the challenge's hints that were taken. `starts` are the initial states to choose from,
    if there are several, and `more_starts` says whether there are others, which have to be typed.
    """

    walk: Walk
    scenario: Scenario | None = None
    challenge: Challenge | None = None
    watched: list[str] | None = None
    hints: list[str] = field(default_factory=list)
    lesson: PlayedLesson | None = None
    part: int = 0
    beat: int = 0
    shipped: list[dict[str, str]] = field(init=False)
    about_scenario: dict[str, str] | None = field(init=False)
    starts: list[str] = field(init=False)
    more_starts: bool = field(init=False)

    def __post_init__(self) -> None:
        model = self.walk.model
        self.shipped = [_about(each) for each in shipped_scenarios(known_as(model.spec))]
        self.about_scenario = self.scenario and _about(self.scenario)
        first = list(islice(initial_texts(model), OFFERED + 1))
        self.starts, self.more_starts = first[:OFFERED], len(first) > OFFERED

    @property
    def title(self) -> str:
        """What it is about and how long its walk is, for the button that returns to it."""
        about = self.challenge or self.scenario or (self.lesson and self.lesson.lesson)
        title = about.title if about else spec_title(self.walk.model.spec.name)
        return f"{title}, {len(self.walk.path)} states"

    @cached_property
    def goal(self) -> tuple[Model, list[str]]:
        """The challenge's goal, as a model and an invariant of it that fails where the goal is
        reached."""
        return goal_model(self.challenge, self.walk.model)

    @property
    def watched_names(self) -> list[str]:
        """The invariants whose violations count, by name."""
        return [each.name for group in self.walk.model.choose(self.watched) for each in group]

    def go_to_beat(self, number: int) -> None:
        """To a beat of the lesson, on its own path. Raises LabError if there is no such beat."""
        beats = self.lesson.beats if self.lesson else []
        if not 0 <= number < len(beats):
            raise LabError(f"There is no beat {number + 1} here; there are {len(beats)}.")
        self.beat, self.part = number, beats[number].part
        self.walk = self.lesson.walks[self.part]
        self.walk.switch(next(iter(self.walk.branches)))
        self.walk.go_to(beats[number].moment.depth)


def begin(of: Any, like: Model | None = None) -> Session:
    """The session for a model, a walk, a scenario, an exploration's result, a challenge or a
    lesson.

    The spec's default invariants are watched, and those that the scenario, exploration or challenge
    is about. A scenario that is an attempt at a challenge continues the challenge where its steps
    lead. `like` has the spec of a scenario if that is in no package. Raises LabError.
    """
    if isinstance(of, Scenario) and of.challenge:
        session = begin(challenge_named(of.challenge))
        session.walk = play(of, session.walk.model)
        return session
    if isinstance(of, Lesson):
        played = PlayedLesson(of, like)
        session = Session(played.walks[0], lesson=played)
        session.go_to_beat(0)
        return session
    walk, broken = _begun(of, like)
    session = Session(
        walk,
        scenario=of if isinstance(of, Scenario) else None,
        challenge=of if isinstance(of, Challenge) else None,
    )
    if broken:
        session.watched = list(dict.fromkeys([*session.watched_names, *broken]))
    return session


def _begun(of: Any, like: Model | None) -> tuple[Walk, list[str]]:
    """A walk, and the invariants that it is about besides the default ones."""
    match of:
        case Walk():
            return of, []
        case Model():
            return Walk.begin(of, next(initial_texts(of), None)), []
        case Result():
            return Walk.along(of), [of.violated] if of.violated in of.invariants else []
        case Challenge():
            return of.begin(), [of.breaks] if of.breaks else []
        case Scenario():
            walk = play(of, like)
            walk.first()
            claimed = [line.text for line in of.lines if line.kind == "violates"]
            spec = walk.model.spec
            known = {each.name for each in spec.invariants + spec.step_invariants}
            # The other names are those of temporal properties.
            return walk, [name for name in claimed if name in known]
    raise LabError(
        "A stepper needs a model (spec.bind(...)), a walk, a scenario, a challenge or an"
        f" exploration's result, not {type(of).__name__}."
    )


def _about(scenario: Scenario) -> dict[str, str]:
    return {"name": scenario.name, "title": scenario.title}


def shipped_scenarios(spec_name: str) -> list[Scenario]:
    """The scenarios that come with a spec; none for a spec written in a cell."""
    try:
        return [read_scenario(path) for path in scenarios_of(spec_name)]
    except (ImportError, LabError):
        return []


_WRITTEN_HERE = (
    "This protocol was written, or changed, in this notebook: run the cells above and this one"
    " again, and the stepper offers to go on from where you were."
)


def origin_of(session: Session) -> dict[str, Any]:
    """The origin of a session: with its board's timeline it is enough to restore the session."""
    model, scenario = session.walk.model, session.scenario
    return {
        "spec": known_as(model.spec),
        "constants": {name: as_text(value) for name, value in show(model.constants).items()},
        "init": session.walk.init,
        "in_catalog": _is_in_catalog(session),
        "scenario": scenario and {"name": scenario.name, "description": scenario.description},
        "challenge": session.challenge and session.challenge.name,
        "lesson": session.lesson and session.lesson.lesson.name,
        "part": session.part,
        "watched": session.watched,
    }


def resumed(saved: Mapping[str, Any], like: Model | None = None) -> Session:
    """The session restored from its origin, the board's `timeline`, and the `hints` that were
    taken.

    `like` has the spec of a protocol that is in no package. Raises LabError if the walk can't be
    taken any more.
    """
    try:
        return _resumed(saved, like)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise LabError(
            f"The saved walk can't be read ({type(error).__name__}); begin a new one."
        ) from None


def _resumed(saved: Mapping[str, Any], like: Model | None) -> Session:
    if like is None and not saved["in_catalog"]:
        raise LabError(_WRITTEN_HERE)
    challenge = challenge_named(saved["challenge"]) if saved["challenge"] else None
    named = saved.get("lesson")
    lesson = PlayedLesson(lesson_named(str(named))) if named else None
    if challenge is not None:
        model = challenge.begin().model
    else:
        model = bound_model(saved["spec"], saved["constants"], like)
    walk = Walk.begin(model, saved["init"])
    _lay_branches(walk, saved["timeline"])
    about, watched, part = saved["scenario"], saved["watched"], int(saved.get("part") or 0)
    beat = 0
    if lesson is not None:
        lesson.walks[part] = walk
        beat = lesson.beat_at(part, walk.moment.depth)
    model.choose(watched)  # are they all known?
    return Session(
        walk,
        scenario=about
        and Scenario(about["name"], saved["spec"], saved["constants"], about["description"]),
        challenge=challenge,
        watched=watched,
        lesson=lesson,
        part=part,
        beat=beat,
        hints=[str(each) for each in saved.get("hints") or ()],
    )


def _lay_branches(walk: Walk, timeline: Mapping[str, Any]) -> None:
    """Take all steps of all branches again, and go to the timeline's current state."""
    first, *others = timeline["lanes"]
    walk.branches, walk.branch = {first["name"]: walk.start}, first["name"]
    start, *moments = first["moments"]
    walk.start.caption = start["caption"]
    try:
        _take(walk, moments)
        for lane in others:
            walk.switch(timeline["lanes"][lane["parent"]]["name"])
            walk.go_to(lane["depth"])
            walk.fork(lane["name"])
            _take(walk, lane["moments"])
    except LabError as error:
        raise LabError(f"The protocol has changed since this walk was taken: {error}") from None
    walk.switch(timeline["branch"])
    walk.go_to(int(timeline["depth"]))


def _take(walk: Walk, moments: list[Mapping[str, Any]]) -> None:
    for each in moments:
        walk.take(each["step"], each["caption"]).loops_to = each["loops_to"]


def _is_in_catalog(session: Session) -> bool:
    """Can the session's challenge, or else its spec, be found by its name, unchanged?

    A challenge may have its spec without some actions.
    """
    challenge, spec = session.challenge, session.walk.model.spec
    try:
        if challenge is not None:
            return any(each is challenge for each in challenges_of(challenge.spec_name))
        return load_from_catalog(spec.name) is spec
    except LabError:
        return False
