"""The script and the style sheet of the site's pages: the stepper's own parts, and the code that
feeds them from frames and from the page's own Python."""

import json
from collections.abc import Mapping
from pathlib import Path

from protocol_lab.drawing import palette
from protocol_lab.stepper.widget import PARTS, style
from protocol_lab.teaching.incident import INCIDENT_SCRIPT, INCIDENT_STYLE

_HERE = Path(__file__).parent / "js"
_PAGE = Path(__file__).parents[1] / "page" / "js"
_SEARCH = Path(__file__).parents[1] / "wasm" / "js" / "search.js"
_DARK_PICTURES = Path(__file__).parents[1] / "drawing" / "dark.css"
_PARTS = ("film.js", "reading.js", "page.js")


def script(engine: str = "", places: Mapping[str, str] | None = None) -> str:
    """One classic script, since a page opened from the disk can't load modules.

    engine: the file beside it with the page's Python; none: steppers show their own path only.
    places: the page of each challenge, by its name.
    """
    stepper = [each.read_text(encoding="utf-8") for each in PARTS]
    own = [(_HERE / part).read_text(encoding="utf-8") for part in _PARTS]
    body = "\n".join([*stepper, INCIDENT_SCRIPT.read_text(encoding="utf-8")])
    body = body.replace("export default { render };", "")
    names = ("engine", "live", "exercises", "dropped_files", "asked_table")
    live = [_PAGE / f"{name}.js" for name in names]
    parts = [_SEARCH, _PAGE / "worker.js"]
    worker = "\n".join(each.read_text(encoding="utf-8") for each in parts)
    worker = worker.replace("export function", "function")
    named = (
        f"const ENGINE = {json.dumps(engine)}, WORKER = {json.dumps(worker)},"
        f" PLACES = {json.dumps(dict(places or {}))};"
    )
    own = [named, *(each.read_text(encoding="utf-8") for each in live), *own]
    return "\n".join(["(() => {", '"use strict";', body, *own, "})();", ""])


def style_sheet() -> str:
    """The stepper's style sheet, and what the pages add to it."""
    parts = (INCIDENT_STYLE, _DARK_PICTURES, _HERE.parent / "page.css")
    own = "".join(part.read_text(encoding="utf-8") for part in parts)
    return style() + palette.style_sheet("body") + own
