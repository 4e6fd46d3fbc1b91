"""A session as plain values, and the session that continues from them.

A page keeps the values with the widget's state. So a walk survives its kernel: in a saved notebook,
after a restart, and when its cell is run again. The steps are taken again, and nothing in the
values is executed, since a notebook may come from anybody.
"""

from collections.abc import Mapping
from typing import Any

from protocol_lab.catalog import known_as, load_from_catalog
from protocol_lab.errors import LabError
from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.model.constants import as_text, show
from protocol_lab.model.spec import Model
from protocol_lab.stepper.starting_point import Session
from protocol_lab.teaching.challenges import challenge_named, challenges_of
from protocol_lab.traces.scenarios import Scenario, bound_model
from protocol_lab.traces.walk import Walk

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
