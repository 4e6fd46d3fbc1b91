"""The first page, docs/front_page.html, with its film, its stepper and the table of lessons put in.

It is written over the page that Sphinx makes of `contents`, from which the other pages have their
navigation.
"""

import importlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from itertools import groupby
from pathlib import Path, PurePosixPath

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import SCREEN, Places, arranged, keeping
from protocol_lab.drawing.pictures import moment_picture
from protocol_lab.errors import LabError
from protocol_lab.site.pages import LESSONS, stepper_html
from protocol_lab.site.sessions import Sessions
from protocol_lab.stepper.starting_point import begin
from protocol_lab.stepper.static_view import static_html
from protocol_lab.traces.scenarios import scenario
from protocol_lab.traces.walk import Moment

_STYLE = Path(__file__).with_name("landing.css")
_PLACE = re.compile(
    r"\{(style|film|stepper|part|start|first|size|count|contents)"
    r"(?: ([\w.]+)(?: (\d+))?)?(?:\n([^}]*))?\}"
)

_FILM = replace(SCREEN, below=True, bars=False)
_WIDE = replace(_FILM, width=612, dense=True, box=100)
_NARROW = replace(_FILM, narrow=True, stacked=True, width=324)


def in_reading_order(template: str, documents: list[str]) -> list[str]:
    """The documents: the notebooks to begin with, the lessons in the order of the template's cards,
    and the others."""
    first = ["notebooks", *re.findall(r"\{first (\w+)\}", template)]

    def place(name: str) -> int:
        folder = _folder(name)
        return first.index(folder) if folder in first else len(first)

    return sorted(documents, key=place)


def contents(documents: list[str], title_of: Callable[[str], str]) -> str:
    """The source of Sphinx's root page: a hidden table of contents for each folder of notebooks,
    and one for the texts."""
    tables = ["# Replication Protocol Lab\n"]
    for title, names in _tables(documents, title_of):
        listed = "\n".join(names)
        tables.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{listed}\n```\n")
    return "\n".join(tables)


def page(
    template: str, sources: dict[str, str], title_of: Callable[[str], str], sessions: Sessions
) -> str:
    """The page: the template with what its places in braces name.

    `sources`: the documents in reading order, with their texts.
    """
    documents = list(sources)

    def put(found: re.Match[str]) -> str:
        what, name, depth, lines = found.groups()
        lessons = [each for each in documents if _folder(each) == name]
        match what:
            case "style":
                return _STYLE.read_text(encoding="utf-8") + palette.theme_css(".lab-film")
            case "film":
                return _film(name, lines.splitlines())
            case "stepper":
                return _stepper(name, int(depth), sessions)
            case "part":  # a module's own part of the page
                return importlib.import_module(name).html(sessions)
            case "start":
                return _address(documents[0])
            case "first":
                return _address((lessons or documents)[0])
            case "size":
                return f"{len(lessons)} lesson{'s' * (len(lessons) != 1)}"
            case "count":
                return str(sum(each.endswith(".ipynb") for each in documents))
            case _:
                return "".join(_lists(sources, title_of))

    return _PLACE.sub(put, template)


def _film(name: str, captions: list[str]) -> str:
    """A scenario's pictures for a desk and for a phone, with these captions; the first picture is
    seen before any script runs. Raises LabError unless there is a caption for each state."""
    walk = begin(scenario(name)).walk
    walk.go_to(walk.path[-1].depth)
    if len(walk.path) != len(captions):
        raise LabError(
            f"{name} has {len(walk.path)} states, and the film {len(captions)} captions."
        )
    lost = any(not each.holds for each in walk.standings())
    places = {"wide": Places(), "narrow": Places()}

    def drawn(moment: Moment) -> dict[str, str]:
        pictures = {}
        for width, arrangement in (("wide", _WIDE), ("narrow", _NARROW)):
            with arranged(arrangement), keeping(places[width]):
                pictures[width] = moment_picture(walk.model, moment)
        return pictures

    for _ in range(2):  # the first time shows how much room each part needs
        frames = [
            {**drawn(moment), "caption": caption}
            for moment, caption in zip(walk.path, captions, strict=True)
        ]
    data = json.dumps({"frames": frames, "lost": lost}).replace("</", "<\\/")
    first = frames[0]
    return (
        '<figure class="lab-film" aria-label="A film: a promised record is lost">'
        f'<script type="application/json">{data}</script>'
        f'<p class="lab-film-told"><b>1</b> <span>{escape(captions[0])}</span></p>'
        f'<div class="lab-film-picture lab-wide">{first["wide"]}</div>'
        f'<div class="lab-film-picture lab-narrow">{first["narrow"]}</div>'
        '<div class="lab-film-bar"></div></figure>'
    )


def _stepper(name: str, depth: int, sessions: Sessions) -> str:
    session = begin(scenario(name))
    session.walk.go_to(depth)
    return stepper_html(sessions.add(session), static_html(session.walk, session.watched))


def _tables(
    documents: list[str], title_of: Callable[[str], str]
) -> Iterator[tuple[str, list[str]]]:
    """For each folder of notebooks, and for the texts: the title and the documents."""
    for name, group in groupby(documents, _folder):
        yield "Begin here" if name == "notebooks" else title_of(name), list(group)


def _lists(sources: dict[str, str], title_of: Callable[[str], str]) -> Iterator[str]:
    for title, names in _tables(list(sources), title_of):
        links = "".join(
            f'<li><a href="{_address(each)}">{escape(_heading(each, sources[each]))}</a></li>'
            for each in names
        )
        yield f"<h3>{escape(title)}</h3><ul>{links}</ul>"


def _folder(name: str) -> str:
    path = PurePosixPath(name)
    is_lesson = path.suffix == ".ipynb" or name.startswith(LESSONS)
    return path.parent.name if is_lesson else "further reading"


def _address(name: str) -> str:
    return PurePosixPath(name).with_suffix(".html").as_posix()


def _heading(name: str, text: str) -> str:
    """A document's first heading, without its marks."""
    if name.endswith(".ipynb"):
        text = "\n".join(each["source"] for each in json.loads(text)["cells"])
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return re.sub(r"[`*]", "", found[1]) if found else PurePosixPath(name).stem
