"""The search as a WebAssembly module counts what TLC counts, and finds what it finds, in Node.

Every golden run that a page could make: without symmetry, temporal properties and a constraint of
its own, and with states that fit into the memory.
"""

import pytest

from protocol_lab.catalog import load
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import steps_between
from protocol_lab.page.searches import is_broken, name_of, repeated
from real_systems.bookkeeper import ledger_settings
from real_systems.kafka.promise.cluster_settings import golden_cells
from tests.golden_table import Golden, as_told, golden_rows
from tests.kafka_spec.settings_cells import figures
from tests.wasm.searching import NODE, compiled, fits, searched

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="there is no Node to run WebAssembly"),
    pytest.mark.slow,
]

FILES = ("kafka", "bookkeeper", "bookkeeper_tweaks", "pulsar", "kraft", "kip_996", "kip_966")
ROWS = [
    row
    for file in FILES
    for row in golden_rows(file)
    if not (row.symmetry or row.property or row.condition)
]
OFTEN = ("kafka.finite_replicated_log", "kafka.kip_101", "bookkeeper.quorum_coverage_fencing")
SPECS = {row.spec_name: None for row in ROWS}


@pytest.mark.parametrize(
    "spec",
    [pytest.param(each, marks=() if each in OFTEN else pytest.mark.rarely) for each in SPECS],
)
def test_golden_runs(spec):
    """All runs of one spec, with one module for each layout."""
    modules, run = {}, 0
    for row in ROWS:
        model = load(spec).bind(**row.settings) if row.spec_name == spec else None
        if model is None or (row.complete and not fits(model, row.distinct)):
            continue
        model, told = found(row, model, modules)
        if told["state"] != "FULL":
            expect_as_told(row, model, told)
            run += 1
    assert run > 0


def found(row: Golden, model: Model, modules: dict[str, dict]) -> tuple[Model, dict]:
    """What the search tells, and the model: where a container is full, with more room in it, as
    `explore` goes on."""
    while True:
        name = name_of(model)
        modules[name] = modules.get(name) or compiled(model)
        told = searched(modules[name], model, row.invariants)
        if told["state"] != "fault":
            return model, told
        rows, broken, error = repeated(model, row.invariants, rows_of(told))
        if broken:
            path = [each.hex() for each in rows]
            return model, {**told, "state": "VIOLATED", "violated": broken, "path": path}
        model = model.widened(error.size)
        assert model is not None, error


def rows_of(told: dict) -> list[bytes]:
    return [bytes.fromhex(each) for each in told["path"]]


def expect_as_told(row: Golden, model: Model, told: dict) -> None:
    if row.complete:
        assert told["state"] == "COMPLETE", str(row)
        for figure in ("distinct", "generated", "depth"):
            assert told[figure] == getattr(row, figure), (str(row), figure)
        if row.per_action is not None:
            assert as_told(told["per_action"], row.per_action) == row.per_action, str(row)
        return
    rows = rows_of(told)
    assert (told["state"], told["violated"]) == ("VIOLATED", row.broken), str(row)
    assert len(rows) == row.trace_len, str(row)
    assert is_broken(model, row.broken, rows), str(row)
    assert len(steps_between(model, rows)) == len(rows) - 1


def test_a_search_to_the_end_finds_all_that_is_violated():
    """In the cells of the tables of settings, with the same counts, and by shortest paths."""
    cells = [*golden_cells(), *ledger_settings.golden_cells()]
    assert figures([cell[:2] for cell in cells]) == [kept for _, _, kept in cells]
