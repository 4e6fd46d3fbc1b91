"""What the README claims, derived again."""

import re
from pathlib import Path

import pytest

from protocol_lab.catalog import load, spec_names
from protocol_lab.exploring.explore import explore
from protocol_lab.stepping.scenarios import read_scenario
from protocol_lab.temporal.check import check_property
from protocol_lab.temporal.claims import FAIRNESS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in README.splitlines()
    if re.match(r"\| `\w+\.\w+` \|", line)
]
TABLE = [row for row in ROWS if row[3] not in FAIRNESS]
TEMPORAL = [row for row in ROWS if row[3] in FAIRNESS]


def test_every_spec_has_a_row():
    assert sorted({row[0] for row in TABLE}) == spec_names()


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
    for path in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / path).exists(), path


def test_every_scenario_names_a_spec_of_the_catalog():
    for path in ROOT.glob("*_spec/scenarios/*.txt"):
        assert read_scenario(path).spec_name in spec_names()
