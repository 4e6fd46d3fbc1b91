"""A lesson played: a walk for each part, and the beats along them.

A beat is a state with the caption of the step that led to it, or a question about that state. All
of it as plain values is what the lesson player shows; so a page needs no Python to play it.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from protocol_lab.catalog import bound_model
from protocol_lab.errors import LabError, at_line
from protocol_lab.explain.tally import tally
from protocol_lab.lessons.gates import Answer, Asked, Gate
from protocol_lab.lessons.lesson_files import Lesson, Part
from protocol_lab.model.spec import Model
from protocol_lab.traces.scenario_format import Line, split_caption
from protocol_lab.traces.scenarios import follow
from protocol_lab.traces.walk import Moment, Walk


@dataclass
class Beat:
    """A place in a lesson: the part's number from 0, the moment there, and the question, if it is
    one. notes: the speaker's."""

    part: int
    moment: Moment
    asked: Asked | None = None
    notes: list[str] = field(default_factory=list)
    _answer: Answer | None = None

    def answer(self) -> Answer:
        """What the run says; it is computed once. Raises LabError."""
        if self._answer is None:
            self._answer = self.asked.answer()
        return self._answer


class PlayedLesson:
    """A lesson with its walks, each at its beginning, and its beats.

    Raises LabError naming the line that does not hold.
    """

    def __init__(self, lesson: Lesson, model: Model | None = None):
        self.lesson = lesson
        self.walks: list[Walk] = []
        self.beats: list[Beat] = []
        self._told: dict[int, list[str]] = {}
        for number, part in enumerate(lesson.parts):
            with self._naming(part.number):
                bound = bound_model(
                    lesson.spec_name, part.constants, model, lesson.file and lesson.file.parent
                )
            self._play(number, part, bound)

    def _naming(self, line: int) -> AbstractContextManager:
        """A context that adds the lesson's line to errors."""
        return at_line(self.lesson.place, line)

    def _play(self, number: int, part: Part, model: Model) -> None:
        lines = list(part.lines)
        first = lines[0] if isinstance(lines[0], Line) and lines[0].kind == "init" else None
        walk = None
        if not part.after:
            with self._naming(first.number if first else part.number):
                walk = Walk.begin(model, first.text if first else None)
            walk.start.caption = first.caption if first else ""
        else:
            with self._naming(part.number):
                walk = self._repeated(number, part, model)
        if part.opening:
            walk.moment.caption = " ".join(part.opening)
        self.walks.append(walk)
        begun = len(self.beats)
        if not part.after or part.opening or not isinstance(lines[0], Line):
            self.beats.append(Beat(number, walk.moment))
        for k, line in enumerate(lines):
            with self._naming(line.number):
                if isinstance(line, Gate):
                    self.beats.append(Beat(number, walk.moment, self._ask(line, walk)))
                elif line is not first:
                    caption = walk.moment.caption
                    follow(line, walk)
                    if line.kind == "blocked":
                        walk.moment.caption = caption  # the claim holds; a question may be about it
                    if line.kind == "step" and line.caption:
                        self.beats.append(Beat(number, walk.moment))
            self.beats[-1].notes += part.notes.get(k, [])
        if walk.moment is not self.beats[-1].moment:
            self.beats.append(Beat(number, walk.moment))
        walk.first()
        self._look_ahead(begun)

    def _ask(self, gate: Gate, walk: Walk) -> Asked:
        return Asked(gate, walk, walk.moment, walk.moment, tuple(self.lesson.uses))

    def _look_ahead(self, begun: int) -> None:
        """Tell each question the beat after it."""
        for k, beat in enumerate(self.beats[begun:], begun):
            if beat.asked is not None:
                later = [each.moment for each in self.beats[k:] if each.asked is None]
                following = later[0] if later else beat.moment
                beat.asked = replace(beat.asked, following=following)

    def _repeated(self, number: int, part: Part, model: Model) -> Walk:
        """The walk of a part that repeats the steps of the one before, up to a slide."""
        if not number:
            raise LabError("the first part has none before it: leave out `after`.")
        before = self.walks[number - 1]
        kind, _, wanted = part.after.partition(" ")
        states = [
            split_caption(each.caption)[0] if kind == "slide" else str(each.depth)
            for each in before.path
        ]
        if wanted not in states:
            known = ", ".join(dict.fromkeys(filter(None, states))) or "none"
            raise LabError(f"the part before has no {part.after}; there are {known}.")
        last = max(k for k, each in enumerate(states) if each == wanted)
        walk = Walk.begin(model, before.init)
        walk.start.caption = before.start.caption
        for each in before.path[1 : last + 1]:
            walk.take(each.step.text, each.caption)
        return walk

    def beat_at(self, part: int, depth: int) -> int:
        """The number of the last state before, or at, a depth of a part, which is a beat."""
        states = [k for k, each in enumerate(self.beats) if each.part == part and not each.asked]
        return max((k for k in states if self.beats[k].moment.depth <= depth), default=0)

    def claims_told(self, part: int) -> list[str]:
        """The claims about which somebody has said something in a beat of a part."""
        if part not in self._told:
            model = self.walks[part].model
            moments = [each.moment for each in self.beats if each.part == part]
            rows = [row for each in moments for row in tally(model, each.row).rows]
            told = [row.claim.name for row in rows if any(cell.kind for cell in row.cells)]
            self._told[part] = list(dict.fromkeys(told))
        return self._told[part]

    # --- As plain values ---

    @property
    def values(self) -> dict[str, Any]:
        """What the player shows. The answer to a free question is computed on request, which may
        take long: until then it is None."""
        lesson = self.lesson
        return {
            "name": lesson.name,
            "title": lesson.title,
            "board": lesson.board,
            "description": lesson.description,
            "parts": [each.title for each in lesson.parts],
            "lengths": [len(each.path) for each in self.walks],
            "beats": [self._beat(k, each) for k, each in enumerate(self.beats)],
        }

    def settle(self, number: int) -> dict[str, Any]:
        """Compute the answer to the question of this beat. Raises LabError."""
        beat = self.beats[number] if 0 <= number < len(self.beats) else None
        if beat is None or beat.asked is None:
            raise LabError(f"There is no question {number} in this lesson.")
        with self._naming(beat.asked.gate.number):
            beat.answer()
        return self._beat(number, beat)

    def settle_all(self) -> None:
        """Compute all answers, for a page or a test. Raises LabError naming the line."""
        for number, each in enumerate(self.beats):
            if each.asked is not None:
                self.settle(number)

    def _beat(self, number: int, beat: Beat) -> dict[str, Any]:
        slide, text = split_caption(beat.moment.caption)
        if beat.asked:
            slide = split_caption(beat.asked.gate.question)[0] or slide
        ask = beat.asked and self._ask_values(number, beat)
        return {
            "part": beat.part,
            "depth": beat.moment.depth,
            "slide": slide,
            "text": text,
            "notes": " ".join(beat.notes),
            "ask": ask,
        }

    def _ask_values(self, number: int, beat: Beat) -> dict[str, Any]:
        asked, gate = beat.asked, beat.asked.gate
        with self._naming(gate.number):
            if gate.kind != "say":
                beat.answer()
            options = asked.options()
            found = beat._answer
            return {
                "number": number,
                "kind": gate.kind,
                "when": gate.when,
                "claim": gate.asks if gate.kind == "cell" else "",
                "question": split_caption(gate.question)[1],
                "options": [vars(each) for each in options],
                "right": found and [each.text for each in options].index(found.right),
                "reason": found.reason if found else "",
                "why": gate.why,
                "node": asked.node,
                "heard": asked.heard(),
            }
