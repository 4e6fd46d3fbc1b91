"""The first page: docs/front_page.md, with its films, steppers and pictures put in.

A line `{film NAME FROM}` plays a scenario as an animation from a state on; `{stepper NAME FROM}` is
a stepper at that state; `{picture NAME STATE}` is a picture of one of its states.
"""

import json
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import PurePosixPath

from protocol_lab.drawing.pictures import caption, moment_picture
from protocol_lab.notebook import scenario
from protocol_lab.site.sessions import Recordings
from protocol_lab.stepper.starting_point import begin
from protocol_lab.stepper.static_view import image_html, static_html

_PLACE = re.compile(r"\{(film|stepper|picture) (\w+) (\d+)\}")

WEIGHT = 8
"""How many times as many states are recorded as for other pages, so that first steps do not soon
reach the end of the recording."""


def markdown(
    text: str, documents: list[str], title_of: Callable[[str], str], recordings: Recordings
) -> str:
    """The page's source: the text with these lines replaced, and the table of all pages."""

    def put(found: re.Match[str]) -> str:
        kind, name, depth = found.groups()
        session = begin(scenario(name))
        session.walk.go_to(int(depth))
        moment = session.walk.moment
        if kind == "picture":
            picture = moment_picture(session.walk.model, moment)
            return image_html(picture, caption(session.walk.model, moment))
        data = json.dumps(recordings.add(session, WEIGHT)).replace("</", "<\\/")
        holder = {"film": "lab-film", "stepper": "lab-recorded"}[kind]
        still = static_html(session.walk, session.watched) if kind == "stepper" else ""
        script = f'<script type="application/json">{data}</script>'
        return f'<div class="{holder}">{script}{still}</div>'

    return f"{_PLACE.sub(put, text)}\n{_contents(documents, title_of)}"


def _contents(documents: list[str], title_of: Callable[[str], str]) -> str:
    """A hidden table of contents for each folder of notebooks, and one for the texts."""

    def folder(name: str) -> str:
        path = PurePosixPath(name)
        is_notebook = path.suffix == ".ipynb"
        return path.parent.name if is_notebook else "further reading"

    tables = []
    for name, group in groupby(documents, folder):
        title = "Begin here" if name == "notebooks" else title_of(name)
        names = "\n".join(group)
        tables.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{names}\n```\n")
    return "\n".join(tables)
