"""Shows that a large search on Spark, killed on purpose, is resumed and counts as if it was not.

    .venv/bin/python -m benchmarks.killed_spark_search [--states 113065123] [--kill-after 150]
        [--folder FOLDER]

The search runs in processes of its own, which are killed after so many seconds of it. A second run
in the same folder goes on from the last complete level. Its counts, of every level and action, are
compared with those of the native engine. `--states` chooses one of the growing configurations of
`benchmarks.spark`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measurement import machine
from benchmarks.spark import GROWING, SPEC, telling
from protocol_lab.catalog import load
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore


def main() -> None:
    """Search, kill, resume, and compare. Exits with 1 where the counts differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--states", type=int, default=113_065_123, choices=GROWING)
    parser.add_argument("--kill-after", type=float, default=150, help="seconds of searching")
    parser.add_argument("--folder", help="where levels are kept meanwhile")
    parser.add_argument("--search", type=Path, help=argparse.SUPPRESS)  # what the processes do
    options = parser.parse_args()
    if options.search:
        return search(options.states, options.search)
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory(prefix="protocol-lab-", dir=options.folder) as place:
        command = [sys.executable, "-m", "benchmarks.killed_spark_search"]
        command += ["--states", str(options.states), "--search", place]
        killed = subprocess.Popen(command, start_new_session=True)
        while killed.poll() is None and not list(Path(place).glob("run/*")):
            time.sleep(0.5)
        try:
            killed.wait(options.kill_after)
            raise SystemExit(
                "The search ended before it was to be killed: give a smaller --kill-after."
            )
        except subprocess.TimeoutExpired:
            os.killpg(killed.pid, signal.SIGKILL)
            killed.wait()
        print(f"killed after {options.kill_after:g} s", flush=True)
        began = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - began
        found = json.loads((Path(place) / "found.json").read_text(encoding="utf-8"))
    native = explore(load(SPEC).bind(**GROWING[options.states]), memory_gib=10)
    same = found == counts(native)
    print(
        f"{native.distinct:,} states, depth {native.depth}: resumed and ended on Spark after"
        f" {seconds:.0f} s more, {native.seconds:.0f} s native; counts of every level and action"
        f" {'the same' if same else 'DIFFER'}"
    )
    if not same:
        raise SystemExit(1)
    return None


def search(states: int, place: Path) -> None:
    """Search in a folder, or go on there, and keep the counts beside it."""
    model = load(SPEC).bind(**GROWING[states])
    result = explore(model, engine="spark", folder=place / "run", progress=telling())
    text = json.dumps(counts(result))
    (place / "found.json").write_text(text, encoding="utf-8")


def counts(result: Result) -> dict:
    """What two searches of one model have in common."""
    return {
        "verdict": result.verdict,
        "distinct": result.distinct,
        "generated": result.generated,
        "levels": result.per_depth,
        "actions": dict(result.per_action),
    }


if __name__ == "__main__":
    main()
