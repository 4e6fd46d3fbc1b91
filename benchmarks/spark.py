"""Measures how the search on Spark scales, compares it with TLC, and estimates larger searches.

    .venv/bin/python -m benchmarks.spark [--smallest 0] [--largest 10000000]
        [--tlc tla2tools.jar --originals FOLDER]

Up to three tables. The first has growing configurations of KIP-320, with every level made by Spark:
the total time, the fixed cost of a level, the rate in the largest level, the bytes per state
through the shuffle and on disk, and how the time was spent. The second, for which TLC's jar and
checkouts of the originals are needed, has configurations above 500,000 states, as a learner would
explore them (small levels by the driver), beside TLC with a worker for each core. The third
estimates, from the largest configuration, what 10^10 states would need on a cluster, and states
every assumption.

A search is timed once the session has started and the kernels are compiled or loaded; both times
are printed. TLC is timed from start to end of the program. Timings vary: use an idle machine.
"""

import argparse
import json
import math
import os
import shutil
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import tlc
from benchmarks.measurement import machine
from protocol_lab.catalog import load
from protocol_lab.checker.result import Result, summary
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.model.constants import show
from protocol_lab.spark.distributed_search import OWNER_FINGERPRINTS
from protocol_lab.spark.executor.deduplication import LIMIT_BYTES
from protocol_lab.spark.session import local_session

SPEC = "kafka.kip_320"


def _three_replicas(records: int, epoch: int) -> dict[str, int]:
    """Logs as long as there are records."""
    return {
        "replicas": 3, "log_size": records, "max_records": records, "max_leader_epoch": epoch
    }  # fmt: skip


GROWING = {
    6_787: _three_replicas(1, 1),
    97_531: _three_replicas(1, 2),
    737_794: _three_replicas(2, 2),
    4_093_531: _three_replicas(3, 2),
    9_985_570: _three_replicas(2, 3),
    64_739_578: _three_replicas(3, 3),
    113_065_123: _three_replicas(2, 4),
}
"""Constants by the number of states, which the run counts."""

BESIDE_TLC = [
    # spec, constants, are its invariants checked?
    (SPEC, _three_replicas(2, 2), True),
    ("kafka.kip_320_first_try", _three_replicas(2, 2), False),
    ("kafka.unclean_leader_election", {"max_leader_epoch": None, "max_log_length": None}, True),
    ("kafka.kip_101", _three_replicas(2, 2), False),
    ("bookkeeper.v4_13", {}, True),
]
"""Configurations with more than 500,000 distinct states that TLC, too, explores in minutes.

Where no invariants are checked all states are explored, although some are bad."""

SMALL_LEVEL = 1_000
"""The fixed cost of a level is measured in levels with fewer states."""

TELLING = 500_000
"""In levels with fewer states the fixed cost of a level hides the cost of a state."""

TARGET = 10**10
EXECUTORS, CORES = 20, 8
"""The cluster of the estimate."""


