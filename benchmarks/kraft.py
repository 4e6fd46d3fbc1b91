"""What a state of KRaft is made of, how long compiling takes, and how fast it is explored.

    .venv/bin/python -m benchmarks.kraft [--runs 3] [--states 1000000]

Three servers, two epochs, no values, stopped at a million states, on one core and on all; without
invariants, as states are counted, and with the default ones. Compiling is timed in an empty cache
and not part of the rates. On a machine that is busy with other things the rates are lower bounds:
the one by processor time is nearer to the truth.
"""

import argparse
import os
import tempfile
import time

from benchmarks.bookkeeper import report
from benchmarks.engines import machine
from protocol_lab.catalog import load
from protocol_lab.declaring.spec import Model
from protocol_lab.exploring.explore import explore
from protocol_lab.exploring.result import Result

CONSTANTS = {
    "init_cluster_size": 3,
    "min_cluster_size": 3,
    "max_cluster_size": 3,
    "hosts": 3,
    "max_epoch": 2,
    "value": 1,
    "max_values_per_epoch": 0,
}


def main() -> None:
    """Print the table of a state's fields, then one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--states", type=int, default=1_000_000)
    options = parser.parse_args()
    print(machine())
    model = load("kraft.kip_853").bind(**CONSTANTS)
    print_fields(model)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PROTOCOL_LAB_CACHE"] = cache
        for name, invariants in (("no invariants", []), ("the default invariants", None)):
            first = explore(model, invariants=invariants, max_states=50_000, progress=False)
            print(f"compiling for {name}: {first.compile_seconds:.1f} s")
        cores = sorted(os.sched_getaffinity(0))
        for used in (cores[:1], cores):
            os.sched_setaffinity(0, used)
            print(f"{len(used)} of {len(cores)} cores")
            for name, invariants in (("no invariants", []), ("the default invariants", None)):
                measure(model, name, invariants, options)


def measure(
    model: Model, name: str, invariants: list[str] | None, options: argparse.Namespace
) -> None:
    """Some runs, and the best rate by processor time."""
    results: list[Result] = []
    rates = []
    for _ in range(options.runs):
        began = time.process_time()
        results.append(
            explore(model, invariants=invariants, max_states=options.states, progress=False)
        )
        rates.append(results[-1].distinct / (time.process_time() - began))
    report(name, results)
    print(f"    {max(rates):,.0f} distinct states by second of processor time")


def print_fields(model: Model) -> None:
    """How many bytes each variable takes, the largest first; messages by their kinds."""
    fields = {}
    for name, layout in model.layout.fields.items():
        kinds = layout.fields if name.startswith("net_messages") else {"": layout}
        fields |= {f"{name}.{kind}".rstrip("."): each.size for kind, each in kinds.items()}
    for name, size in sorted(fields.items(), key=lambda each: -each[1]):
        print(f"{size:6} {name}")
    print(f"{model.layout.size - sum(fields.values()):6} to fill the last word")
    print(f"{model.layout.size:6} bytes in all")


if __name__ == "__main__":
    main()
