"""A protocol of one's own, from the command that begins it to its test and its notebook."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from protocol_lab import LabError
from protocol_lab import new_protocol as module
from protocol_lab.cli import main
from protocol_lab.new_protocol import TEMPLATE, new_protocol
from tests import ROOT


@pytest.mark.slow
def test_what_is_begun_runs(here, capsys):
    assert main(["new", "two_steps", "my folder"]) == 0
    assert "Begin with: check my folder/two_steps.py" in capsys.readouterr().out
    written = {each.name for each in (here / "my folder").iterdir()}
    assert written == {each.name.replace("my_protocol", "two_steps") for each in template()}
    for each in (here / "my folder").iterdir():
        assert "my_protocol" not in each.read_text(encoding="utf-8")
    assert len((here / "my folder" / "README.md").read_text(encoding="utf-8").split("\n")) < 15
    assert main(["check", "my folder/two_steps.py", "--trace", "found.txt"]) == 1
    assert main(["replay", "found.txt"]) == 0
    assert main(["check", "my folder/two_steps.py", "--set", "remembers=true"]) == 0


def template() -> list[Path]:
    return [each for each in TEMPLATE.iterdir() if each.is_file()]


@pytest.mark.slow
def test_its_test_passes(here):
    new_protocol("two_steps", here)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(here)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=here)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_its_notebook_steps_breaks_explores_and_draws(here, capsys):
    new_protocol("two_steps", here)
    notebook = json.loads((here / "two_steps.ipynb").read_text(encoding="utf-8"))
    scope: dict = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            *lines, last = "".join(cell["source"]).split("\n")
            exec("\n".join(lines), scope)
            shown.append(eval(last, scope))
    stepper, pictures, graph = (each for each in shown if each is not None)
    assert type(stepper).__name__ == "Stepper"
    assert "<svg" in pictures.data or "image/svg" in pictures.data
    assert "<svg" in graph.data or "image/svg" in graph.data
    out = capsys.readouterr().out
    assert "executed_at_most_once" in out
    assert "holds" in out


@pytest.mark.parametrize("name", ["two-phase", "2pc", "class", "", "Two", "../up", "a b"])
def test_a_name_that_no_module_can_have_is_refused(here, name):
    with pytest.raises(LabError, match="can't be the name of a module: use small letters"):
        new_protocol(name)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ["queue", "json", "winreg", "numpy", "protocol_lab", "__main__"])
def test_the_name_of_a_module_is_refused(here, name):
    with pytest.raises(LabError, match="is the name of a module that Python has already"):
        new_protocol(name)
    assert list(here.iterdir()) == []


def test_nothing_is_overwritten(here):
    (here / "README.md").write_text("mine", encoding="utf-8")
    with pytest.raises(LabError, match=r"README.md exists already: choose another name or folder"):
        new_protocol("two_steps", here)
    assert [each.name for each in here.iterdir()] == ["README.md"]
    with pytest.raises(LabError, match="can't be written"):
        new_protocol("two_steps", here / "README.md" / "below")


def test_the_package_installs_the_example():
    packaging = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    installed = packaging["tool"]["setuptools"]["data-files"]
    [place] = [place for place in installed if module._INSTALLED.as_posix().endswith(place)]
    [files] = installed[place]
    assert Path(files).parent == TEMPLATE.relative_to(ROOT)
