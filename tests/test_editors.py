"""What an editor makes of a spec: no fault where there is none, and names after the dot.

Pyright stands behind VS Code's Python, Jedi behind the notebooks of JupyterLab.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import jedi
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from protocol_lab.catalog import load
from tests import ROOT
from tests.work_units import one_in

SPECS = [
    *sorted(ROOT.glob("examples/*.py")),
    ROOT / "examples" / "my_protocol" / "my_protocol.py",
    *sorted(ROOT.glob("labs/*/*.py")),
    ROOT / "kafka_spec" / "kip_320.py",
    ROOT / "kraft_spec" / "kip_853.py",
]

BEGINNING = re.compile(r"^def \w+\(\s*s: State,\s*c: Constants\b[^\"]*?:\n", re.MULTILINE)
"""The first line or lines of a function of a state and constants."""

CELL = """
from typing import Annotated, NamedTuple
from protocol_lab import *

class Constants(NamedTuple):
    clients: Annotated[int, Limits(1, 5, "clients")] = 2

Client = Node("clients")

class State(Struct):
    holder: Client
    asked: Per(Client, Int8)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> None:
    """Jedi's files are not locked: another process may read one while it is being written."""
    monkeypatch.setattr(jedi.settings, "cache_directory", str(tmp_path))


@pytest.mark.slow
def test_pyright_finds_no_fault():
    """basedpyright is Pyright in a wheel, with the Node.js that runs it; its own rules are off."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--project", str(ROOT)]
    done = subprocess.run(
        [*command, "--pythonpath", sys.executable], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 100
    assert [
        f"{each['file']}:{each['range']['start']['line'] + 1} {each['message']}"
        for each in found["generalDiagnostics"]
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", one_in(4, SPECS), ids=lambda path: path.stem)
def test_fields_and_constants_are_completed_in_a_file(path):
    package = path.parent.name
    name = f"{package.removesuffix('_spec')}.{path.stem}"
    spec = load(name if package.endswith("_spec") else path)
    for letter, names in (("s", spec.state.field_types), ("c", spec.constants._fields)):
        assert set(names) <= set(completed(path, letter))


def completed(path: Path, letter: str) -> list[str]:
    """What is proposed after `s.` or `c.` on a new first line of a function in the file."""
    text = path.read_text(encoding="utf-8")
    body = BEGINNING.search(text).end()
    line = f"    {letter}."
    changed = jedi.Script(f"{text[:body]}{line}\n{text[body:]}", path=path)
    return [each.name for each in changed.complete(text.count("\n", 0, body) + 1, len(line))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "names"), [("s.", {"holder", "asked"}), ("c.", {"clients"})], ids=["s", "c"]
)
def test_fields_and_constants_are_completed_in_a_notebook(line, names):
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.run_cell(CELL)
    cell = f"def ask(s: State, c: Constants, client: Client):\n    {line}"
    with provisionalcompleter():
        assert names <= {each.text for each in shell.Completer.completions(cell, len(cell))}
