"""What the checks in compiled code cost: searches with them and without them, in turns.

    .venv/bin/python -m benchmarks.checks [--runs 5] [--turns 2]

The checks are those of an index, an overflow, a division by zero, the room of a container, and a
state that an action changed before it refused. The variant without them is compiled by processes
of this benchmark alone, into a cache of its own: the kit has no switch for it. Searches run on one
core, stop at a number of states, and are timed without compiling.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measurement import machine

SEARCHES = {
    "kafka.kip_320": (
        None,
        {"replicas": 3, "log_size": 3, "max_records": 3, "max_leader_epoch": 3},
        3_000_000,
    ),
    "bookkeeper.protocol": ("shipped", {}, 1_000_000),
    "pulsar.compaction": (None, {"message_sent_limit": 6, "compaction_times_limit": 6}, 1_000_000),
    "kraft.kip_853": ("shipped", {}, 500_000),
}
"""Of each protocol a spec, its configuration and constants, and how many states end a search."""


def main() -> None:
    """Print one line for each spec."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="searches in each process")
    parser.add_argument("--turns", type=int, default=2, help="processes of each variant")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for spec in SEARCHES:
            seconds: dict[bool, list[float]] = {True: [], False: []}
            for checked in (True, False) * options.turns:
                seconds[checked] += in_a_process(spec, checked, options.runs, Path(folder))
            on, off = (statistics.median(seconds[each]) for each in (True, False))
            fastest = min(seconds[True]) / min(seconds[False])
            print(
                f"{spec}: {on:.3f} s with the checks, {off:.3f} s without: {on / off - 1:+.0%}"
                f" (fastest runs {fastest - 1:+.0%})"
            )


def in_a_process(spec: str, checked: bool, runs: int, caches: Path) -> list[float]:
    """The seconds of some searches in a new process, with or without the checks."""
    cache = str(caches / ("checked" if checked else "unchecked"))
    call = f"from benchmarks.checks import search; search({spec!r}, {checked}, {runs})"
    environment = {**os.environ, "PROTOCOL_LAB_CACHE": cache}
    done = subprocess.run(
        [sys.executable, "-c", call], env=environment, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


def search(spec: str, checked: bool, runs: int) -> None:
    """Search on one core, and print the seconds of each run as JSON."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    from protocol_lab.catalog import load
    from protocol_lab.compiler.operations import integers
    from protocol_lab.explore import explore

    if not checked:
        leave_out(integers.fault_if)
    configuration, constants, most = SEARCHES[spec]
    model = load(spec).bind(configuration, **constants)
    explore(model, max_states=20_000, progress=False)  # compiles
    found = [explore(model, max_states=most, progress=False).seconds for _ in range(runs)]
    print(json.dumps(found))


def leave_out(function: object) -> None:
    """Replace a function of the compiler with one that generates nothing, wherever it is used."""
    for name, module in list(sys.modules.items()):
        if name.startswith("protocol_lab.compiler"):
            for each, value in list(vars(module).items()):
                if value is function:
                    setattr(module, each, lambda *_: None)


if __name__ == "__main__":
    main()
