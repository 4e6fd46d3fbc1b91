"""The guide to writing specs: its code, put together, is a module that runs."""

import re
from pathlib import Path

import pytest

import protocol_lab
from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.drawing.pictures import picture
from protocol_lab.explore import explore
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import initial
from protocol_lab.traces.scenarios import play, read_scenario
from tests import ROOT

GUIDE = ROOT / "docs" / "writing_specs.md"


@pytest.fixture(scope="module")
def lock(tmp_path_factory) -> Path:
    """All Python of the guide as one file; loading it runs every assertion in it."""
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    file = tmp_path_factory.mktemp("guide") / "lock.py"
    file.write_text("\n\n".join(blocks), encoding="utf-8")
    return file


@pytest.mark.slow
def test_the_code_of_the_guide_runs_and_is_compiled(lock):
    spec = load(lock)
    found = explore(spec.bind(), progress=False)
    assert (found.verdict, found.never_reached) == ("holds", [])
    assert found.distinct == explore(spec.bind(), engine="python", progress=False).distinct
    row = next(initial(spec.bind())).row
    assert "has the lock" in picture(spec.bind(), row)


def test_the_scenario_of_the_guide_and_how_several_items_are_removed(lock, monkeypatch):
    monkeypatch.chdir(lock.parent)
    (text,) = re.findall(r"^```text\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    begun, end = text.split("restart()")
    several = lock.parent / "several.txt"
    several.write_text(f"{begun}ask(client=3)\nrestart(){end}", encoding="utf-8")
    walk = play(read_scenario(several))
    model = walk.model
    assert [each.kind for each in view(model.layout, walk.moment.row).messages] == ["grant"]
    (lock.parent / "lock.txt").write_text(text, encoding="utf-8")
    assert main(["replay", "lock.txt"]) == 0
    found = explore(model, progress=False)
    assert found.verdict == "holds"
    assert found.distinct == explore(model, engine="python", progress=False).distinct


@pytest.mark.slow
def test_the_commands_of_the_guide_run(lock, capsys, monkeypatch):
    monkeypatch.chdir(lock.parent)
    text = GUIDE.read_text(encoding="utf-8")
    commands = re.findall(r"^python3 lab.py (check lock.py .*)$", text, re.MULTILINE)
    assert [main(each.split()) for each in commands] == [0, 1, 0]


def test_every_name_of_the_tables_is_there():
    named = re.findall(r"`(\w+)(?:\(|`)", GUIDE.read_text(encoding="utf-8"))
    helpers = set(protocol_lab.__all__) - {"addition", "capacity", "find", "erase"}
    helpers -= {"CapacityExceeded", "LabError", "NEXT", "Limits", "Where", "flag"}
    helpers -= {"always", "is_in", "only", "HOLDS", "Spec"}
    assert sorted(helpers - set(named)) == []
