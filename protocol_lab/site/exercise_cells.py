"""The exercises of a notebook that a page can check: their cells, with the statements they need."""

import ast
import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from protocol_lab.page.engine_files import kit_archive
from protocol_lab.site.notebook_steppers import statements_before

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
