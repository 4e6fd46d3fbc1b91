"""The golden cells of the table of settings: what our own searches found for each of its rows.

`tests/golden/settings.json` has a line for each of some settings, and for each row its distinct
and generated states, its depth, and the length of the shortest path to each broken promise. To
write it anew, after a change of the model that is meant to change it:

    python -m tests.kafka_spec.settings_cells
"""

import json
from typing import Any

from protocol_lab.explore import explore
from real_systems.kafka.promise.cluster_settings import Settings
from real_systems.kafka.promise.promise_table import ROWS, Row, model_of
from tests.golden_table import FOLDER

FILE = FOLDER / "settings.json"

ASKED = [
    {"release": "3.6", "elr": False},
    {"release": "3.7", "elr": False},
    {"release": "3.9", "elr": False},
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


def settings_of(asked: dict[str, Any]) -> Settings:
    """The settings of a line of the file."""
    return Settings(**{"min_isr": 2, **asked})


def golden_cells() -> list[tuple[Settings, Row, list[Any]]]:
    """Each cell of the file, with its figures."""
    rows = {each.name: each for each in ROWS}
    lines = json.loads(FILE.read_text(encoding="utf-8"))
    return [
        (settings_of(line["settings"]), rows[name], figures)
        for line in lines
        for name, figures in line["cells"].items()
    ]


def main() -> None:
    """Write the file."""
    lines = []
    for asked in ASKED:
        found = {row.name: _figures(settings_of(asked), row) for row in ROWS}
        lines.append(json.dumps({"settings": asked, "cells": found}))
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _figures(settings: Settings, row: Row) -> list[Any]:
    bound = model_of(settings, row)
    found = explore(bound, invariants=row.judged, to_the_end=True, progress=False)
    steps = {
        name: len(explore(bound, invariants=[name], progress=False).trace)
        for name in row.judged
        if found.violating[name]
    }
    return [found.distinct, found.generated, found.depth, steps]


if __name__ == "__main__":
    main()
