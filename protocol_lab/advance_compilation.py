"""Compiles, while JupyterLab is open, what the notebooks' first searches would have to wait for.

A process of its own, at the lowest priority, which ends with the one that started it. It takes the
specs in the order in which the notebooks come to them.
"""

import os
import re
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from protocol_lab.catalog import spec_names
from protocol_lab.errors import LabError
from protocol_lab.prepare import compile_all
from protocol_lab.system.folders import cache_folder
from protocol_lab.system.operating_system import cores, take_the_lowest_priority, try_lock

_NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

_WATCHED = 1.0
"""Seconds between two looks at whether the starting process still runs."""


def is_worthwhile() -> bool:
    """Is there a core to spare, and power from a plug?"""
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return cores() > 1 and not (battery and battery.power_plugged is False)


def in_reading_order() -> list[str]:
    """All specs of the catalog: first those that notebooks name, in the order in which they do.

    notebooks/README.md has the order of the notebooks.
    """
    known = spec_names()
    listed = (_NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    files = sorted(
        sorted(_NOTEBOOKS.rglob("*.ipynb")),
        key=lambda each: listed.find(
            f"| `{each.relative_to(_NOTEBOOKS).with_suffix('').as_posix()}` |"
        ),
    )
    named = [
        name
        for file in files
        for name in re.findall(r"\b\w+\.\w+\b", file.read_text(encoding="utf-8"))
        if name in known
    ]
    return list(dict.fromkeys([*named, *known]))


def run(parent: int) -> None:
    """Compile all specs, one after the other, until that process ends; unless another one does so
    already, there is no core to spare, or a battery is all the power there is."""
    take_the_lowest_priority()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    folder = cache_folder("advance-compilation")
    if folder is None:
        return  # nothing that is compiled here would be kept
    with (folder / "lock").open("wb") as file:
        if not try_lock(file):
            return
        for name in in_reading_order():
            if not is_worthwhile():
                return
            with suppress(LabError):  # whoever searches it is told
                compile_all(name)


def _end_with(parent: int) -> None:
    with suppress(psutil.Error):
        watched = psutil.Process(parent)
        while watched.is_running() and watched.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_WATCHED)
    os._exit(0)


if __name__ == "__main__":
    run(int(sys.argv[1]))
