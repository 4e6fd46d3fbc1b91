"""The widget of a prediction: the buttons or the field below its question."""

from pathlib import Path
from typing import Any, Protocol

import anywidget
import traitlets

_HERE = Path(__file__).parent
PREDICTION_SCRIPT, PREDICTION_STYLE = _HERE / "js" / "prediction.js", _HERE / "prediction.css"


class Guessed(Protocol):
    """What the widget asks of a prediction."""

    def to_json(self) -> dict[str, Any]:
        """The prediction as it is now, for the page."""

    def choose(self, guess: str) -> None:
        """Commit to a choice."""


class PredictionField(anywidget.AnyWidget):
    """The buttons or the field below a question: choose or type, commit, reveal."""

    _esm = PREDICTION_SCRIPT.read_text(encoding="utf-8")
    _css = PREDICTION_STYLE.read_text(encoding="utf-8")

    view = traitlets.Dict().tag(sync=True)

    def __init__(self, prediction: Guessed):
        super().__init__()
        self._prediction = prediction
        self.show(prediction)
        self.on_msg(self._on_message)

    def show(self, prediction: Guessed) -> None:
        """Show the prediction as it is now."""
        self.view = prediction.to_json()

    def _on_message(self, _: Any, message: Any, __: Any = None) -> None:
        if isinstance(message, dict) and message.get("command") == "commit":
            self._prediction.choose(str(message.get("guess", "")))
            self.show(self._prediction)
