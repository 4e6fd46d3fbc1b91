"""The frames of a stepper's own path: what it shows in each of its states.

A page walks along them until its Python is there. They are what the page's kernel would show, so
that nothing changes when it takes over.
"""

import hashlib
import json
from typing import Any

from protocol_lab.page.engine_files import packed
from protocol_lab.page.kernel import PageStepper
from protocol_lab.stepper import panels
from protocol_lab.stepper.stage import Stage
from protocol_lab.stepper.starting_point import Session

ROOMS = {
    "wide": (800, 440),
    "low": (824, 345),
    "small": (704, 440),
    "small and low": (704, 345),
    "narrow": (352, 2000),
}
"""The spaces for which pictures are drawn, in pixels: on a page and in a low window, also where the
window has 1280 pixels and the page's contents are beside them, and on a phone."""

AUDIENCE = (1228, 990)
"""The space of a lesson's picture in the presenter's view, on a screen of 1920 by 1080 pixels."""


def frames_of(session: Session) -> list[dict[str, Any]]:
    """The stepper's view in each state of the session's branch, or of each part of its lesson, with
    its picture drawn for each of `ROOMS`. The session stands where it did."""
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
