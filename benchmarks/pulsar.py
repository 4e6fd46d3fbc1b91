"""How long the two sizes take that the comment in Pulsar's original specification mentions.

    .venv/bin/python -m benchmarks.pulsar [--runs 9]

Three messages, three compactions, two keys and two values, one crash: with a modelled producer, and
without one, when every sequence of messages is an initial state. Compiling is not counted; it is
told apart. Machines are noisy: the median of the runs, with the fastest and the slowest.
"""

import argparse

from benchmarks.engines import machine, spread
from protocol_lab.catalog import load
from protocol_lab.explore import explore

SIZES = [({}, 253_361), ({"model_producer": False}, 45_198)]
CHECKED = ([], ["type_safe", "compaction_horizon_correctness"])


def main() -> None:
    """Print one line a size and choice of invariants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    print(machine())
    for constants, distinct in SIZES:
        model = load("pulsar.compaction").bind(**constants)
        for invariants in CHECKED:
            first = explore(model, invariants=invariants, progress=False)
            results = [explore(model, invariants=invariants, progress=False) for _ in range(runs)]
            assert {each.distinct for each in [first, *results]} == {distinct}
            print(
                f"{distinct:,} states, {len(invariants)} invariants:"
                f" {spread([each.seconds for each in results])} s"
                f" (compiling or loading before: {first.compile_seconds:.1f} s)"
            )


if __name__ == "__main__":
    main()
