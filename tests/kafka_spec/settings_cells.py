"""Writes the golden cells of the table of settings: what our own searches found for its rows.

    python -m tests.kafka_spec.settings_cells

after a change of the model that is meant to change them: `cells.json` has a line for each of some
settings. The site's first page begins with some of them.
"""

import json
from typing import Any

from kafka_spec.settings import acknowledged_is_on_a_disk
from protocol_lab.model.transitions import evaluate
from real_systems.kafka.promise.cluster_settings import Settings
from real_systems.kafka.promise.promise_table import ROWS, Row, model_of
from tests import ROOT
from tests.wasm.searching import all_searched, compiled

FILE = ROOT / "real_systems" / "kafka" / "promise" / "cells.json"

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


def main() -> None:
    """Write the file, as WebAssembly searches; the tests compare it with the other engines."""
    asked = [(Settings(**{"min_isr": 2, **each}), row) for each in ASKED for row in ROWS]
    models = [(model_of(*each), each[1].judged) for each in asked]
    told = all_searched(compiled(models[0][0]), models, to_the_end=True, bytes=32 << 20)
    figures = iter(zip(asked, told, strict=True))
    lines = []
    for each in ASKED:
        cells = {row.name: figures_of(*next(figures)) for row in ROWS}
        lines.append(json.dumps({"settings": each, "cells": cells}))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def figures_of(asked: tuple[Settings, Row], told: dict[str, Any]) -> list[Any]:
    """The figures of a cell, as a search by WebAssembly tells them."""
    paths = told["paths"]
    lost = [name for name in asked[1].promises if name in paths]
    least = min((paths[name] for name in lost), key=len, default=None)
    is_destroyed = least is not None and evaluate(
        model_of(*asked), bytes.fromhex(least[-1]), acknowledged_is_on_a_disk
    )
    steps = {name: len(path) - 1 for name, path in paths.items()}
    return [told["distinct"], told["generated"], told["depth"], steps, bool(is_destroyed)]


if __name__ == "__main__":
    main()
