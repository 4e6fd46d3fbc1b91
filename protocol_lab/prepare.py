"""Compiles in advance what first searches would wait for.

`lab.py prepare` compiles and checks everything, so that the kit works offline. While JupyterLab is
open, `python -m protocol_lab.prepare PID` compiles at the lowest priority, in the order of the
notebooks, until the process PID ends.
"""

import os
import re
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from protocol_lab.catalog import load, package_folder, spec_names
from protocol_lab.distance.nearest_violation import Nearness
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.liveness.claims import claims_something
from protocol_lab.model.transitions import initial
from protocol_lab.system.folders import cache_folder
from protocol_lab.system.operating_system import cores, take_the_lowest_priority, try_lock
from protocol_lab.system.programs import find_dot, find_java
from protocol_lab.teaching.challenges import challenges_of, shortest
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of


def prepare() -> int:
    """Compile every spec for the layouts that the kit uses, play every scenario, solve every
    challenge, and look for Java and dot.

    Prints a line for each; returns 0 if all is well, 3 if something is missing.
    """
    problems = []
    for name in spec_names():
        problems += _report(f"{name}: compiled and explored", lambda name=name: compile_all(name))
    for package in sorted({name.partition(".")[0] for name in spec_names()}):
        count = len(list(package_folder(package).glob("scenarios/*.txt")))
        problems += _report(f"{package}: {count} scenarios played", lambda p=package: _play_all(p))
        count = len(challenges_of(package))
        problems += _report(
            f"{package}: {count} challenges solved", lambda p=package: _solve_all(p)
        )
    problems += _report("Java for Spark", find_java)
    problems += _report("Graphviz", find_dot)
    for problem in problems:
        print(problem)
    print(
        "Everything is ready and works without a network."
        if not problems
        else "Not everything works."
    )
    return 3 if problems else 0


def _report(title: str, work) -> list[str]:
    began = time.perf_counter()
    try:
        work()
    except LabError as error:
        print(f"✗ {title}")
        return [str(error)]
    print(f"✓ {title} ({time.perf_counter() - began:.1f} s)")
    return []


def compile_all(name: str) -> None:
    """Compile a spec for the layouts that the kit uses, by small searches. Raises LabError."""
    shaped = [read_scenario(path).model() for path in scenarios_of(name)]
    models = {tuple(each.layout.offsets.items()): each for each in (load(name).bind(), *shaped)}
    for model in models.values():
        explore(model, max_states=10_000, progress=False)
        Nearness(model, max_states=10_000).ask(next(initial(model)).row)
        for each in model.spec.properties:
            if claims_something(model, each):
                check_property(model, each.name, max_states=1_000, progress=False)


def _play_all(package: str) -> None:
    for path in scenarios_of(package):
        play(read_scenario(path))


def _solve_all(package: str) -> None:
    for each in challenges_of(package):
        if shortest(each) is None:
            raise LabError(f"The challenge {each.name!r} can't be solved.")


# --- While JupyterLab is open ---------------------------------------------------------------------

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