@dataclass
class Measured:
    """One search on Spark, with its time and bytes."""

    result: Result
    seconds: float
    shuffle_bytes: int
    disk_bytes: int

    @property
    def levels(self) -> list[dict[str, Any]]:
        """The levels that Spark made."""
        return [level for level in self.result.levels if level["where"] == "spark"]

    @property
    def fixed(self) -> float:
        """The fixed seconds of a level: the median of the small ones."""
        small = [level["seconds"] for level in self.levels if level["new"] < SMALL_LEVEL]
        return sorted(small)[len(small) // 2]

    @property
    def spent(self) -> Counter:
        """How the time was spent, in seconds over all tasks: see `SparkSearch`."""
        found = Counter()
        for level in self.levels:
            found.update(level["spent"])
        return found


def main() -> None:
    """Measure, and print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--smallest", type=int, default=0, help="states to begin with")
    parser.add_argument("--largest", type=int, default=1_000_000, help="states to go up to")
    parser.add_argument("--tlc", metavar="JAR", help="tla2tools.jar, or a class path")
    parser.add_argument("--originals", type=Path, metavar="FOLDER", help="with the .tla modules")
    parser.add_argument("--folder", default=None, help="where levels are kept meanwhile")
    options = parser.parse_args()
    if (options.tlc is None) != (options.originals is None):
        parser.error("TLC needs both: --tlc JAR and --originals FOLDER")
    print(machine())
    began = time.perf_counter()
    session = local_session(ui=True)
    print(f"Spark started in {time.perf_counter() - began:.1f} s", flush=True)
    sizes = [size for size in GROWING if options.smallest <= size <= options.largest]
    measured = [grow(session, GROWING[size], options.folder) for size in sizes]
    if options.tlc:
        try:
            beside_tlc(session, options.tlc, options.originals)
        except LabError as error:
            raise SystemExit(str(error)) from None
    session.stop()
    if measured and measured[-1].result.distinct > TELLING:
        extrapolate(measured[-1])


# --- Growing -------------------------------------------------------------------------------------


def grow(session: Any, constants: dict[str, int], folder: str | None) -> Measured:
    """Search once with every level on Spark, and once natively; print a paragraph."""
    model = load(SPEC).bind(**constants)
    warm_up(session, model)
    place = Path(tempfile.mkdtemp(prefix="protocol-lab-benchmark-", dir=folder))
    before = shuffled(session)
    began = time.perf_counter()
    try:
        run = place / "run"
        result = explore(model, engine="spark", session=session, folder=run, driver_below=0)
        seconds = time.perf_counter() - began
        files = [file for file in place.rglob("*") if file.is_file()]
        disk = sum(file.stat().st_size for file in files)
    finally:
        shutil.rmtree(place)
    if not result.exhaustive:
        raise SystemExit(f"{model.spec.name}: {result.undecided_reason}")
    measured = Measured(result, seconds, shuffled(session) - before, disk)
    native = explore(model, progress=False)
    same = (native.per_depth, native.per_action) == (result.per_depth, result.per_action)
    if not native.exhaustive:
        compared = f"the native engine stopped: {native.undecided_reason}"
    else:
        compared = f"counts {'the same as' if same else 'OTHER THAN'} the native engine's"
    describe(measured, native.seconds, compared)
    return measured


def describe(measured: Measured, native: float, compared: str) -> None:
    """A paragraph about one search."""
    result, levels = measured.result, measured.levels
    largest = max(levels, key=lambda level: level["new"])
    spent, waited = measured.spent, measured.spent["job"]
    driver = measured.seconds - waited
    busy = sum(seconds for name, seconds in spent.items() if name != "job")
    shares = ", ".join(
        f"{name} {spent[name] / busy:.0%}"
        for name in ("read", "expand", "send", "receive", "settle", "write")
    )
    print(
        f"{result.distinct:,} states, {result.generated:,} generated, depth {result.depth};"
        f" {compared}\n"
        f"  whole search: {measured.seconds:.1f} s on Spark, {native:.2f} s native;"
        f" {result.distinct / measured.seconds:,.0f} states/s\n"
        f"  a small level {measured.fixed:.2f} s; the largest ({largest['new']:,} new states)"
        f" {largest['seconds']:.2f} s, that is {largest['new'] / largest['seconds']:,.0f} states/s"
        f"\n  through the shuffle {measured.shuffle_bytes / 2**20:,.1f} MiB,"
        f" {measured.shuffle_bytes / result.distinct:.0f} bytes a state;"
        f" on disk {measured.disk_bytes / 2**20:,.1f} MiB,"
        f" {measured.disk_bytes / result.distinct:.0f} bytes a state"
        f" (of {result.model.layout.size} in memory)\n"
        f"  waited for jobs {waited:.1f} s, the driver's own work {driver:.1f} s;"
        f" tasks were busy for {busy:.1f} s: {shares}",
        flush=True,
    )


def warm_up(session: Any, model: Any) -> None:
    """Make two levels on Spark, so that all workers have the kernels; print the time to compile."""
    began = time.perf_counter()
    explore(model, engine="spark", session=session, driver_below=0, max_states=2, progress=False)
    print(
        f"\n{model.spec.name}: kernels ready in driver and workers after"
        f" {time.perf_counter() - began:.1f} s",
        flush=True,
    )


def shuffled(session: Any) -> int:
    """Bytes that all finished stages wrote to the shuffle, from Spark's web page."""
    context = session.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(url) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


# --- Beside TLC ----------------------------------------------------------------------------------


def beside_tlc(session: Any, jar: str, originals: Path) -> None:
    """Print one line for each configuration: the native engine, Spark, both without compiling, TLC.

    Raises LabError if TLC comes to other counts, or to another verdict.
    """
    workers = os.cpu_count() or 1
    print(f"\nAs a learner would run it (small levels by the driver); TLC with {workers} workers")
    print(
        f"{'spec':31} {'states':>11}  {'depth':>5}  {'verdict':9} {'native':>7} {'Spark':>7}"
        f" {'TLC':>8}"
    )
    for name, constants, checked in BESIDE_TLC:
        model = load(name).bind(**constants)
        invariants = None if checked else []
        explore(model, invariants=invariants, max_states=2, progress=False)
        native = explore(model, invariants=invariants, progress=False)
        options = {"engine": "spark", "session": session, "invariants": invariants}
        explore(model, driver_below=0, max_states=2, progress=False, **options)
        began = time.perf_counter()
        result = explore(model, progress=False, **options)
        seconds = time.perf_counter() - began
        theirs = tlc.run(name, show(model.constants), jar, originals, workers, checked)
        counts = theirs.distinct, theirs.generated
        if theirs.violated != (result.verdict == "violated") or (
            not theirs.violated and counts != (result.distinct, result.generated)
        ):
            raise LabError(f"{name}: TLC comes to {theirs}, the kit to {summary(result)}.")
        print(
            f"{name:31} {result.distinct:>11,}  {result.depth:>5}  {result.verdict:9}"
            f" {native.seconds:>5.1f} s {seconds:>5.1f} s {theirs.seconds:>6.1f} s "
            f" Spark {theirs.seconds / seconds:.1f} times as fast as TLC",
            flush=True,
        )


# --- A model of more -----------------------------------------------------------------------------


def extrapolate(measured: Measured) -> None:
    """Estimate what TARGET states would need on a cluster.

    Everything but the fixed cost of a level is taken to be proportional to the number of states,
    and the depth to grow with its logarithm. The cost of a state is measured in the levels that are
    at least half as large as the largest.
    """
    result = measured.result
    fixed, cores = measured.fixed, EXECUTORS * CORES
    most_states = max(level["new"] for level in measured.levels)
    large = [level for level in measured.levels if 2 * level["new"] >= most_states]
    seconds, made = (sum(level[name] for level in large) for name in ("seconds", "new"))
    a_state = seconds * (os.cpu_count() or 1) / made
    sent = sum(level["sent"] for level in measured.levels)
    a_candidate = measured.shuffle_bytes / sent
    depth = math.ceil(result.depth * math.log(TARGET) / math.log(result.distinct))
    work, waiting = TARGET * a_state / cores, depth * fixed
    states = TARGET / result.distinct
    least, most = measured.shuffle_bytes * states, result.generated * a_candidate * states
    owners = 2 ** math.ceil(math.log2(TARGET / OWNER_FINGERPRINTS))
    seen = 8 * TARGET / owners / 2**20
    print(
        f"\nA model of {TARGET:,} states on {EXECUTORS} executors of {CORES} cores\n"
        f"  measured in the largest search above: {1e6 * a_state:.1f} µs of a core a state in large"
        " levels,"
        f" {fixed:.2f} s a level, {a_candidate:.0f} bytes a candidate through the shuffle,"
        f" {measured.disk_bytes / result.distinct:.0f} bytes a state on disk\n"
        "  assumed: these stay as they are; cores are as fast as here, and all busy in large"
        f" levels; depth grows with the logarithm of the states, to {depth} levels; the folder is"
        " shared and keeps up\n"
        f"  time: {work / 3600:.2f} h of work, and {waiting:.0f} s of fixed costs; twice that where"
        " levels wait for their slowest owner as long as for all others\n"
        f"  shuffle: {least / 2**40:.2f} TiB if a task meets as many doubles as here,"
        f" {most / 2**40:.2f} TiB if it meets none: up to"
        f" {most / EXECUTORS / work / 2**20:.0f} MiB/s to and from each executor\n"
        f"  disk: {measured.disk_bytes * states / 2**40:.2f} TiB in the shared folder\n"
        f"  memory: {owners:,} owners; a task takes about 0.5 GiB"
        f" ({LIMIT_BYTES >> 20} MiB of candidates, as much again twice to sort them, and"
        f" {seen:.0f} MiB of fingerprints, looked up on disk), so {CORES * 0.5 + 2:.0f} GiB an"
        " executor with its JVM"
    )


if __name__ == "__main__":
    main()
