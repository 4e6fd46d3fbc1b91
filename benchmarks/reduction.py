"""What symmetry saves, and how fast random walks are; measured in one run, quote the ratios.

    .venv/bin/python -m benchmarks.reduction [--runs 5] [--minute]

Symmetry: the five truncation variants of Kafka with three replicas, with and without. Simulation:
steps a second on Kafka. With --minute also configurations that can't be exhausted: how deep a
search comes in a minute, and how soon a random walk meets a loss. Processor time is given beside
the time on the clock, since other programs may be running.
"""

import argparse
import statistics
import time
from collections.abc import Callable

from benchmarks.engines import machine
from protocol_lab.catalog import load
from protocol_lab.declaring.spec import Model
from protocol_lab.exploring.explore import explore
from protocol_lab.exploring.simulate import simulate

VARIANTS = ("truncate_to_high_watermark", "kip_101", "kip_279", "kip_320_first_try", "kip_320")
LARGE = {"replicas": 5, "log_size": 6, "max_records": 6, "max_leader_epoch": 8}
LOSSES = [
    ("kafka.truncate_to_high_watermark", LARGE),
    ("kafka.kip_101", LARGE),
    ("kafka.kip_279", LARGE),
    ("kafka.kip_320_first_try", LARGE),
]
MINUTE = 60


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--minute", action="store_true")
    options = parser.parse_args()
    print(machine())
    for name in VARIANTS:
        symmetry(load(f"kafka.{name}").bind(), options.runs)
    for constants in ({}, LARGE):
        walks(load("kafka.kip_320").bind(**constants), options.runs)
    if options.minute:
        for name, constants in LOSSES:
            loss(load(name).bind(**constants))


def symmetry(model: Model, runs: int) -> None:
    """States and processor time, with and without."""
    found, seconds = {}, {}
    for reduced in (False, True):
        found[reduced] = explore(model, invariants=[], symmetry=reduced, progress=False)
        seconds[reduced] = [
            processor_time(
                lambda reduced=reduced: explore(
                    model, invariants=[], symmetry=reduced, progress=False
                )
            )
            for _ in range(runs)
        ]
    whole, reduced = (found[each].distinct for each in (False, True))
    ratio = min(seconds[False]) / min(seconds[True])
    print(
        f"{model.spec.name}: {whole:,} states without symmetry, {reduced:,} with"
        f" ({whole / reduced:.2f} times fewer); processor time {min(seconds[False]):.2f} s and"
        f" {min(seconds[True]):.2f} s, best of {runs} ({ratio:.1f} times less)"
    )


def walks(model: Model, runs: int) -> None:
    """Steps a second, on the clock and of processor time."""
    rates, busy = [], []
    for run in range(runs + 1):
        began = time.process_time()
        result = simulate(model, walks=50_000, seed=run, progress=False)
        if run:  # the first one compiles
            rates.append(result.steps / result.seconds)
            busy.append(result.steps / (time.process_time() - began))
    print(
        f"{model.spec.name} simulated, {model.constants}: {max(rates):,.0f} steps/s,"
        f" {max(busy):,.0f} a second of processor time, best of {runs}"
        f" (median {statistics.median(rates):,.0f})"
    )


def loss(model: Model) -> None:
    """A minute of search, and what random walks find."""
    explore(model, max_states=1000, progress=False)  # compiles
    until = time.perf_counter() + MINUTE
    searched = explore(
        model, stopped=lambda: time.perf_counter() > until, memory_gib=4, progress=False
    )
    met = simulate(model, seconds=MINUTE, bias="actions", seed=1, progress=False)
    way = f"{met.violated} after {met.found_in} steps, shortened to {len(met.trace or [])}"
    print(
        f"{model.spec.name} {tuple(model.constants)}: searched {searched.distinct:,} states to"
        f" depth {searched.depth} in {searched.seconds:.0f} s: {searched.verdict}"
        f" ({searched.undecided_reason}); random walks: {way if met.violated else met.verdict},"
        f" {met.steps:,} steps in {met.seconds:.1f} s"
    )


def processor_time(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main()
