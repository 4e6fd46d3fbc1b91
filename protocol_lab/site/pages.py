"""Notebooks and documents as the sources of the site's pages.

The outputs are those that the notebooks have kept. The drawing that a stepper has left is replaced
with the stepper itself, a question with a card that works in the page, and an exercise's
verdict with a note on how to have an answer checked.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from functools import cache
from html import escape
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from protocol_lab.addresses import link_to_notebook, link_to_page
from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.page.engine_files import kit_archive
from protocol_lab.site.notebook_steppers import STATIC, statements_before, stepper_cells, text_of
from protocol_lab.site.sessions import Sessions
from protocol_lab.stepper.starting_point import begin
from protocol_lab.stepper.static_view import static_lesson
from protocol_lab.teaching.questions import FOLD, KEPT, STEPPER

_LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")

LESSONS = "lessons/"
"""How the names of the pages with a lesson begin."""

HOLDER = "lab-page-stepper"
"""The class of a stepper's holder."""

TO_CHECK = (
    '<p class="lab-python"><b>This needs Python.</b> The kit runs and checks your answer: '
    "<code>python3 lab.py</code> opens it, and this cell is pasted there as it stands.</p>"
)


@dataclass
class Pages:
    """Makes the sources. `root` is the kit's folder, `documents` the paths that become pages."""

    root: Path
    documents: list[str]
    sessions: Sessions = field(default_factory=Sessions)
    static: list[str] = field(default_factory=list)
    """The steppers that stay drawings, each with the reason."""

    def source(self, name: str) -> str:
        """The source of one page, as text."""
        if name.startswith(LESSONS):
            return self._lesson(name)
        text = (self.root / name).read_text(encoding="utf-8")
        return self._notebook(name, text) if name.endswith(".ipynb") else self._linked(name, text)

    def _notebook(self, name: str, text: str) -> str:
        notebook = json.loads(text)
        cells = notebook["cells"]
        for cell in cells:
            cell["source"] = "".join(cell["source"])
        for each in stepper_cells(name, cells):
            if isinstance(each.session, str):
                self.static.append(f"{name}, cell {each.number}: {each.session}")
            else:
                page = PurePosixPath(name).with_suffix(".html").as_posix()
                opens = each.needed and run_in_a_page([[*each.needed]])[0]
                told = self.sessions.add(each.session, page, each.needed if opens else ())
                _put_stepper(cells[each.number], told)
        for cell in cells:
            for output in cell.get("outputs", []):
                if KEPT in output.get("data", {}):
                    self._put_question(name, cell, output["data"])
        checked = {id(cells[each.number]): each.needed for each in exercise_cells(name, cells)}
        for cell in cells:
            if cell["metadata"].get("jupyter", {}).get("source_hidden"):
                cell["metadata"].setdefault("tags", []).append("hide-input")
            if cell["cell_type"] == "markdown":
                own = cell["source"]
                if cell is cells[0]:
                    own = own.removesuffix(link_to_page(name)).rstrip()
                    own = f"{own}\n\n{link_to_notebook(name)}"
                cell["source"] = self._linked(name, own)
            elif _is_machinery(cell["source"]):
                _leave_out_code(cell)
            elif CHECKS in cell["source"]:
                needed = checked.get(id(cell))
                cell["outputs"] = [
                    _shown("html", TO_CHECK if needed is None else exercise_html(cell, needed))
                ]
        notebook["metadata"].pop("widgets", None)
        return json.dumps(notebook)

    def _lesson(self, name: str) -> str:
        """A page with a lesson, played in the place of its pictures."""
        path = PurePosixPath(name)
        lesson = lesson_named(path.relative_to(LESSONS).with_suffix("").as_posix())
        session = begin(lesson)
        told = self.sessions.add(session, path.with_suffix(".html").as_posix())
        described = " ".join(lesson.description)
        still = static_lesson(session.lesson)
        return f"# {lesson.title}\n\n{described}\n\n{stepper_html(told, still)}\n"

    def _put_question(self, name: str, cell: dict[str, Any], kept: dict[str, Any]) -> None:
        """The element for the card of a question, and what follows from its answer."""
        question, _, fold = "".join(kept["text/markdown"]).partition(FOLD)
        data = {"name": f"{name} {cell.get('id')}", **kept[KEPT]}
        text = json.dumps(data).replace("</", "<\\/")
        holder = f'<div class="lab-asked"><script type="application/json">{text}</script></div>'
        cell["outputs"] = [
            _shown("markdown", question),
            _shown("html", holder),
            _shown("markdown", self._linked(name, f"{FOLD}{fold}")),
        ]
        _leave_out_code(cell)

    def _linked(self, name: str, text: str) -> str:
        """Markdown with its links changed to pages; those to the kit's own files become plain
        text."""

        def link(found: re.Match[str]) -> str:
            label, target = found.groups()
            if re.match(r"[a-z]+:|#", target) or self._is_page(name, target.partition("#")[0]):
                return found.group()
            return label

        return _LINK.sub(link, text)

    def _is_page(self, name: str, target: str) -> bool:
        path: list[str] = []
        for part in (PurePosixPath(name).parent / target).parts:
            path = path[:-1] if part == ".." else [*path, part]
        return "/".join(path) in self.documents


