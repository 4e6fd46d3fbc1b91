"""The sessions of the pages' steppers: the frames of their paths, and what the page's Python needs
to go on from there."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.catalog import known_as
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.page.engine_files import packed
from protocol_lab.page.kernel import PageStepper
from protocol_lab.page.search_files import Searches
from protocol_lab.spec_files import value_of_cells
from protocol_lab.stepper import panels
from protocol_lab.stepper.stage import Stage
from protocol_lab.stepper.starting_point import Session, origin_of
from protocol_lab.teaching.challenges import shortest


@dataclass
class Sessions:
    """Everything that the steppers of a site load: `frames` are scripts by name, `searches` those
    of the WebAssembly modules, and `places` has the page of each challenge."""

    frames: dict[str, str] = field(default_factory=dict)
    searches: Searches = field(default_factory=Searches)
    places: dict[str, str] = field(default_factory=dict)

    def add(
        self, session: Session, page: str = "index.html", needed: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Add a session of a page; returns what the page needs to know of it, as plain values.

        needed: the cells that make its model, if no package has its spec.
        """
        origin, challenge = origin_of(session), session.challenge
        way = challenge and shortest(challenge)
        steps = way and [each.step.text for each in way.path[1 + len(challenge.given_steps) :]]
        if challenge is not None:
            self.places.setdefault(challenge.name, page)
        name, script = as_script(frames_of(session))
        self.frames[name] = script
        if needed:
            self.searches.add(value_of_cells(needed), cells=list(needed))
        elif not origin["in_catalog"]:
            pass  # the page can't load its spec
        elif challenge is None:
            for walk in session.lesson.walks if session.lesson else [session.walk]:
                self.searches.add(walk.model, spec=origin["spec"])
        else:
            self.searches.add(challenge.model, challenge=challenge.name)
            if session.goal[0] is not session.walk.model:
                self.searches.add(session.goal[0], goal_of=challenge.name)
        return {
            "frames": name,
            "at": session.walk.moment.depth - 1,
            "lesson": session.lesson and _settled(session.lesson),
            "spec": known_as(session.walk.model.spec),
            "challenge": challenge and challenge.name,
            "opens": origin["in_catalog"] or bool(needed),
            "needed": list(needed),
            "shortest": steps,
        }

    def update(self, other: "Sessions") -> None:
        """Add everything of other pages."""
        self.frames |= other.frames
        self.searches.update(other.searches)
        self.places = other.places | self.places


def _settled(lesson: PlayedLesson) -> dict[str, Any]:
    """The lesson as plain values with all answers, since some take a search that a page can't
    do."""
    lesson.settle_all()
    return lesson.values


ROOMS = {
    "wide": (800, 440),
    "low": (824, 335),
    "small": (704, 440),
    "small and low": (704, 335),
    "narrow": (352, 2000),
}
"""The spaces for which pictures are drawn, in pixels: on a page; in a low window, or in one of 720
pixels above the board of a lesson; both also where the window has 1280 pixels and the page's
contents are beside them; and on a phone."""

AUDIENCE = (1228, 990)
"""The space of a lesson's picture in the presenter's view, on a screen of 1920 by 1080 pixels."""


def frames_of(session: Session) -> list[dict[str, Any]]:
    """The stepper's view in each state of the session's branch, or of each part of its lesson, with
    its picture drawn for each of `ROOMS`. The session stands where it did.

    A page walks along them until its Python is there. They are what the page's kernel would show,
    so that nothing changes when it takes over.
    """
    shown: dict[str, Any] = {}
    stepper = PageStepper(session, "", lambda _, part, values: shown.update({part: values}), None)
    walk, here, beat = session.walk, session.walk.moment, session.beat
    frames = []
    for part in range(len(session.lesson.walks) if session.lesson else 1):
        if session.lesson:
            at = next(k for k, each in enumerate(session.lesson.beats) if each.part == part)
            stepper.answer({"command": "beat", "at": at})
        stages = {name: Stage(room) for name, room in ROOMS.items()}
        if session.lesson:
            stages["audience"] = Stage(AUDIENCE, for_audience=True)
        options = {name: panels.Options(stage=stage) for name, stage in stages.items()}
        for depth in range(1, len(session.walk.path) + 1):
            session.walk.go_to(depth)
            stepper.refresh()
            drawn = {name: panels.cluster(session.walk, each) for name, each in options.items()}
            frames.append({**json.loads(shown["view"]), "panel": drawn})
    stepper.close()
    if session.lesson:
        session.go_to_beat(beat)
    walk.moment = here
    return frames


def as_script(frames: list[dict[str, Any]]) -> tuple[str, str]:
    """The name of some frames, which changes with them, and a script that gives them to a page.

    Frames that follow each other are similar: so the values of one part stand side by side.
    """
    columns = {part: [each[part] for each in frames] for part in frames[0]}
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":")).encode()
    name = hashlib.sha256(text).hexdigest()[:12]
    return name, f'labReceive("{name}", "{packed(text)}");\n'
