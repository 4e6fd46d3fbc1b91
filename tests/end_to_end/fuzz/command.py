"""`python3 lab.py fuzz --specs N --seed S`: a differential fuzzer. Many random specs go in parallel
through every engine, compared in everything that is counted.

Of a spec with a difference the module and the differences are kept in the folder of the seed.
What it is made of, in reading order:

declarations  random constants, structs and states
expressions   random expressions over them
faults        what has no value or does not fit, in some states
generator     the text of a whole module, always the same for a seed and a number
comparison    one spec on every engine, and where two answers differ
worker        a process that compares specs one after the other
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tests.end_to_end.fuzz.generator import FAMILY, generate, spec_name

BATCH = 5 * FAMILY
"""Specs that one process compares before another takes over: compiled code is never freed."""

SPARK_EVERY = 20
"""Every so many specs one is searched on Spark, too, in a process with a session."""

PATIENCE = 60
"""Seconds that a process may take for each of its specs, on average."""

WORKER = ["-m", "tests.end_to_end.fuzz.worker"]

SETTINGS = {"NUMBA_OPT": "0"}
"""Machine code is not optimized: exploring takes little time here, and compiling nearly all."""


def main(words: list[str]) -> int:
    """Compare the specs and say what was found; 1 if there were differences."""
    asked = _parse(words)
    folder = asked.folder / f"seed_{asked.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    with tqdm(total=len(asked.numbers), unit="spec", disable=None) as bar:
        for report in reports(asked.seed, folder, asked.numbers, asked.processes, asked.spark):
            found.append(report)
            bar.update()
            if report["differences"]:
                bar.write(_told(asked.seed, folder, report))
    return _summarize(asked.seed, folder, found)


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lab.py fuzz", description="Compare all engines on random specs."
    )
    parser.add_argument("--specs", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=1, help="which random specs (1)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one (0)")
    parser.add_argument("--no-spark", dest="spark", action="store_false", help="leave Spark out")
    parser.add_argument("--processes", type=int, default=2, help="side by side (2)")
    default = Path(tempfile.gettempdir()) / "protocol-lab-fuzz"
    parser.add_argument("--folder", type=Path, default=default, help=f"for results ({default})")
    asked = parser.parse_args(words)
    asked.numbers = list(range(asked.start, asked.start + asked.specs))
    return asked


def reports(
    seed: int, folder: Path, numbers: list[int], processes: int, spark: bool
) -> Iterator[dict[str, Any]]:
    """What comes out of every spec, in processes side by side that each take a batch at a time."""
    on_spark = [each for each in numbers if spark and each % SPARK_EVERY == 0]
    others = [each for each in numbers if each not in on_spark]
    with ThreadPoolExecutor(processes) as pool:
        begun = [
            pool.submit(_batch, seed, folder, chosen[at : at + BATCH], chosen is on_spark)
            for chosen in (on_spark, others)
            for at in range(0, len(chosen), BATCH)
        ]
        for each in as_completed(begun):
            yield from each.result()


def _batch(seed: int, folder: Path, numbers: list[int], on_spark: bool) -> list[dict[str, Any]]:
    """The reports on these specs. A process that ends early is one on the spec it was at; another
    process goes on after it."""
    found: list[dict[str, Any]] = []
    while len(found) < len(numbers):
        left = numbers[len(found) :]
        words = [str(seed), str(folder), *["spark"] * on_spark, *map(str, left)]
        try:
            child = subprocess.run(
                [sys.executable, *WORKER, *words],
                env={**os.environ, **SETTINGS},
                capture_output=True,
                text=True,
                timeout=PATIENCE * len(left),
            )
            lines, how = child.stdout, _ending(child.returncode)
        except subprocess.TimeoutExpired as late:
            lines, how = (late.stdout or b"").decode(), "it did not end in time"
        found += map(json.loads, lines.splitlines())
        if len(found) < len(numbers):
            ended = {"compared": 0, "differences": [f"the process ended: {how}"]}
            found.append({"number": numbers[len(found)], **ended})
    return found


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _told(seed: int, folder: Path, report: dict[str, Any]) -> str:
    """Keep what differs beside the module; a few lines that say so, and how to see it again."""
    number, name = report["number"], spec_name(seed, report["number"])
    kept = folder / "differences" / name.partition(".")[2]
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "spec.py").write_text(generate(seed, number), encoding="utf-8")
    (kept / "differences.txt").write_text("\n".join(report["differences"]), encoding="utf-8")
    shown = [f"  {each.splitlines()[0][:160]}" for each in report["differences"][:3]]
    again = f"python3 lab.py fuzz --seed {seed} --start {number} --specs 1"
    return "\n".join([f"spec {number} differs ({kept}; again with `{again}`):", *shown])


def _summarize(seed: int, folder: Path, found: list[dict[str, Any]]) -> int:
    verdicts: Counter[str] = Counter()
    for each in found:
        verdicts.update(each.get("verdicts", {}))
    differing = sorted(each["number"] for each in found if each["differences"])
    compared = sum(each["compared"] for each in found)
    states = sum(each.get("states", 0) for each in found)
    print(f"{len(found):,} specs of seed {seed}: {compared:,} comparisons, {states:,} states")
    print("  " + ", ".join(f"{name} {count:,}" for name, count in sorted(verdicts.items())))
    if differing:
        print(f"  {len(differing):,} with differences: {', '.join(map(str, differing[:40]))}")
        print(f"  see {folder / 'differences'}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
