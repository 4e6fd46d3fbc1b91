"""The session of a page's stepper, as plain values: its walk, and the scenario or challenge.

A session names its recording, which it shares with all steppers of the same model.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.catalog import known_as
from protocol_lab.explain.wording import words
from protocol_lab.language.source_code import source_lines
from protocol_lab.site.recording import Aim, Recorder
from protocol_lab.spec.constants import show_text
from protocol_lab.spec.spec import Model
from protocol_lab.stepper.starting_point import Session, shipped_scenarios
from protocol_lab.stepper.widget import about_scenario
from protocol_lab.teaching.challenges import progress, shortest
from protocol_lab.traces.scenarios import Scenario, play
from protocol_lab.traces.walk import Moment, Walk


@dataclass
class Recordings:
    """The models in the steppers of a site, each with everything that its recording must
    contain."""

    _recorders: dict[str, Recorder] = field(default_factory=dict)
    _shipped: dict[str, list[tuple[Scenario, Walk]]] = field(default_factory=dict)

    def add(self, session: Session, weight: int = 1) -> dict[str, Any]:
        """Add a session's model and path to the recordings; returns what the page needs to know of
        it."""
        walk = session.walk
        name = name_of(walk.model)
        if name not in self._recorders:
            self._recorders[name] = Recorder(walk.model)
            self._offer_scenarios(name)
        recorder = self._recorders[name]
        recorder.paths.append(walk)
        recorder.weight = max(recorder.weight, weight)
        aim = _aim_of(session)
        if aim.key not in [each.key for each in recorder.aims]:
            recorder.aims.append(aim)
        return {
            "recording": name,
            "about": f"{known_as(walk.model.spec)} {show_text(walk.model.constants)}",
            "title": session.title,
            **_walked(walk),
            "depth": walk.moment.depth,
            "watched": [words(each) for each in session.watched_names],
            "aim": aim.key,
            "scenario": session.scenario and about_scenario(session.scenario),
            "challenge": session.challenge and self._challenge(session, recorder),
        }

    def __iter__(self) -> Iterator[tuple[str, Recorder]]:
        return iter(self._recorders.items())

    def _offer_scenarios(self, name: str) -> None:
        """Record the scenarios that come with the spec, too, if they are about this model."""
        recorder = self._recorders[name]
        spec = known_as(recorder.model.spec)
        if spec not in self._shipped:
            self._shipped[spec] = [(each, play(each)) for each in shipped_scenarios(spec)]
        for scenario, walk in self._shipped[spec]:
            if name_of(walk.model) == name:
                recorder.paths.append(walk)
                recorder.scenarios.append({**about_scenario(scenario), **_walked(walk)})

    def _challenge(self, session: Session, recorder: Recorder) -> dict[str, Any]:
        """The task, par and a shortest path, which is recorded as well."""
        challenge = session.challenge
        way = shortest(challenge)
        if way is not None:
            recorder.paths.append(way)
        told = progress(challenge, session.walk)
        kept = ("name", "title", "task", "goal", "full_marks", "par")
        given = challenge.given_steps
        return {
            **{key: told[key] for key in kept},
            "given_steps": given,
            "written_hints": list(challenge.hints),
            "shortest": way and [each.step.text for each in way.path[1 + len(given) :]],
        }


def name_of(model: Model) -> str:
    """The name of a model's recording: the spec's, and a mark of the constants and the spec."""
    about = f"{known_as(model.spec)} {show_text(model.constants)} {_functions(model)}"
    return f"{re.sub(r'[^a-z0-9_]', '-', model.spec.name)}-{_mark(about)}"


def _functions(model: Model) -> str:
    """A mark that distinguishes specs of the same name, for when a cell has changed an action."""
    spec = model.spec
    parts = [*spec.actions, *spec.invariants, *spec.step_invariants, *spec.constraints]
    return "".join(line for each in parts for line in source_lines(each.function)[0])


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _aim_of(session: Session) -> Aim:
    if session.challenge is not None:
        model, names = session.goal
        return Aim(session.challenge.name, model, tuple(names))
    names = tuple(session.watched_names)
    return Aim(", ".join(names), session.walk.model, names)


def _walked(walk: Walk) -> dict[str, Any]:
    """The steps of a walk with their captions."""
    return {
        "start": walk.init,
        "start_caption": walk.start.caption,
        "steps": [_step(each) for each in walk.path[1:]],
    }


def _step(moment: Moment) -> dict[str, Any]:
    step: dict[str, Any] = {"step": moment.step.text, "caption": moment.caption}
    if moment.loops_to is not None:
        step |= {"loops_to": moment.loops_to, "going_on": moment.going_on}
    return step
