"""Measures how the search on Spark scales.

    .venv/bin/python -m benchmarks.spark [--smallest 0] [--largest 10000000] [--record FOLDER]

Growing configurations of KIP-320, with every level made by Spark: the total time, the fixed cost of
a level, the rate in the largest level, and the bytes per state through the shuffle and on disk.
--record keeps the levels and tasks of the last one as Parquet, which notebooks/spark/02 reads.

A search is timed once the session has started and the kernels are compiled or loaded; both times
are printed. Timings vary: use an idle machine.
"""

import argparse
import json
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.growth import kafka
from benchmarks.measurement import machine
from protocol_lab.catalog import load
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore
from protocol_lab.spark.dataframes import LEVELS
from protocol_lab.spark.session import local_session

SPEC = "kafka.kip_320"

GROWING = {
    6_787: kafka(3, 1, 1),
    97_531: kafka(3, 1, 2),
    737_794: kafka(3, 2, 2),
    4_093_531: kafka(3, 3, 2),
    9_985_570: kafka(3, 2, 3),
    64_739_578: kafka(3, 3, 3),
    113_065_123: kafka(3, 2, 4),
}
"""Constants by the number of states, which the run counts."""

SMALL_LEVEL = 1_000
"""The fixed cost of a level is measured in levels with fewer states."""


def main() -> None:
    """Measure, and print a paragraph for each configuration."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--smallest", type=int, default=0, help="states to begin with")
    parser.add_argument("--largest", type=int, default=1_000_000, help="states to go up to")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="for levels and tasks")
    options = parser.parse_args()
    print(machine())
    began = time.perf_counter()
    session = local_session(ui=True)
    print(f"Spark started in {time.perf_counter() - began:.1f} s", flush=True)
    for size, constants in GROWING.items():
        if options.smallest <= size <= options.largest:
            grow(session, constants, options.record)
    session.stop()


def grow(session: Any, constants: dict[str, int], record: Path | None) -> None:
    """Search once with every level on Spark, and once natively; print a paragraph."""
    model = load(SPEC).bind(**constants)
    warm_up(session, model)
    before = shuffled(session)
    with tempfile.TemporaryDirectory(prefix="protocol-lab-benchmark-") as place:
        run = Path(place) / "run"
        began = time.perf_counter()
        result = explore(model, engine="spark", session=session, folder=run, driver_below=0)
        seconds = time.perf_counter() - began
        disk_bytes = sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
        if record is not None:
            keep_recording(session, result, record)
    if not result.exhaustive:
        raise SystemExit(f"{model.spec.name}: {result.undecided_reason}")
    shuffle_bytes = shuffled(session) - before
    native = explore(model, progress=False)
    same = (native.per_depth, native.per_action) == (result.per_depth, result.per_action)
    if not native.exhaustive:
        compared = f"the native engine stopped: {native.undecided_reason}"
    else:
        compared = f"counts {'the same as' if same else 'OTHER THAN'} the native engine's"
    levels = made_by_spark(result)
    small = sorted(level["seconds"] for level in levels if level["new"] < SMALL_LEVEL)
    largest = max(levels, key=lambda level: level["new"])
    print(
        f"{result.distinct:,} states, {result.generated:,} generated, depth {result.depth};"
        f" {compared}\n"
        f"  whole search: {seconds:.1f} s on Spark, {native.seconds:.2f} s native;"
        f" {result.distinct / seconds:,.0f} states/s\n"
        f"  a small level {small[len(small) // 2]:.2f} s; the largest ({largest['new']:,} new"
        f" states) {largest['seconds']:.2f} s, that is"
        f" {largest['new'] / largest['seconds']:,.0f} states/s\n"
        f"  through the shuffle {shuffle_bytes / 2**20:,.1f} MiB,"
        f" {shuffle_bytes / result.distinct:.0f} bytes a state;"
        f" on disk {disk_bytes / 2**20:,.1f} MiB, {disk_bytes / result.distinct:.0f} bytes a state"
        f" (of {model.layout.size} in memory)",
        flush=True,
    )


def made_by_spark(result: Result) -> list[dict[str, Any]]:
    """The levels that Spark made."""
    return [level for level in result.levels if level["where"] == "spark"]


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
    levels = made_by_spark(result)
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


if __name__ == "__main__":
    main()
