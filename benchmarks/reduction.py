"""Measures what random walks find that a search does not reach.

    .venv/bin/python -m benchmarks.reduction [--minute] [--biases]

With --minute the large configurations (`LOSSES`) are searched breadth first for a minute, and then
by random walks with five seeds, for a minute at most. With --biases: how many walks does each bias
take to meet BookKeeper's loss, with the seeds 1 to 6?
"""

import argparse
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.measurement import machine
from protocol_lab.catalog import load
from protocol_lab.explore import explore
from protocol_lab.model.constants import show_text
from protocol_lab.simulation.simulate import simulate

LARGE = {"replicas": 5, "log_size": 6, "max_records": 6, "max_leader_epoch": 8}
MINUTE = 60


@dataclass(frozen=True)
class Loss:
    """A violation in a configuration too large to exhaust, and the walks that look for it."""

    spec: str
    constants: dict[str, Any]
    violated: str
    steps: int
    walks: int


LOSSES = [
    Loss("kafka.kip_320_first_try", LARGE, "weak_isr", 100, 20_000),
    Loss(
        "bookkeeper.v4_13",
        {"bookies": 5, "send_limit": 3},
        "no_divergence_between_writer_and_meta_data",
        60,
        400_000,
    ),
    Loss(
        "pulsar.compaction",
        {"message_sent_limit": 6, "compaction_times_limit": 6},
        "compacted_ledger_leak",
        100,
        20_000,
    ),
    Loss(
        "kraft.kip_853",
        {
            "init_cluster_size": 2,
            "min_cluster_size": 2,
            "max_cluster_size": 3,
            "max_spawned_servers": 3,
            "max_epoch": 3,
            "max_add_reconfigs": 1,
        },
        "never_two_leaders_in_same_epoch",
        60,
        200_000,
    ),
]
"""One for each protocol: KRaft and Pulsar as specified, the other two before their fixes."""


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minute", action="store_true")
    parser.add_argument("--biases", action="store_true")
    options = parser.parse_args()
    print(machine())
    if options.biases:
        biases(LOSSES[1])
    for loss in LOSSES if options.minute else []:
        minute(loss)


def minute(loss: Loss) -> None:
    """Search for a minute, and print what random walks find in the same time."""
    model = load(loss.spec).bind(**loss.constants)
    explore(model, max_states=1000, progress=False)  # compiles
    until = time.perf_counter() + MINUTE
    searched = explore(model, stopped=lambda: time.perf_counter() > until, progress=False)
    print(
        f"{model.spec.name}, {show_text(model.constants)}: searched breadth first,"
        f" {searched.verdict} after {searched.seconds:.0f} s and {searched.distinct:,} states,"
        f" depth {searched.depth}"
        f" ({searched.violated or searched.undecided_reason})"
    )
    for seed in range(1, 6):
        met = simulate(
            model, seconds=MINUTE, steps=loss.steps, bias="swarm", seed=seed, progress=False
        )
        way = f"{met.violated} in {met.found_in} steps, shortened to {len(met.trace or [])}"
        print(
            f"  seed {seed}: {way if met.violated else met.verdict}, after {met.steps:,} steps of"
            f" {met.walks:,} walks in {met.seconds:.1f} s"
        )


def biases(loss: Loss) -> None:
    """Print how many walks each bias takes to meet the loss, with six seeds; None: not at all."""
    model = load(loss.spec).bind(**loss.constants)
    for bias in ("steps", "actions", "rare", "swarm"):
        options = {"walks": loss.walks, "steps": loss.steps, "bias": bias, "progress": False}
        met = [simulate(model, seed=seed, **options) for seed in range(1, 7)]
        print(bias, [each.walks if each.violated else None for each in met])


if __name__ == "__main__":
    main()
