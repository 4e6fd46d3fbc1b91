"""What the README claims, derived again."""

import json
import re
import shlex
from importlib import import_module

import pytest

from benchmarks.spark import BESIDE_TLC, GROWING
from protocol_lab.catalog import load, spec_names
from protocol_lab.cli import main
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.traces.scenarios import parse_scenario, play, read_scenario
from tests import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def rows_below(header: str) -> list[list[str]]:
    """The cells of README's table whose header row begins with these words."""
    table = README[README.index(f"\n| {header} |") + 1 :].split("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [[cell.strip().strip("`") for cell in row] for row in rows]


TABLE = rows_below("spec | constants | invariants")
TEMPORAL = rows_below("spec | constants | property")
RATES = rows_below("spec | distinct states | native")
COMPLETE = [row for row in RATES if "loss" not in row[0]]
"""Searches to the end; one that a loss ends stops somewhere in its last level."""


def test_every_spec_has_a_row():
    assert sorted({row[0] for row in TABLE}) == spec_names()


@pytest.mark.parametrize("name", spec_names())
def test_every_spec_is_named_where_its_package_lists_its_variants(name):
    package, _, variant = name.rpartition(".")
    assert re.search(rf"\b{variant}\b", import_module(f"{package}_spec").__doc__)


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_the_table_of_verdicts(row):
    name, constants, invariants, verdict, distinct, size = row
    settings = dict(each.split("=") for each in constants.split())
    result = explore(load(name).bind(**settings), invariants=invariants.split(), progress=False)
    assert result.verdict == verdict
    if verdict == "violated":
        assert size == f"{len(result.trace_rows)} states"
    else:
        assert (distinct, size) == (f"{result.distinct:,}", str(result.depth))


@pytest.mark.slow
@pytest.mark.parametrize("row", COMPLETE, ids=lambda row: row[0])
def test_the_table_of_rates_counts_what_it_says(row):
    name, size = row[0].partition(",")[0].strip("`"), row[1]
    about = int(size.replace(",", ""))
    [constants] = [each for spec, each, *_ in BESIDE_TLC if spec == name]
    if row[0] != name:  # the larger one
        constants = GROWING[about]
    assert explore(load(name).bind(**constants), invariants=[], progress=False).distinct == about


@pytest.mark.slow
@pytest.mark.parametrize("row", TEMPORAL, ids=lambda row: f"{row[0]}-{row[2]}-{row[3]}")
def test_the_table_of_temporal_verdicts(row):
    name, constants, claim, fairness, verdict, figure = row
    settings = dict(each.split("=") for each in constants.split())
    result = check_property(load(name).bind(**settings), claim, fairness=fairness, progress=False)
    assert result.verdict == verdict
    said = f"{result.distinct:,}" if verdict == "holds" else f"state {result.loop_from}"
    assert said == figure


def test_the_notebooks_and_files_that_it_names_exist():
    named = re.findall(r"^\| `(\d\S+|\w+/\S+)` \|", README, re.MULTILINE)
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


def test_the_first_example_is_a_scenario_that_is_played():
    [shown] = re.findall(r"```\n(send_fetch_request.*?)```", README, re.DOTALL)
    steps = [line.text for line in parse_scenario(f"# spec: kafka.kip_966\n{shown}").lines]
    played = [line.text for line in read_scenario(STANDING).lines]
    assert [*steps, "no_committed_record_lost_globally"] == played


@pytest.mark.slow
def test_the_first_example_is_what_its_command_finds(tmp_path, capsys):
    assert main([*shlex.split(COMMAND), "--trace", str(tmp_path / "lost.txt")]) == 1
    found = play(read_scenario(tmp_path / "lost.txt"))
    shown = play(read_scenario(STANDING))
    assert found.steps == shown.steps


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
