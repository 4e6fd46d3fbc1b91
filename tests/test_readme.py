"""What the README claims, derived again."""

import json
import re
import shlex
from importlib import import_module

import pytest

from protocol_lab.catalog import spec_names
from protocol_lab.cli import main
from protocol_lab.traces.scenarios import play, read_scenario
from tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", spec_names())
def test_every_spec_is_named_where_its_package_lists_its_variants(name):
    package, _, variant = name.rpartition(".")
    assert re.search(rf"\b{variant}\b", import_module(f"{package}_spec").__doc__)


def test_the_notebooks_and_files_that_it_names_exist():
    lessons = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\d\S+|\w+/\S+)` \|", lessons, re.MULTILINE)
    assert named
    assert sorted(named) == sorted(
        str(path.relative_to(ROOT / "notebooks").with_suffix(""))
        for path in (ROOT / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    )
    for path in re.findall(r"\]\(((?!https:)[^)]+)\)", README):
        assert (ROOT / path).exists(), path


[COMMAND] = re.findall(r"^python3 lab\.py (check kafka\.kip_966 .*)$", README, re.M)
"""The command of the first example."""
STANDING = ROOT / "kafka_spec/scenarios/kip_966_last_replica_standing.txt"


@pytest.mark.slow
def test_the_first_example_is_what_its_command_finds(tmp_path, capsys):
    assert main([*shlex.split(COMMAND), "--trace", str(tmp_path / "lost.txt")]) == 1
    found = play(read_scenario(tmp_path / "lost.txt"))
    shown = play(read_scenario(STANDING))
    assert found.steps == shown.steps
    assert f"This command finds it in {len(found.steps)} steps" in " ".join(README.split())


@pytest.mark.slow
def test_the_same_search_with_elr_loses_nothing(capsys):
    words = shlex.split(COMMAND.replace("release_4_0", "release_4_1"))
    assert main([*words, "--json"]) == 0
    said = re.search(r"the same search visits ([\d,]+) states", README)[1]
    assert f"{json.loads(capsys.readouterr().out)['distinct']:,}" == said


@pytest.mark.slow
def test_every_scenario_names_a_spec_of_the_catalog():
    for path in ROOT.glob("*_spec/scenarios/*.txt"):
        assert read_scenario(path).spec_name in spec_names()
