"""What docs/results.md claims, derived again."""

import pytest

from benchmarks.spark import GROWING
from benchmarks.tlc import BESIDE
from protocol_lab.catalog import load, spec_names
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from tests import ROOT

RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def rows_below(header: str) -> list[list[str]]:
    """The cells of the table whose header row begins with these words."""
    table = RESULTS[RESULTS.index(f"\n| {header} |") + 1 :].split("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [[cell.strip().strip("`") for cell in row] for row in rows]


TABLE = rows_below("spec | constants | invariants")
TEMPORAL = rows_below("spec | constants | property")
RATES = rows_below("spec | distinct states | native")
COMPLETE = [row for row in RATES if "loss" not in row[0]]
"""Searches to the end; one that a loss ends stops somewhere in its last level."""


def test_every_spec_has_a_row():
    assert sorted({row[0] for row in TABLE}) == spec_names()


@pytest.mark.slow
def test_the_table_says_what_the_configurations_say():
    compared = 0
    for name, constants, _, verdict, distinct, _ in TABLE:
        spec = load(name)
        asked = spec.bind(**dict(each.split("=") for each in constants.split())).constants
        for each in spec.configurations:
            known = each.expects
            is_same = verdict == "holds" and spec.bind(each.name).constants == asked
            if is_same and known.distinct and known.violated_in is None:
                assert distinct == f"{known.distinct:,}", (name, each.name)
                compared += 1
    assert compared > 5


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
    [constants] = [each for spec, each, *_ in BESIDE if spec == name]
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