def _put_stepper(cell: dict[str, Any], session: dict[str, Any]) -> None:
    """The element for the stepper, around the drawing that is seen until the stepper is loaded: an
    output, or the first that is left in the fold of a question."""
    for output in cell["outputs"]:
        drawn, mark, after = text_of(output, "markdown").partition(f"\n\n{STEPPER}")
        if mark:
            before, _, drawing = drawn.rpartition("\n")
            held = stepper_html(session, drawing)
            output["data"]["text/markdown"] = f"{before}\n{held}{after}"
        elif STATIC in text_of(output):
            output["data"] = {"text/html": stepper_html(session, text_of(output))}


def stepper_html(session: dict[str, Any], still: str) -> str:
    """The element for a stepper; what is still is seen until it is loaded."""
    data = escape(json.dumps(session))  # no script: in Markdown it would become text
    return f'<div class="{HOLDER}" data-session="{data}">{still}</div>'


def exercise_html(cell: dict[str, Any], needed: list[str]) -> str:
    """The element for an exercise's cell; the note in it is seen where the page has no Python."""
    data = json.dumps({"needed": needed, "cell": cell["source"]}).replace("</", "<\\/")
    holder = f'<script type="application/json">{data}</script>{TO_CHECK}'
    return f'<div class="lab-exercise">{holder}</div>'


def _leave_out_code(cell: dict[str, Any]) -> None:
    """Leave out code that nothing runs in a page, and that is no lesson."""
    cell["metadata"].setdefault("tags", []).append("remove-input")
    cell["metadata"].pop("jupyter", None)


def _is_machinery(source: str) -> bool:
    """Does code only import?"""
    return all(isinstance(each, ast.Import | ast.ImportFrom) for each in ast.parse(source).body)


def _shown(kind: str, text: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {f"text/{kind}": text}, "metadata": {}}


def glossary_terms(markdown: str) -> dict[str, dict[str, str]]:
    """Every term of the glossary with its meaning, by section; of several names each."""
    terms: dict[str, dict[str, str]] = {}
    for section in markdown.split("\n## ")[1:]:
        found = terms[section.partition("\n")[0].lower()] = {}
        for row in re.findall(r"^\| (?!term |---)([^|]+) \| ([^|]+) \|", section, re.MULTILINE):
            names, meaning = (re.sub(r"[`*]", "", each).strip() for each in row)
            found |= {name.strip(): meaning for name in names.split(",")}
    return terms


CHECKS = ".check("

_SECONDS = 60
"""How long all cells of a notebook may take."""

_TRIED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from protocol_lab.spec_files import value_of_cells
for needed in json.load(sys.stdin):
    try:
        value_of_cells(needed)
        print("true", flush=True)
    except Exception:
        print("false", flush=True)
"""


@dataclass(frozen=True)
class ExerciseCell:
    """A cell that checks an answer: its number, and the sources of the statements it needs."""

    number: int
    needed: list[str]


def exercise_cells(name: str, cells: list[dict[str, Any]]) -> list[ExerciseCell]:
    """The exercises whose statements run where there is nothing but what a page has.

    name: the notebook's path from the kit's folder.
    """
    found = []
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code" and CHECKS in cell["source"]:
            before = statements_before(name, cells, number)
            if before is not None:
                found.append(ExerciseCell(number, before))
    tried = [[*each.needed, _without_check(cells[each.number])] for each in found]
    return [each for each, runs in zip(found, run_in_a_page(tried), strict=True) if runs]


def run_in_a_page(cells: list[list[str]]) -> list[bool]:
    """Which of these lists of cells run where there is nothing but what a page has?"""
    if not cells:
        return []
    words = [sys.executable, "-I", "-S", "-c", _TRIED, _kit().name]
    asked = json.dumps(cells)
    try:
        done = subprocess.run(
            words, input=asked, capture_output=True, encoding="utf-8", timeout=_SECONDS
        )
        said = done.stdout.split()
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode().split()
    told = [each == "true" for each in said]
    return told + [False] * (len(cells) - len(told))  # the others took too long


def _without_check(cell: dict[str, Any]) -> str:
    """A cell without its last line, which would begin the check."""
    tree = ast.parse(cell["source"])
    return ast.unparse(ast.Module(tree.body[:-1], []))


@cache
def _kit() -> tempfile.TemporaryDirectory:
    """A folder with what a page has of the kit, until the process ends."""
    folder = tempfile.TemporaryDirectory()
    zipfile.ZipFile(BytesIO(kit_archive())).extractall(Path(folder.name))
    return folder
