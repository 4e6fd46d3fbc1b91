"""Writes the golden cells of the tables of settings: what our own searches found for the rows.

    python -m tests.kafka_spec.settings_cells

after a change of a model that is meant to change them: each file has a line for each of some
settings. The site's first page begins with some of them.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocol_lab.model.transitions import evaluate
from real_systems.bookkeeper import ledger_settings
from real_systems.kafka.promise.cluster_settings import FIRST
from real_systems.promise.promise_table import Row, Settings
from tests import ROOT
from tests.wasm.searching import all_searched, compiled

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
    write(folder / "kafka" / "promise" / "cells.json", FIRST, ASKED)
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
        told = all_searched(compiled(asked[0][0]), asked, to_the_end=True, bytes=32 << 20)
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
        settings.model(row), bytes.fromhex(least[-1]), settings.is_destroyed(row)
    )
    steps = {name: len(path) - 1 for name, path in paths.items()}
    return [told["distinct"], told["generated"], told["depth"], steps, bool(is_destroyed)]


if __name__ == "__main__":
    main()
