"""The script and the style sheet of the site's pages: the stepper's own parts, and the code that
feeds them from frames and from the page's own Python."""

import json
from collections.abc import Mapping
from pathlib import Path

from protocol_lab.drawing import palette
from protocol_lab.stepper.widget import PARTS, style
from protocol_lab.teaching.incident import INCIDENT_SCRIPT, INCIDENT_STYLE
from protocol_lab.teaching.question_card import joined

_HERE = Path(__file__).parent / "js"
_PAGE = Path(__file__).parents[1] / "page" / "js"
_SEARCH = Path(__file__).parents[1] / "wasm" / "js" / "search.js"
_DARK_PICTURES = Path(__file__).parents[1] / "drawing" / "dark.css"
_LIVE = ("engine", "live", "exercises", "dropped_files", "asked_table")
_PARTS = (
    *(_PAGE / f"{each}.js" for each in _LIVE),
    *(_HERE / f"{each}.js" for each in ("film", "reading", "page")),
)


def script(engine: str = "", places: Mapping[str, str] | None = None) -> str:
    """One classic script, since a page opened from the disk can't load modules.

    engine: the file beside it with the page's Python; none: steppers show their own path only.
    places: the page of each challenge, by its name.
    """
    widgets = joined(*PARTS, INCIDENT_SCRIPT).replace("export default { render };", "")
    worker = joined(_SEARCH, _PAGE / "worker.js").replace("export function", "function")
    named = (
        f"const ENGINE = {json.dumps(engine)}, WORKER = {json.dumps(worker)},"
        f" PLACES = {json.dumps(dict(places or {}))};"
    )
    return "\n".join(["(() => {", '"use strict";', widgets, named, joined(*_PARTS), "})();", ""])


def style_sheet() -> str:
    """The stepper's style sheet, and what the pages add to it."""
    own = joined(INCIDENT_STYLE, _DARK_PICTURES, _HERE.parent / "page.css")
    return style() + palette.style_sheet("body") + own
