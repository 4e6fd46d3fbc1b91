"""How the search on Spark scales on one machine, and a model of what more states would need.

    .venv/bin/python -m benchmarks.spark [--largest 1000000] [--partitions 4] [--folder DIR]

Explores growing configurations, each in a Spark that has just started and warmed up, and natively.
For each: the whole time, the median cost of a level that Spark made, states a second in the
largest level, the bytes that crossed the shuffle and the bytes on disk, and what the tasks' time
went into, as Spark's own counters tell. A level of next to nothing gives the fixed cost. From the
largest configuration the needs of 10^10 states are computed, with every assumption printed.

Machines are noisy: run it on an idle one, and compare figures of one run only.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engines import machine
from protocol_lab.catalog import load
from protocol_lab.exploring.explore import explore
from protocol_lab.exploring.result import Result
from protocol_lab.spark.session import local_session

SPEC = "kafka.kip_320"
CONFIGURATIONS = {
    # distinct states: constants, TLC's seconds with two workers where they were measured
    957: ({"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}, None),
    6_787: ({"replicas": 3, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}, None),
    737_794: ({"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}, 27),
    10_000_000: ({"replicas": 3, "log_size": 3, "max_records": 3, "max_leader_epoch": 2}, None),
    100_000_000: ({"replicas": 3, "log_size": 3, "max_records": 3, "max_leader_epoch": 3}, None),
}
"""By their size; of the last two only the order of magnitude is meant."""

TARGET = 10**10
_TELLING = 500_000
"""States below which the cost of a level hides the cost of a state."""

EXECUTORS, CORES = 20, 8
"""The cluster that the model is computed for."""


@dataclass
class Measured:
    """One search and what Spark counted meanwhile."""

    result: Result
    stages: list[dict[str, Any]]
    disk_bytes: int

    def of_tasks(self, name: str) -> int:
        """The sum of one of Spark's counters over all stages."""
        return sum(stage.get(name, 0) for stage in self.stages)


def main() -> None:
    """Measure, print, and compute the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1_000_000, help="states to go up to")
    parser.add_argument("--partitions", type=int, default=None)
    parser.add_argument("--folder", default=None, help="where levels are kept meanwhile")
    options = parser.parse_args()
    print(machine())
    session = local_session(ui=True)
    warm = {"engine": "spark", "session": session, "driver_below": 0, "progress": False}
    explore(load(SPEC).bind(), max_states=100, **warm)  # compiled kernels, in all workers
    last = None
    for size, (constants, tlc) in CONFIGURATIONS.items():
        if size <= options.largest:
            last = measure(session, constants, options)
            report(last, constants, tlc)
    session.stop()
    if last is not None and last.result.distinct > _TELLING:
        extrapolate(last)


def measure(session: Any, constants: dict[str, int], options: argparse.Namespace) -> Measured:
    """One search with every level by Spark, so that each can be looked at."""
    folder = Path(tempfile.mkdtemp(prefix="protocol-lab-benchmark-", dir=options.folder))
    known = {stage["stageId"] for stage in stages_of(session)}
    try:
        result = explore(
            load(SPEC).bind(**constants), engine="spark", session=session, folder=folder / "run",
            driver_below=0, partitions=options.partitions, progress=False,
        )  # fmt: skip
        disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    finally:
        shutil.rmtree(folder)
    stages = [stage for stage in stages_of(session) if stage["stageId"] not in known]
    return Measured(result, stages, disk)


def stages_of(session: Any) -> list[dict[str, Any]]:
    """What Spark's web page tells of all finished stages."""
    context = session.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def report(measured: Measured, constants: dict[str, int], tlc: int | None) -> None:
    """A few lines about one search."""
    result = measured.result
    native = explore(load(SPEC).bind(**constants), progress=False)
    levels = [level for level in result.levels if level["where"] == "spark"]
    seconds = [level["seconds"] for level in levels]
    largest = max(levels, key=lambda level: level["new"])
    small = [level["seconds"] for level in levels if level["new"] < 1_000]
    run, cpu = measured.of_tasks("executorRunTime"), measured.of_tasks("executorCpuTime") / 1e6
    print(f"\n{result.distinct:,} states, {result.generated:,} generated, depth {result.depth}")
    print(f"  same counts as the native engine: {result.per_depth == native.per_depth}")
    print(f"  {result.seconds:.1f} s on Spark, {native.seconds:.2f} s native" + _and_tlc(tlc))
    print(f"  a level: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s")
    if small:
        print(f"  a level of fewer than 1,000 states: median {statistics.median(small):.2f} s")
    print(f"  largest level: {largest['new'] / largest['seconds']:,.0f} states/s")
    print(
        f"  shuffled {measured.of_tasks('shuffleWriteBytes') / 2**20:.1f} MiB,"
        f" on disk {measured.disk_bytes / 2**20:.1f} MiB at the end,"
        f" spilled by Spark {measured.of_tasks('diskBytesSpilled') / 2**20:.1f} MiB"
    )
    print(
        f"  tasks ran {run / 1e3:.1f} s, of which the JVM computed {cpu / 1e3:.1f} s, collected"
        f" garbage {measured.of_tasks('jvmGcTime') / 1e3:.1f} s and waited for the shuffle"
        f" {measured.of_tasks('shuffleFetchWaitTime') / 1e3:.1f} s; the rest is Python's"
    )


def _and_tlc(seconds: int | None) -> str:
    return f", {seconds} s TLC with two workers (another day, same machine)" if seconds else ""


def extrapolate(measured: Measured) -> None:
    """What TARGET states would need, if everything but the fixed cost of a level is proportional
    to the states, and the depth grows with the logarithm of their number."""
    result = measured.result
    levels = [level for level in result.levels if level["where"] == "spark" and level["new"]]
    fixed = min(level["seconds"] for level in levels)
    variable = sum(max(0.0, level["seconds"] - fixed) for level in levels)
    core_seconds = variable * (os.cpu_count() or 1) / result.distinct
    scale = TARGET / result.distinct
    depth = math.ceil(result.depth * math.log(TARGET) / math.log(result.distinct))
    shuffle = measured.of_tasks("shuffleWriteBytes") * scale
    disk = measured.disk_bytes * scale
    hours = (TARGET * core_seconds / (EXECUTORS * CORES) + depth * fixed) / 3600
    print(f"\nA model of {TARGET:,} states, from the largest search above:")
    print(f"  measured: {1e6 * core_seconds:.1f} µs of a core a state, {fixed:.2f} s a level")
    print(
        f"  assumed: cost per state stays, about {depth} levels, {EXECUTORS} executors of {CORES}"
    )
    print(f"  time: {hours:.1f} h")
    print(f"  shuffle: {shuffle / 2**40:.2f} TiB, disk: {disk / 2**40:.2f} TiB")
    owners = 2 ** math.ceil(math.log2(TARGET / 2**22))
    print(
        f"  owners: {owners:,}; memory of a task: about 0.5 GiB"
        f" (128 MiB of candidates, sorted; {8 * TARGET / owners / 2**20:.0f} MiB of fingerprints in"
        f" a run), so {CORES * 0.5 + 2:.0f} GiB an executor with the JVM"
    )


if __name__ == "__main__":
    main()
