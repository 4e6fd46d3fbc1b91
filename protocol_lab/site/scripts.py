"""The script and the style sheet of the site's pages: the stepper's own parts, and the code that
feeds them from recordings."""

from pathlib import Path

from protocol_lab.stepper.widget import PARTS, style
from protocol_lab.teaching.predictions import PREDICTION_SCRIPT, PREDICTION_STYLE

_HERE = Path(__file__).parent / "js"
_DARK_PICTURES = Path(__file__).parents[1] / "drawing" / "dark.css"
_PARTS = (
    "recording.js",
    "walk.js",
    "links.js",
    "challenge_score.js",
    "diagrams.js",
    "graph.js",
    "comparison.js",
    "recorded.js",
    "film.js",
    "reading.js",
    "page.js",
)


def script() -> str:
    """One classic script, since a page opened from the disk can't load modules."""
    stepper = [each.read_text(encoding="utf-8") for each in PARTS]
    own = [(_HERE / part).read_text(encoding="utf-8") for part in _PARTS]
    asking = PREDICTION_SCRIPT.read_text(encoding="utf-8")
    widgets = [*stepper, "const renderPrediction = (() => {", asking, "return render; })();"]
    body = "\n".join(widgets).replace("export default { render };", "")
    return "\n".join(["(() => {", '"use strict";', body, *own, "})();", ""])


def style_sheet() -> str:
    """The stepper's style sheet, and what the pages add to it."""
    parts = (PREDICTION_STYLE, _DARK_PICTURES, _HERE.parent / "page.css")
    return style() + "".join(part.read_text(encoding="utf-8") for part in parts)
