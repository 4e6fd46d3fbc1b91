"""The judgement of a learner's answer: passed or not, in sentences, with a walk to look at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.checker.result import Result
from protocol_lab.drawing.pictures import caption, image_html, picture_strip
from protocol_lab.model.step_text import Step
from protocol_lab.system.notebook_shell import display, get_ipython
from protocol_lab.traces.walk import Walk

steppers: list[Callable[[Walk], Any]] = []
"""Makes a widget from a walk. The room `stepper`, which depends on this one, registers itself
here."""

_DRAWN = 12
"""States of a walk that are drawn, which a notebook keeps; the stepper shows all."""


@dataclass(frozen=True)
class Feedback:
    """A judgement in sentences.

    `walk`, if there is one, leads to the state that they are about, which is drawn; a button opens
    it in the stepper, as does step(feedback.walk).
    """

    passed: bool
    text: str
    walk: Walk | None = None

    @property
    def steps(self) -> list[Step]:
        """The steps that lead to the state that the sentences are about."""
        return [moment.step for moment in self.walk.path[1:]] if self.walk else []

    @property
    def verdict(self) -> str:
        """The judgement in two or three words."""
        return "✓ Right." if self.passed else "✗ Not yet."

    def _repr_markdown_(self) -> str:
        shown = f"> **{self.verdict}** " + _as_text(self.text).replace("\n", "\n> ")
        if self.steps:
            listed = "\n".join(f"{k:3} {step}" for k, step in enumerate(self.steps, 1))
            shown += f"\n\n```text\n{listed}\n```"
        return shown

    def __repr__(self) -> str:
        return "\n".join(
            [f"{self.verdict} {self.text}", *(f"{k:3} {s}" for k, s in enumerate(self.steps, 1))]
        )


class DrawnFeedback(Feedback):
    """A judgement whose walk is drawn below its sentences, with a button that opens it in a
    stepper."""

    def _ipython_display_(self) -> None:
        display({"text/markdown": self._repr_markdown_(), "text/plain": repr(self)}, raw=True)
        display({"text/html": self._drawing()}, raw=True)
        if get_ipython() is not None and steppers:
            from protocol_lab.teaching.question_card import display_widget

            display_widget(_stepping(self.walk))

    def _drawing(self) -> str:
        """The last state of the walk, and below it the last ones, folded."""
        path = self.walk.path
        last = path[-1:]
        shown = image_html(picture_strip(self.walk, 1, last), caption(self.walk.model, path[-1]))
        if len(path) == 1:
            return shown
        some = path[-_DRAWN:]
        which = f"All {len(path)}" if some == path else f"The last {_DRAWN} of {len(path)}"
        strip = image_html(picture_strip(self.walk, moments=some), "; ".join(map(repr, some)))
        return f"{shown}<details><summary>{which} states</summary>{strip}</details>"


def right(text: str, found: Result | Walk | None = None) -> Feedback:
    """The answer passes; `text` adds what the learner should see, such as the expected counts."""
    return _judgement(True, text, found)


def wrong(text: str, found: Result | Walk | None = None) -> Feedback:
    """The answer does not pass; `text` says what to look at, `found` shows a case of it."""
    return _judgement(False, text, found)


def _stepping(walk: Walk) -> Any:
    """A button, as a widget, that is replaced with a stepper when it is pressed."""
    import ipywidgets

    button = ipywidgets.Button(description="step it", tooltip="Walk these steps in the stepper")
    place = ipywidgets.VBox([button])

    def open_stepper(_: Any) -> None:
        walk.first()
        place.children = [steppers[-1](walk)]

    button.on_click(open_stepper)
    return place


def _judgement(passed: bool, text: str, found: Result | Walk | None) -> Feedback:
    if found is None:
        return Feedback(passed, text)
    walk = Walk.along(found) if isinstance(found, Result) else found
    return DrawnFeedback(passed, text, walk)


def _as_text(text: str) -> str:
    """The text with tags escaped: Markdown would take <lambda> as HTML, and it would vanish."""
    parts = text.split("`")  # every second part is code, where tags are left as they are
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def folded(summary: str, content: str) -> str:
    """Markdown that a page shows when the summary is pressed."""
    # The empty lines let the renderer read what is inside as Markdown.
    return f"<details><summary>{summary}</summary>\n\n{content.strip()}\n\n</details>"
