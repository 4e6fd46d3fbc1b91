"""The search as a WebAssembly module counts what TLC counts, and finds what it finds, in Node.

Every golden run that a page could make: without symmetry, temporal properties and a constraint of
its own, and with states that fit into the memory.

After a change of a model that is meant to change the golden cells of the tables of settings,

    python -m tests.wasm.test_search_module

writes them: each file has a line for each of some settings. The site's first page begins with some.
"""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from protocol_lab.catalog import load
from protocol_lab.model.constants import as_text, show
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import steps_between
from protocol_lab.model.transitions import evaluate, initial
from protocol_lab.page.searches import is_broken, name_of, question, repeated
from real_systems.bookkeeper import ledger_settings
from real_systems.kafka.cluster_settings import FIRST
from real_systems.promise_table import Row, Settings
from tests import ROOT
from tests.golden_table import Golden, as_told, golden_rows
from tests.work_units import one_of

NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="there is no Node to run WebAssembly"),
    pytest.mark.slow,
]


BYTES = 300 << 20
"""The memory of a search."""

_RUN = """
import { newSearch } from "./protocol_lab/wasm/js/search.js";
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
const { made, questions } = JSON.parse(readFileSync(0));
const module = new WebAssembly.Module(inflateRawSync(Buffer.from(made.module, "base64")));
console.log(JSON.stringify(questions.map((asked) => {
  const search = newSearch(module, made, asked);
  while (search.step() === "GOING_ON");
  return search.told();
})));
"""


def compiled(model: Model) -> dict[str, Any]:
    """The module that searches a model for any of its invariants, with its description."""
    properties = [*model.spec.invariants, *model.spec.step_invariants]
    asked = {
        "spec": model.spec.name,
        "constants": {name: as_text(value) for name, value in show(model.constants).items()},
        "invariants": [each.name for each in properties],
    }
    words = [sys.executable, "-m", "protocol_lab.wasm.search_module"]
    return json.loads(_answer(words, asked))


def searched(
    made: dict[str, Any], asked: list[tuple[Model, list[str]]], **more: Any
) -> list[dict[str, Any]]:
    """What the searches of several models tell, each for its invariants, in one process."""
    questions = []
    for model, invariants in asked:
        rows = [each.row for each in initial(model)]
        questions.append({**question(model, invariants, rows), "bytes": BYTES, **more})
    words = [NODE, "--input-type=module", "-e", _RUN]
    return json.loads(_answer(words, {"made": made, "questions": questions}))


def fits(model: Model, states: int) -> bool:
    """Do so many states fit into the memory? Each takes its row, its parent and four slots."""
    return states * (8 * model.words + 8 + 32) < BYTES


def _answer(words: list[str], asked: Any) -> str:
    done = subprocess.run(
        words, input=json.dumps(asked), cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


FILES = ("kafka", "bookkeeper", "bookkeeper_tweaks", "pulsar", "kraft", "kip_996", "kip_966")
ROWS = [
    row
    for file in FILES
    for row in golden_rows(file)
    if not (row.symmetry or row.property or row.condition)
]
SPECS = {row.spec_name: None for row in ROWS}


@pytest.mark.parametrize("spec", one_of(SPECS))
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
        [told] = searched(modules[name], [(model, row.invariants)])
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


# --- The golden cells of the tables of settings --------------------------------------------------


ASKED = [
    {"release": "3.6", "elr": False},
    {"release": "3.7", "elr": False},
    {"release": "3.9", "elr": False},
    {"release": "4.0"},
    {"release": "4.1"},
    {"release": "4.3"},
    {"release": "3.9", "elr": False, "unclean": True},
    {"release": "4.1", "unclean": True},
    {"release": "3.7", "elr": False, "min_isr": 1},
    {"acks": "1"},
    {"acks": "0", "release": "3.9", "elr": False},
    {"replicas": 2, "racks": 2},
    {"replicas": 2, "racks": 2, "min_isr": 3, "release": "3.6", "elr": False},
    {"replicas": 4, "racks": 2, "min_isr": 3},
]
"""What differs from three replicas in three racks, min.insync.replicas=2, acks=all, 4.3, ELR."""


LEDGERS = [
    *(changed for _, changed in ledger_settings.Settings.columns.values()),
    {"release": "4.13"},
    {"ack_quorum": 1},
    {"write_quorum": 1, "ack_quorum": 1},
]
"""What differs from quorums of 2 and the defaults of BookKeeper."""


def main() -> None:
    """Write the file, as WebAssembly searches; the tests compare it with the other engines."""
    folder = ROOT / "real_systems"
    write(folder / "kafka" / "cluster_cells.json", FIRST, ASKED)
    write(folder / "bookkeeper" / "ledger_cells.json", ledger_settings.FIRST, LEDGERS)


def write(file: Path, first: Settings, asked: list[dict[str, Any]]) -> None:
    """Write the cells of these settings, each what differs from the first, to a file."""
    lines = []
    for each in asked:
        settings = replace(first, **each)
        found = figures([(settings, row) for row in first.rows])
        cells = {row.name: figures for row, figures in zip(first.rows, found, strict=True)}
        lines.append(json.dumps({"settings": each, "cells": cells}))
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def figures(cells: list[tuple[Settings, Row]]) -> list[list[Any]]:
    """The figures of cells, as searches by WebAssembly tell them."""
    by_layout: dict[tuple[str, str], list[int]] = {}
    for place, (settings, row) in enumerate(cells):
        model = settings.model(row)
        by_layout.setdefault((model.spec.name, repr(model.layout)), []).append(place)
    found = {}
    for places in by_layout.values():
        asked = [
            (cells[place][0].model(cells[place][1]), cells[place][1].judged) for place in places
        ]
        told = searched(compiled(asked[0][0]), asked, to_the_end=True, bytes=32 << 20)
        found |= {
            place: figures_of(cells[place], each) for place, each in zip(places, told, strict=True)
        }
    return [found[place] for place in range(len(cells))]


def figures_of(asked: tuple[Settings, Row], told: dict[str, Any]) -> list[Any]:
    """The figures of a cell, as a search by WebAssembly tells them."""
    settings, row = asked
    paths = told["paths"]
    lost = [name for name in row.promises if name in paths]
    least = min((paths[name] for name in lost), key=len, default=None)
    is_destroyed = least is not None and evaluate(
        settings.model(row), bytes.fromhex(least[-1]), settings.is_destroyed
    )
    steps = {name: len(path) - 1 for name, path in paths.items()}
    return [told["distinct"], told["generated"], told["depth"], steps, bool(is_destroyed)]


@pytest.mark.rarely
def test_a_search_to_the_end_finds_all_that_is_violated():
    """In the cells of the tables of settings, with the same counts, and by shortest paths."""
    cells = [*FIRST.golden_cells(), *ledger_settings.FIRST.golden_cells()]
    assert figures([cell[:2] for cell in cells]) == [kept for _, _, kept in cells]


if __name__ == "__main__":
    main()
