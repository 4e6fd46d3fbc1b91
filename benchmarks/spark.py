"""Measures how the search on Spark scales, and compares it with TLC.

    .venv/bin/python -m benchmarks.spark [--smallest 0] [--largest 10000000] [--record FOLDER]
        [--tlc tla2tools.jar --originals FOLDER]

Up to two tables. The first has growing configurations of KIP-320, with every level made by Spark:
the total time, the fixed cost of a level, the rate in the largest level, and the bytes per state
through the shuffle and on disk. --record keeps the levels and tasks of the last one as Parquet,
which notebooks/spark/02 reads. The second table, for which TLC's jar and checkouts of the originals
are needed, has configurations above 500,000 states, as a learner would explore them (small levels
by the driver), beside TLC with a worker for each core.

A search is timed once the session has started and the kernels are compiled or loaded; both times
are printed. TLC is timed from start to end of the program. Timings vary: use an idle machine.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import tlc
from benchmarks.measurement import machine
from protocol_lab.catalog import load
from protocol_lab.checker.result import Result, summary
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.model.constants import show
from protocol_lab.spark.dataframes import LEVELS
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


def main() -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--smallest", type=int, default=0, help="states to begin with")
    parser.add_argument("--largest", type=int, default=1_000_000, help="states to go up to")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="for levels and tasks")
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
    for size in sizes:
        grow(session, GROWING[size], options.folder, options.record)
    if options.tlc:
        try:
            beside_tlc(session, options.tlc, options.originals)
        except LabError as error:
            raise SystemExit(str(error)) from None
    session.stop()


# --- Growing -------------------------------------------------------------------------------------


def grow(session: Any, constants: dict[str, int], folder: str | None, record: Path | None) -> None:
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
        if record is not None:
            keep_recording(session, result, record)
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


def describe(measured: Measured, native: float, compared: str) -> None:
    """A paragraph about one search."""
    result, levels = measured.result, measured.levels
    largest = max(levels, key=lambda level: level["new"])
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
        f" (of {result.model.layout.size} in memory)",
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
    """Bytes that all finished stages wrote to the shuffle."""
    return sum(
        stage["shuffleWriteBytes"] for stage in spark_metrics(session, "stages?status=complete")
    )


def spark_metrics(session: Any, what: str) -> Any:
    """An answer of the session's REST interface, which its web page serves."""
    context = session.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/{what}"
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


# --- Recording -----------------------------------------------------------------------------------


def keep_recording(session: Any, result: Result, folder: Path) -> None:
    """Write levels.parquet and tasks.parquet: a row for each level, and for each task of one.

    A task's `number` is the owner's, if its stage is settle. `shuffled` are the bytes that it sent
    or received, `states` the new states that an owner wrote.
    """
    levels = [level for level in result.levels if level["where"] == "spark"]
    jobs = [
        job for job in spark_metrics(session, "jobs?status=succeeded") if len(job["stageIds"]) == 2
    ]
    jobs = sorted(jobs, key=lambda job: job["jobId"])[-len(levels) :]
    owned = Counter()
    for level in levels:
        for piece in result.search.folder.pieces(level["depth"]):
            blobs = pq.read_table(piece.file, columns=["owner", "count"], partitioning=None)
            for owner, count in zip(*(column.to_pylist() for column in blobs), strict=True):
                owned[level["depth"], owner] += count
    tasks = []
    for level, job in zip(levels, jobs, strict=True):
        for name, stage in zip(("expand", "settle"), sorted(job["stageIds"]), strict=True):
            for task in spark_metrics(session, f"stages/{stage}/0/taskList?length=100000"):
                metrics, number = task["taskMetrics"], task["index"]
                read = metrics["shuffleReadMetrics"]
                received = read["localBytesRead"] + read["remoteBytesRead"]
                tasks.append(
                    {
                        "depth": level["depth"],
                        "stage": name,
                        "number": number,
                        "seconds": task["duration"] / 1000,
                        "shuffled": metrics["shuffleWriteMetrics"]["bytesWritten"] + received,
                        "states": owned[level["depth"], number] if name == "settle" else 0,
                    }
                )
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{name: level[name] for name in LEVELS.names} for level in result.levels]
    pq.write_table(pa.Table.from_pylist(rows, LEVELS), folder / "levels.parquet")
    pq.write_table(pa.Table.from_pylist(tasks), folder / "tasks.parquet")


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


if __name__ == "__main__":
    main()
