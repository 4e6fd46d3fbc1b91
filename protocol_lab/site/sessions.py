"""The sessions of the pages' steppers: the frames of their paths, and what the page's Python needs
to go on from there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.catalog import known_as
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.page.search_files import Searches
from protocol_lab.site.frames import as_script, frames_of
from protocol_lab.spec_files import value_of_cells
from protocol_lab.stepper.resumption import origin_of
from protocol_lab.stepper.starting_point import Session
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
