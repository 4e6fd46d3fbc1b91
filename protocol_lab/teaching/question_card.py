"""The widget of a question: its card, and below the choices what follows from the answer."""

from pathlib import Path
from typing import Any, Protocol

import anywidget
import ipywidgets
import traitlets

from protocol_lab.checker.progress import shown_by
from protocol_lab.drawing import palette
from protocol_lab.system.notebook_shell import display

_HERE = Path(__file__).parent
DOM_SCRIPT, _WIDGET_SCRIPT = _HERE / "js" / "dom.js", _HERE / "js" / "question_widget.js"
CARD_SCRIPTS = (DOM_SCRIPT, _HERE / "js" / "question_card.js")


def joined(*parts: Path) -> str:
    """A widget's one script, or style sheet: its parts share their names."""
    return "\n".join(each.read_text(encoding="utf-8") for each in parts)


def display_widget(widget: Any) -> None:
    """Display a widget as an output of its own, without its name in words."""
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    display({kind: data[kind] for kind in data if kind != "text/plain"}, raw=True)


def card_style() -> str:
    """The style sheet of the card, with its colours."""
    return palette.style_sheet(":is(.lab-question, .lab-ask)") + joined(_HERE / "question_card.css")


class Asked(Protocol):
    """What the card needs of a question."""

    choices: Any
    answer: Any

    def to_json(self) -> dict[str, Any]:
        """The question as it is now, for the page."""

    def choose(self, choice: int | None) -> None:
        """Commit to a choice by its number, or give up."""


class Card(anywidget.AnyWidget):
    """The question and its choices; says what was pressed."""

    _esm = joined(*CARD_SCRIPTS, _WIDGET_SCRIPT)
    _css = card_style()

    view = traitlets.Dict().tag(sync=True)


class QuestionCard:
    """Shows a question as a card, and computes its answer when a choice is pressed."""

    def __init__(self, question: Asked):
        self._question = question
        self._card = Card()
        self._following = ipywidgets.Output()
        self._whole = ipywidgets.VBox([self._card, self._following])
        self._whole.add_class("lab-ask")
        self._following.add_class("lq-then")
        self._card.on_msg(self._on_message)
        self._update()

    def show(self) -> None:
        """Display the card as a cell's output."""
        display_widget(self._whole)

    def _update(self) -> None:
        answer = self._question.answer
        self._following.outputs = tuple(
            {"output_type": "display_data", "data": each, "metadata": {}}
            for each in (answer.outputs if answer else ())
        )
        self._card.view = self._question.to_json()

    def _on_message(self, _: Any, message: Any, __: Any = None) -> None:
        if not isinstance(message, dict) or message.get("command") != "choose":
            return
        choice = message.get("choice")
        if choice is None or choice in range(len(self._question.choices)):
            with shown_by(lambda line: self._card.send({"progress": line})):
                self._question.choose(choice)
            self._update()
            self._card.send({"done": True})
