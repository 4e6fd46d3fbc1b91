"""The stepper as a Jupyter widget: what a `PlainStepper` shows are traits, which scripts draw."""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from protocol_lab.checker.result import Result
from protocol_lab.drawing import palette
from protocol_lab.lessons.lesson_files import Lesson
from protocol_lab.model.spec import Model
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.stepper.starting_point import Session, resumed
from protocol_lab.stepper.static_view import lesson_text, static_html, static_lesson, static_text
from protocol_lab.system.notebook_shell import display, get_ipython
from protocol_lab.teaching import feedback
from protocol_lab.teaching.challenges import Challenge
from protocol_lab.teaching.question_card import CARD_SCRIPTS, card_style, display_widget, joined
from protocol_lab.traces.scenario_format import Scenario
from protocol_lab.traces.walk import Walk

_HERE = Path(__file__).parent
_SCRIPTS = "kernel header challenge panels viewer moves lists timeline drawers lesson stepper"
PARTS = (*CARD_SCRIPTS, *(_HERE / "js" / f"{each}.js" for each in _SCRIPTS.split()))
"""A widget is one script: its parts are joined in this order, and share their names."""


def style() -> str:
    """The style sheet, with that of questions, and the colours of the pictures from `palette`."""
    colors = palette.style_sheet(".lab-stepper") + palette.theme_css(".lab-stepper")
    return f"{joined(_HERE / 'stepper.css')}\n{card_style()}\n{colors}\n"


class Stepper(PlainStepper, anywidget.AnyWidget):
    """Walk through a protocol with buttons and arrow keys.

    `of` is a model (at its first initial state), a walk, a scenario, a challenge, a lesson or an
    exploration that found a trace. Cells may change `stepper.walk`; the picture is updated after
    the cell.

    Raises LabError for a scenario that does not play.
    """

    _esm = joined(*PARTS)
    _css = style()

    view = traitlets.Dict().tag(sync=True)
    near = traitlets.Dict().tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    find = traitlets.Dict().tag(sync=True)
    reading = traitlets.Dict().tag(sync=True)
    lesson = traitlets.Dict().tag(sync=True)

    def __init__(self, of: Model | Walk | Scenario | Challenge | Result | Lesson | Session):
        anywidget.AnyWidget.__init__(self)
        PlainStepper.__init__(self, of)
        self.on_msg(self._on_message)
        _refresh_after_cells(self)

    @property
    def name(self) -> str:
        return self.model_id

    def shown_together(self) -> AbstractContextManager:
        """A context at whose end all traits are sent in one message."""
        return self.hold_sync()

    def close(self) -> None:
        """Remove the widget, and stop its computations."""
        PlainStepper.close(self)
        anywidget.AnyWidget.close(self)

    def _on_message(self, _: Any, message: Any, __: Any = None) -> None:
        self.answer(message)

    def _ipython_display_(self) -> None:
        # The drawing is an output of its own: where the widget lives its style sheet hides the
        # drawing, and where it does not (a saved notebook) the drawing is what there is.
        walk, lesson, watched = self.walk, self.session.lesson, self.session.watched
        html = static_lesson(lesson) if lesson else static_html(walk, watched)
        text = lesson_text(lesson) if lesson else static_text(walk, watched)
        display({"text/html": html, "text/plain": text}, raw=True)
        display_widget(self)


feedback.steppers.append(Stepper)


def revived(saved: str) -> str:
    """Make a new stepper from what a page has kept of one whose kernel has ended.

    `saved` is JSON. Returns the model's id, by which the page finds it. Raises LabError.
    """
    return Stepper(resumed(json.loads(saved))).model_id


def _refresh_after_cells(stepper: Stepper) -> None:
    """Show what a cell does to the walk, until the widget is closed."""
    shell = get_ipython()
    if shell is None:
        return

    def refresh(*_: Any) -> None:
        if stepper.comm is None:
            shell.events.unregister("post_run_cell", refresh)
        else:
            stepper.refresh_safely()

    shell.events.register("post_run_cell", refresh)
