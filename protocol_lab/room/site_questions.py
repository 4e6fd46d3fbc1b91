"""The questions of a built site; what a room answered, as a CSV file beside workshop.md's table."""

import csv
import json
import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

from protocol_lab.errors import LabError, writing

_ASKED = re.compile(r'"lab-asked">\s*<script type="application/json">(.*?)</script>', re.DOTALL)
_STEPPER = re.compile(r'"lab-page-stepper" data-session="([^"]*)"')
_COLUMNS = (
    *("notebook or lesson", "question", "the run says", "answers", "right"),
    *("common wrong answer", "chosen by", "workshop.md's wrong answer", "all answers"),
)
_TABLE = Path(__file__).parents[2] / "notebooks" / "workshop.md"
_ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \| .+? \| (.+?) \| .+? \|$", re.MULTILINE)


class Question(NamedTuple):
    """A question that a room votes on. place: its notebook or lesson, as workshop.md names it;
    right: the number of the right choice, or None where there is none."""

    place: str
    text: str
    choices: list[str]
    right: int | None = None


def read_questions(folder: Path) -> dict[str, Question]:
    """The questions of a built site by name. Raises LabError if the folder has no site."""
    if not (folder / "_static" / "lab.js").is_file():
        raise LabError(f"There are no pages in {folder}: run `python3 lab.py site {folder}` first.")
    found = {}
    for file in sorted(folder.rglob("*.html")):
        text = file.read_text(encoding="utf-8")
        for asked in map(json.loads, _ASKED.findall(text)):
            place = asked["name"].partition(".ipynb")[0].removeprefix("notebooks/")
            question = Question(place, asked["question"], asked["choices"], asked["right"])
            found[asked["name"]] = question
        for session in _STEPPER.findall(text):
            lesson = json.loads(unescape(session))["lesson"] or {"beats": ()}
            for ask in filter(None, (beat["ask"] for beat in lesson["beats"])):
                choices = [each["label"] for each in ask["options"]]
                question = Question(lesson["name"], ask["question"], choices, ask["right"])
                found[f"{lesson['name']} {ask['number']}"] = question
    return found


def write_beliefs(questions: dict[str, Question], counts: dict[str, list[int]], path: Path) -> None:
    """Write a row for each question that has counts of its choices. Raises LabError."""
    expected = _ROW.findall(_TABLE.read_text(encoding="utf-8")) if _TABLE.is_file() else []
    with writing(path), path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(_COLUMNS)
        for asked, votes in ((questions[name], votes) for name, votes in counts.items()):
            chosen = dict(zip(asked.choices, votes, strict=True))
            right = None if asked.right is None else asked.choices[asked.right]
            wrong = {each: n for each, n in chosen.items() if n and right not in (None, each)}
            common = max(wrong, key=wrong.get, default="")
            row = [asked.place, asked.text, right, sum(votes), chosen.get(right)]
            known = [w for p, q, w in expected if p == asked.place and asked.text.endswith(q)]
            row += [common, wrong.get(common), "; ".join(known)]
            row.append("; ".join(f"{each}: {n}" for each, n in chosen.items()))
            # A spreadsheet would take some texts for formulas.
            rows.writerow(f"'{each}" if re.match("[=+@-]", str(each)) else each for each in row)
