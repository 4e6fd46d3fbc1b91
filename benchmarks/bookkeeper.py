"""How fast BookKeeper's protocols are explored, on one core and on all; best and worst of the runs.

    .venv/bin/python -m benchmarks.bookkeeper [--runs 3] [--states 4000000] [--to-the-end]

First the loss that the release 4.13 is known for: TLC found it on this kind of machine after 112 s
and 1.9 million distinct states. Then today's protocol as its specification is configured (4
bookies, 2 clients, write quorum 3, ack quorum 2), up to so many states, or with --to-the-end as far
as the memory goes. Compiling is not measured. On a machine that is busy with other things all
figures are lower bounds.
"""

import argparse
import os

from benchmarks.engines import machine
from protocol_lab.catalog import load
from protocol_lab.exploring.explore import explore
from protocol_lab.exploring.result import Result

LOSS = ("bookkeeper.v4_13", {})
SHIPPED = ("bookkeeper.protocol", {})


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--states", type=int, default=4_000_000)
    parser.add_argument("--to-the-end", action="store_true")
    parser.add_argument("--memory", type=float, help="GiB for --to-the-end; default: half of all")
    options = parser.parse_args()
    print(machine())
    cores = sorted(os.sched_getaffinity(0))
    for used in (cores[:1], cores):
        os.sched_setaffinity(0, used)
        print(f"{len(used)} of {len(cores)} cores")
        report("the loss of 4.13", [run(*LOSS) for _ in range(options.runs)])
        report(
            f"today's protocol, {options.states:,} states",
            [run(*SHIPPED, max_states=options.states) for _ in range(options.runs)],
        )
    if options.to_the_end:
        report("today's protocol, to the end", [run(*SHIPPED, memory_gib=options.memory)])


def run(name: str, constants: dict, **bounds: float | None) -> Result:
    """One search of a spec with its default invariants."""
    return explore(load(name).bind(**constants), progress=False, **bounds)


def report(what: str, results: list[Result]) -> None:
    """One line: what came of it, and the rates of the fastest and the slowest run."""
    rates = sorted(each.distinct / each.seconds for each in results)
    found = results[0]
    outcome = found.violated or found.undecided_reason or "holds"
    print(
        f"  {what}: {found.distinct:,} distinct states, depth {found.depth}, {outcome};"
        f" {min(each.seconds for each in results):.2f} s at best,"
        f" {rates[-1]:,.0f} distinct states/s (slowest run {rates[0]:,.0f})"
    )


if __name__ == "__main__":
    main()
