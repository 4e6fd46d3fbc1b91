"""What a built site has to vote on, to walk and to win: its questions, pages and challenges."""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from protocol_lab.errors import LabError

_TITLE = re.compile(r"<title>(.*?)(?: — .*?)?</title>", re.DOTALL)
_ASKED = re.compile(r'"lab-asked">\s*<script type="application/json">(.*?)</script>', re.DOTALL)
_STEPPER = re.compile(r'"lab-page-stepper" data-session="([^"]*)"')


@dataclass(frozen=True)
class Question:
    """A question as a room votes on it. place: its notebook or lesson, as workshop.md names it;
    right: the number of the right choice, or None where there is none."""

    place: str
    text: str
    choices: tuple[str, ...]
    right: int | None = None


@dataclass
class SiteQuestions:
    """The questions by name, the pages' titles by address, and each challenge's page and par."""

    questions: dict[str, Question] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    challenges: dict[str, dict[str, object]] = field(default_factory=dict)


def read_site(folder: Path) -> SiteQuestions:
    """Read the pages of a built site. Raises LabError if the folder has none."""
    if not (folder / "_static" / "lab.js").is_file():
        raise LabError(f"There are no pages in {folder}: run `python3 lab.py site {folder}` first.")
    site = SiteQuestions()
    for file in sorted(folder.rglob("*.html")):
        address, text = f"/{file.relative_to(folder).as_posix()}", file.read_text(encoding="utf-8")
        title = _TITLE.search(text)
        site.pages[address] = unescape(title[1]).strip() if title else address
        for asked in map(json.loads, _ASKED.findall(text)):
            place = asked["name"].partition(" ")[0].removeprefix("notebooks/")
            of_cell = Question(
                place.removesuffix(".ipynb"),
                *(asked["question"], tuple(asked["choices"]), asked["right"]),
            )
            site.questions[asked["name"]] = of_cell
        for told in _STEPPER.findall(text):
            _add_session(site, address, json.loads(unescape(told)))
    return site


def _add_session(site: SiteQuestions, address: str, session: dict) -> None:
    """Add the questions of a lesson, or the challenge of a stepper."""
    if session["challenge"]:
        par = session["shortest"] and len(session["shortest"])
        site.challenges.setdefault(session["challenge"], {"page": address, "par": par})
    lesson = session["lesson"] or {"beats": ()}
    for ask in filter(None, (beat["ask"] for beat in lesson["beats"])):
        labels = tuple(each["label"] for each in ask["options"])
        name = f"{lesson['name']} {ask['number']}"
        site.questions[name] = Question(lesson["name"], ask["question"], labels, ask["right"])
