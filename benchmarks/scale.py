"""Measures how far a search scales: bytes per state, states a second, speed-up on more cores.

    .venv/bin/python -m benchmarks.scale [--states 4000000] [--runs 3] [--whole] [--memory GIB]

Memory: a large configuration of each protocol is searched up to the given number of states, and the
bytes per state are measured. Cores: KIP-320 and KRaft run on 1, 2, 4, ... of the machine's cores;
then the phases of the search are timed on one core, from which a model estimates the time on 2, 8
and 32. --whole explores KIP-320 with three replicas, three records and four leader epochs to its
end, within --memory. On a busy machine all rates are lower bounds.

The model: expanding, entering and checking are divided by the number of cores; the scan in which
each core finds the fingerprints of its partitions, and the Python code between the phases, are not;
counting overlaps with the expansion of the next chunks.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from benchmarks.measurement import machine, options_of, spread
from protocol_lab.catalog import load
from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.chunks import Chunk
from protocol_lab.checker.request import SearchRequest
from protocol_lab.explore import explore
from protocol_lab.spec.spec import Model

KIP_320 = {"replicas": 3, "log_size": 3, "max_records": 3, "max_leader_epoch": 3}

LARGE = [
    ("kafka.kip_320", None, KIP_320),
    ("bookkeeper.protocol", "shipped", {}),
    ("pulsar.compaction", None, {"message_sent_limit": 6, "compaction_times_limit": 6}),
    ("kraft.kip_853", "shipped", {}),
]
"""A large configuration of each protocol: the spec, the configuration, constants that differ."""

PARTS = ("_expand", "_enter_own", "_check_and_keep", "_count")


class Timed(NativeSearch):
    """A search on one core that times its phases."""

    def __init__(self, model: Model, request: SearchRequest):
        super().__init__(model, request)
        self.spent: Counter[str] = Counter()
        for name in PARTS:
            setattr(self, name, self._timed(name, getattr(self, name)))

    def _timed(self, name: str, part: Callable) -> Callable:
        @wraps(part)
        def run(*arguments: Any) -> Any:
            began = time.perf_counter()
            found = part(*arguments)
            self.spent[name] += time.perf_counter() - began
            if name == "_enter_own":
                self._scan(arguments[0])
            return found

        return run

    def _scan(self, batch: list[Chunk]) -> None:
        """Time a scan for fingerprints that finds none in its partitions."""
        began = time.perf_counter()
        for each in batch:
            self.visited.enter(0, 0, each.prints, each.judged, np.copy(each.verdicts))
        self.spent["scan"] += time.perf_counter() - began


def main() -> None:
    """Print one line per measurement."""
    options = options_of(__doc__, "--whole")
    print(machine())
    if options.whole:
        print(explore(load("kafka.kip_320").bind(**KIP_320), memory_gib=options.memory))
        return
    for name, configuration, constants in LARGE:
        model = load(name).bind(configuration, **constants)
        result = explore(model, max_states=options.states, progress=False)
        print(
            f"{name:25} {8 * result.model.words:5} bytes a row,"
            f" {result.bytes_per_state:6.1f} bytes a state, {result.distinct:,} states"
        )
    for name, configuration, constants in (LARGE[0], LARGE[-1]):
        curve(load(name).bind(configuration, **constants), options)


def curve(model: Model, options: argparse.Namespace) -> None:
    """Print the rates on some of the cores and on all, and the model's estimates."""
    cores, count = sorted(os.sched_getaffinity(0)), 1
    medians = {}
    while count <= len(cores):
        os.sched_setaffinity(0, cores[:count])
        explore(model, max_states=20_000, progress=False)
        found = [
            explore(model, max_states=options.states, progress=False) for _ in range(options.runs)
        ]
        seconds = sorted(each.seconds for each in found)
        medians[count] = seconds[len(seconds) // 2]
        print(
            f"{model.spec.name:25} {count} of {len(cores)} cores: {spread(seconds)} s,"
            f" {found[0].distinct / medians[count]:,.0f} states/s,"
            f" {medians[1] / medians[count]:.2f} times one core"
        )
        count *= 2
    os.sched_setaffinity(0, cores[:1])
    parts(model, options)
    os.sched_setaffinity(0, cores)


def parts(model: Model, options: argparse.Namespace) -> None:
    """Print the phases of the search on one core, and the model's estimates for more cores."""
    chosen, chosen_steps = model.choose(None)
    search = Timed(model, SearchRequest(chosen, chosen_steps, max_states=options.states))
    seconds = search.run().seconds
    spent = search.spent
    scan = spent["scan"]
    whole = seconds - scan  # which was done beside
    between = whole - sum(spent[name] for name in PARTS)
    told = ", ".join(f"{name.strip('_')} {spent[name] / whole:.0%}" for name in PARTS)
    print(
        f"{'':25} {told} (of which scanning {scan / whole:.1%}), between them {between / whole:.0%}"
    )

    def modelled(cores: int) -> float:
        divided = spent["_enter_own"] - scan + spent["_check_and_keep"]
        ahead = max(spent["_count"], (spent["_expand"] + spent["_count"]) / cores)
        return scan + between + divided / cores + ahead

    for cores in (2, 8, 32):
        print(f"{'':25} the model for {cores} cores: {whole / modelled(cores):.1f} times one core")


if __name__ == "__main__":
    main()
