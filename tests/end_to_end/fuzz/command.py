"""`python3 lab.py fuzz --specs N --seed S`: many specs in parallel, resumable, with a report.

Results go to a file of lines, one a spec, in the folder of the seed; specs that stand in it are not
compared again. Of a spec with a difference the module and the differences are kept beside it.
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tests.end_to_end.fuzz.generator import FAMILY, generate, spec_name

BATCH = 5 * FAMILY
"""Specs that one process compares before another takes over: compiled code is never freed."""

SPARK_EVERY = 20
"""Every so many specs one is searched on Spark, too, in a process with a session."""

PATIENCE = 600
"""Seconds after which a process that says nothing hangs."""

WORKER = ["-m", "tests.end_to_end.fuzz.worker"]

SETTINGS = {"NUMBA_OPT": "0"}
"""Machine code is not optimized: exploring takes little time here, and compiling nearly all."""


def main(words: list[str]) -> int:
    """Compare the specs and say what was found; 1 if there were differences."""
    asked = _parse(words)
    folder = asked.folder / f"seed_{asked.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    if asked.only is not None:
        numbers: list[int] = [asked.only]
    else:
        done = {each["number"] for each in _results(folder)}
        numbers = [n for n in range(asked.start, asked.start + asked.specs) if n not in done]
    run = Run(asked.seed, folder, asked.processes, not asked.no_spark)
    try:
        with tqdm(total=len(numbers), unit="spec", disable=None) as bar:
            for report in run.reports(numbers):
                bar.update()
                if report["differences"]:
                    bar.write(_told(asked.seed, folder, report))
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.")
    wanted = range(asked.start, asked.start + asked.specs) if asked.only is None else numbers
    return _summarize(asked.seed, folder, [e for e in _results(folder) if e["number"] in wanted])


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lab.py fuzz", description="Compare all engines on random specs."
    )
    parser.add_argument("--specs", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=1, help="which random specs (1)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one (0)")
    parser.add_argument("--only", type=int, help="compare this one, even if it was before")
    parser.add_argument("--no-spark", action="store_true", help="leave Spark out")
    parser.add_argument("--processes", type=int, default=2, help="side by side (2)")
    default = Path(tempfile.gettempdir()) / "protocol-lab-fuzz"
    parser.add_argument("--folder", type=Path, default=default, help=f"for results ({default})")
    return parser.parse_args(words)


class Run:
    """Processes that compare specs side by side, each a batch at a time."""

    def __init__(self, seed: int, folder: Path, processes: int, spark: bool):
        self.seed, self.folder, self.processes, self.spark = seed, folder, processes, spark
        self.children: set[subprocess.Popen] = set()
        self.over = False

    def reports(self, numbers: list[int]) -> Iterator[dict[str, Any]]:
        """What comes out of every spec, as it does, and is kept in the file of results."""
        batches: queue.SimpleQueue = queue.SimpleQueue()
        on_spark = [each for each in numbers if self.spark and each % SPARK_EVERY == 0]
        others = [each for each in numbers if each not in on_spark]
        for chosen in (on_spark, others):
            for at in range(0, len(chosen), BATCH):
                batches.put((chosen is on_spark, chosen[at : at + BATCH]))
        found: queue.SimpleQueue = queue.SimpleQueue()
        threads = [
            threading.Thread(target=self._work, args=(batches, found), daemon=True)
            for _ in range(self.processes)
        ]
        for each in threads:
            each.start()
        try:
            with (self.folder / "results.jsonl").open("a", encoding="utf-8") as file:
                for _ in numbers:
                    report = found.get()
                    if isinstance(report, Exception):
                        raise report
                    file.write(json.dumps(report) + "\n")
                    file.flush()
                    yield report
        finally:
            self.over = True
            for each in list(self.children):
                each.kill()

    def _work(self, batches: queue.SimpleQueue, found: queue.SimpleQueue) -> None:
        """Put a report for every spec of the batches, or what keeps this thread from it."""
        try:
            self._work_off(batches, found)
        except Exception as error:
            found.put(error)

    def _work_off(self, batches: queue.SimpleQueue, found: queue.SimpleQueue) -> None:
        while not self.over and not batches.empty():
            try:
                on_spark, waiting = batches.get_nowait()
            except queue.Empty:
                return
            while waiting and not self.over:
                for report in self._batch(waiting, on_spark):
                    found.put(report)
                    waiting = [each for each in waiting if each != report["number"]]

    def _batch(self, numbers: list[int], on_spark: bool) -> Iterator[dict[str, Any]]:
        """One process over these specs; if it ends early, the spec it was at is told last."""
        command = [sys.executable, *WORKER, str(self.seed)]
        command += [str(self.folder), *["spark"] * on_spark, *map(str, numbers)]
        child = subprocess.Popen(
            command,
            env={**os.environ, **SETTINGS},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for the command, which ends the others
        )
        self.children.add(child)
        left = list(numbers)
        timer = threading.Timer(PATIENCE, child.kill)
        timer.start()
        with child.stdout as lines:
            for line in lines:
                timer.cancel()
                report = json.loads(line)
                left.remove(report["number"])
                yield report
                timer = threading.Timer(PATIENCE, child.kill)
                timer.start()
        timer.cancel()
        code = child.wait()
        self.children.discard(child)
        if left and not self.over:
            how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
            yield {"number": left[0], "compared": 0, "differences": [f"the process ended: {how}"]}


def _results(folder: Path) -> list[dict[str, Any]]:
    """The last result of every spec that was compared."""
    path, found = folder / "results.jsonl", {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            report = json.loads(line)
        except ValueError:
            continue  # the line that was being written when the machine stopped
        found[report["number"]] = report
    return list(found.values())


def _told(seed: int, folder: Path, report: dict[str, Any]) -> str:
    """Keep what differs beside the module; a few lines that say so, and how to see it again."""
    number, name = report["number"], spec_name(seed, report["number"])
    kept = folder / "differences" / name.partition(".")[2]
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "spec.py").write_text(generate(seed, number), encoding="utf-8")
    (kept / "differences.txt").write_text("\n".join(report["differences"]), encoding="utf-8")
    shown = [f"  {each.splitlines()[0][:160]}" for each in report["differences"][:3]]
    again = f"python3 lab.py fuzz --seed {seed} --only {number}"
    return "\n".join([f"spec {number} differs ({kept}; again with `{again}`):", *shown])


def _summarize(seed: int, folder: Path, reports: Iterable[dict[str, Any]]) -> int:
    reports, verdicts = list(reports), Counter()
    for each in reports:
        verdicts.update(each.get("verdicts", {}))
    differing = sorted(each["number"] for each in reports if each["differences"])
    compared = sum(each["compared"] for each in reports)
    states = sum(each.get("states", 0) for each in reports)
    print(f"{len(reports):,} specs of seed {seed}: {compared:,} comparisons, {states:,} states")
    print("  " + ", ".join(f"{name} {count:,}" for name, count in sorted(verdicts.items())))
    if differing:
        print(f"  {len(differing):,} with differences: {', '.join(map(str, differing[:40]))}")
        print(f"  see {folder / 'differences'}")
    return 1 if differing else 0
