"""The kit counts what TLC counts, and finds what it finds: every golden run, natively.

Complete runs must agree in distinct and generated states, depth, and what each action generated.
Where TLC stopped at a violation, what it had counted by then depends on its order; such runs must
agree in the length of the trace, and the trace is replayed by the uncompiled functions.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection

import pytest

from protocol_lab.catalog import load
from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.request import SearchRequest
from protocol_lab.cli import main
from protocol_lab.compiler import building
from protocol_lab.traces.scenarios import play, read_scenario
from tests.golden_table import SPECS, Golden, as_told, golden_rows

# Golden file: its runs, and how many of them use symmetry.
FILES = {
    "kafka": (102, 6),
    "bookkeeper": (44, 4),
    "bookkeeper_tweaks": (22, 0),
    "pulsar": (36, 0),
    "kraft": (26, 0),
    "kip_996": (56, 1),
    "kip_966": (107, 1),
    "with_conditions": (2, 0),
}
ROWS = [row for file in FILES for row in golden_rows(file)]

# Compiling all specs takes a minute; these stand for them in a quick run.
QUICK = (
    "kafka.id_sequence",
    "kafka.finite_replicated_log",
    "kafka.kip_320",
    "bookkeeper.quorum_coverage_fencing",
)


UNCOMPILED = 900
"""The reference engine repeats the runs that have at most so many states."""


def marked(rows: list[Golden], often: Collection[Golden]) -> list:
    """The rows as test parameters: slow where the spec is not one of the quick ones, and those that
    are not run often."""
    found = []
    for row in rows:
        marks = [] if row.spec_name in QUICK else [pytest.mark.slow]
        marks += [] if row in often else [pytest.mark.rarely]
        found.append(pytest.param(row, id=str(row), marks=marks))
    return found


def largest(rows: list[Golden], most: int) -> list[Golden]:
    """Of each original the rows with the most distinct states."""
    found = []
    for spec in {row.spec: None for row in rows}:
        own = [row for row in rows if row.spec == spec]
        found += sorted(own, key=lambda row: row.distinct, reverse=True)[:most]
    return found


def check(row: Golden, capsys, *more: str) -> dict:
    """Run the row's command line and return what it says as JSON."""
    main([*row.words, "--json", *more])
    return json.loads(capsys.readouterr().out)


COMPLETE = [row for row in ROWS if row.complete]


@pytest.mark.parametrize("row", marked(COMPLETE, largest(COMPLETE, 1)))
def test_complete_run(row, capsys):
    expect_as_told(row, check(row, capsys))


SMALL = [row for row in COMPLETE if row.distinct <= UNCOMPILED]


@pytest.mark.parametrize("row", marked(SMALL, largest(SMALL, 1)))
def test_complete_run_uncompiled(row, capsys):
    most = ("--max-states", str(2 * row.distinct + 1))
    expect_as_told(row, check(row, capsys, "--engine", "python", *most))


def expect_as_told(row: Golden, said: dict) -> None:
    """A complete run agrees with the record in every figure."""
    assert (said["verdict"], said["exhaustive"]) == ("holds", True)
    for figure in ("distinct", "generated", "depth"):
        assert said[figure] == getattr(row, figure), figure
    if row.per_action is not None:
        assert as_told(said["per_action"], row.per_action) == row.per_action


VIOLATED = [row for row in ROWS if not row.complete and not row.property]


@pytest.mark.parametrize("row", marked(VIOLATED, VIOLATED))
def test_violated_run(row, capsys, tmp_path):
    said = check(row, capsys, "--trace", str(tmp_path / "trace.txt"))
    assert (said["verdict"], said["exhaustive"]) == ("violated", False)
    assert said["violated"] == row.broken
    assert said["trace_states"] == row.trace_len
    walk = play(read_scenario(tmp_path / "trace.txt"))
    assert walk.moment.depth == row.trace_len
    assert [step.action for step in walk.steps] == [step["action"] for step in said["trace"]]


TEMPORAL = [row for row in ROWS if row.property]

VACUOUS = {
    ("l3_v1", "EventuallyLeaderElected"),  # there is a leader all the time
    ("l3_v1", "NotStuckInProspective"),  # nothing is lost, so nobody times out
    ("l3_conn1", "EventuallyLeaderElected"),
    ("l3_crash1", "EventuallyLeaderElected"),  # the constraint cuts off what follows a crash
    ("l3_crash1", "NotStuckInProspective"),
    ("l3_rm1", "EventuallyLeaderElected"),
    *((f"l_{name}", "EventuallyRuns") for name in ("b2_m2_v1", "b2_m1_v1_isr1")),  # nobody stops
    *((f"l_b2_m2_{name}", "EventuallyRuns") for name in ("v1_shrink1", "v0_fence1", "v1_fence1")),
    *((f"l_b2_m2_{name}", "EventuallyUnfenced") for name in ("v1", "v1_shrink1")),
    ("l_b2_m2_v1", "AlterPartitionEpochEventuallyReachedOrZero"),
}
"""The runs whose claim holds, as in TLC, because its premise is never true on a fair run."""


def as_temporal(row: Golden):
    """The row as a test parameter, marked if its verdict is about nothing."""
    is_vacuous = (row.id, row.property) in VACUOUS
    marks = [pytest.mark.slow, *([pytest.mark.vacuous] if is_vacuous else [])]
    return pytest.param(row, id=str(row), marks=marks)


@pytest.mark.parametrize("row", [as_temporal(row) for row in TEMPORAL])
def test_temporal_run(row, capsys, tmp_path):
    """TLC's lassos are no shortest ones, so ours may come to their loop earlier."""
    trace = tmp_path / "trace.txt"
    main([*row.property_words, "--json", "--trace", str(trace)])
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == ("holds" if row.complete else "violated")
    assert said["vacuous"] == ((row.id, row.property) in VACUOUS)
    if not row.complete:
        assert said["loop_from"] <= row.trace_len
        assert play(read_scenario(trace)).loop_from == said["loop_from"]


def test_every_run_is_tested():
    symmetric = [row for row in ROWS if row.symmetry]
    counted = {
        file: tuple(sum(row.file == file for row in rows) for rows in (ROWS, symmetric))
        for file in FILES
    }
    assert counted == FILES
    assert {row.spec for row in ROWS} == set(SPECS)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.rarely)
        for name in dict.fromkeys(row.spec_name for row in ROWS)
    ],
)
def test_few_compilations(name, monkeypatch):
    """All golden runs of a spec share three layouts at most, and those of a layout its actions and
    properties, each compiled once; of actions that constants rule out, the guards alone as well."""
    monkeypatch.setattr(building, "loaded", {})
    asked: dict[tuple, list[str]] = defaultdict(list)
    for row in ROWS:
        if row.spec_name == name:
            asked[tuple(row.settings.items())] += row.invariants
    compiled, declared = Counter(), {}
    for settings, invariants in asked.items():
        model = load(name).bind(**dict(settings))
        before = len(building.loaded)
        NativeSearch(model, SearchRequest(*model.choose([*dict.fromkeys(invariants)])))
        layout = repr(model.layout)
        compiled[layout] += len(building.loaded) - before
        spec = model.spec
        checked = (spec.invariants, spec.step_invariants, spec.expected)
        pieces = (spec.actions, spec.actions, spec.constraints, *checked)
        declared[layout] = sum(map(len, pieces))
    assert 1 <= len(compiled) <= 3
    assert all(0 < count <= declared[layout] for layout, count in compiled.items())
