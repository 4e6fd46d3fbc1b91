"""Measures how fast BookKeeper's protocols are explored, on one core and on all.

    .venv/bin/python -m benchmarks.bookkeeper [--runs 3] [--states 4000000]
    .venv/bin/python -m benchmarks.bookkeeper --to-the-end [--memory GIB]

First the loss in release 4.13, which TLC found on a similar machine after 112 s and 1.9 million
distinct states. Then today's protocol in the configuration of its specification (4 bookies, 2
clients, write quorum 3, ack quorum 2), up to the given number of states. The fastest and the
slowest of the runs are printed.

--to-the-end explores only the latter, until all states are seen or the memory is full: on one
core, on all, and on all with symmetry. It shows its progress; Ctrl-C ends a search, whose result so
far is printed. Compiling is not measured. On a busy machine all rates are lower bounds.
"""

import os
from collections.abc import Iterator
from typing import Any

import psutil

from benchmarks.measurement import machine, options_of
from protocol_lab.catalog import load
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore

LOSS = ("bookkeeper.v4_13", "default")
SHIPPED = ("bookkeeper.protocol", "shipped")


def main() -> None:
    """Print one line per measurement."""
    options = options_of(__doc__, "--to-the-end")
    print(machine())
    if options.to_the_end:
        to_the_end(options.memory)
    else:
        in_short_runs(options.runs, options.states)


def in_short_runs(runs: int, states: int) -> None:
    """The loss, and the first states of today's protocol, several times each."""
    for _ in cores():
        report("the loss of 4.13", [run(*LOSS) for _ in range(runs)])
        report(
            f"today's protocol, {states:,} states",
            [run(*SHIPPED, max_states=states) for _ in range(runs)],
        )


def to_the_end(memory_gib: float | None) -> None:
    """Today's protocol until everything is seen, the memory is full, or somebody interrupts."""
    for used in cores():
        for symmetry in (False, True) if used > 1 else (False,):
            run(*SHIPPED, max_states=1_000, symmetry=symmetry)  # compiles
            before = psutil.Process().memory_info().rss
            found = run(*SHIPPED, memory_gib=memory_gib, symmetry=symmetry, progress=True)
            taken = (psutil.Process().memory_info().rss - before) / found.distinct
            report("with symmetry" if symmetry else "today's protocol", [found])
            seen = "finished" if found.exhaustive else "not finished"
            print(f"    {seen}; {found.model.layout.size} bytes a state, {taken:.0f} with all else")
            del found


def cores() -> Iterator[int]:
    """Limit the searches to one core, then use all; yields the number of cores."""
    all_cores = sorted(os.sched_getaffinity(0))
    for used in (all_cores[:1], all_cores) if len(all_cores) > 1 else (all_cores,):
        os.sched_setaffinity(0, used)
        print(f"{len(used)} of {len(all_cores)} cores")
        yield len(used)


def run(name: str, configuration: str, progress: bool = False, **bounds: Any) -> Result:
    """One search of a configuration with its default invariants."""
    return explore(load(name).bind(configuration), progress=progress, **bounds)


def report(what: str, results: list[Result]) -> None:
    """Print one line: the outcome, and the rates of the fastest and the slowest run."""
    rates = sorted(each.distinct / each.seconds for each in results)
    found = results[0]
    outcome = found.violated or found.undecided_reason or "holds"
    several = f" at best (slowest run {rates[0]:,.0f})" if len(results) > 1 else ""
    print(
        f"  {what}: {found.distinct:,} distinct states, depth {found.depth}, {outcome};"
        f" {min(each.seconds for each in results):.2f} s,"
        f" {rates[-1]:,.0f} distinct states/s{several}"
    )


if __name__ == "__main__":
    main()
