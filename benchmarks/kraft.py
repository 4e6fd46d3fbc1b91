"""Measures KRaft: the bytes of a state, the time to compile, and the speed of a search.

    .venv/bin/python -m benchmarks.kraft [--runs 3] [--states 1000000]

The search has three servers, two epochs and no values, and stops at a million states; it runs on
one core and on all, without invariants and with the default ones. Compiling is timed with an empty
cache, and after an edit of each action, one at a time; the rates do not include it. On a busy
machine the rates are lower bounds; the rate per second of processor time is the more reliable one.
"""

import argparse
import inspect
import os
import tempfile
import textwrap
import time
from dataclasses import replace

from benchmarks.measurement import machine, spread
from protocol_lab.catalog import load
from protocol_lab.checker.result import Result
from protocol_lab.compiler.kernels import Kernels
from protocol_lab.explore import explore
from protocol_lab.model.spec import Action, Model

CONSTANTS = {
    "init_cluster_size": 3,
    "min_cluster_size": 3,
    "max_cluster_size": 3,
    "hosts": 3,
    "max_spawned_servers": 3,
    "max_epoch": 2,
    "value": 1,
    "max_values_per_epoch": 0,
}


def main() -> None:
    """Print the table of a state's fields, then one line per measurement."""
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
        print(f"compiling after an edit of one action: {spread(after_edits(model))} s")
        cores = sorted(os.sched_getaffinity(0))
        for used in (cores[:1], cores):
            os.sched_setaffinity(0, used)
            print(f"{len(used)} of {len(cores)} cores")
            for name, invariants in (("no invariants", []), ("the default invariants", None)):
                measure(model, name, invariants, options)


def after_edits(model: Model) -> list[float]:
    """For each action, the seconds to compile again after an edit of it."""
    seconds = []
    for k, action in enumerate(model.spec.actions):
        number = f"EDITED_{k}"  # read by the edited version: so it has another hash
        source = textwrap.dedent(inspect.getsource(action.function)).partition("def ")[2]
        head, _, body = source.partition('"""')
        text = f'def {head}edited = {number}\n    """{body}'
        scope = {**action.function.__globals__, number: k}
        exec(text, scope)
        edited = scope[action.function.__name__]
        edited.lab_source = text
        actions = [*model.spec.actions]
        actions[k] = Action(edited, action.domains, multiplicity=action.multiplicity)
        changed = replace(model, spec=replace(model.spec, actions=actions))
        kernels = Kernels(changed)
        kernels.expand()
        seconds.append(kernels.compile_seconds)
    return seconds


def measure(
    model: Model, name: str, invariants: list[str] | None, options: argparse.Namespace
) -> None:
    """Search several times, and print the best rate per second of processor time."""
    results: list[Result] = []
    rates = []
    for _ in range(options.runs):
        began = time.process_time()
        results.append(
            explore(model, invariants=invariants, max_states=options.states, progress=False)
        )
        rates.append(results[-1].distinct / (time.process_time() - began))
    by_seconds = [each.distinct / each.seconds for each in results]
    print(f"  {name}: {results[0].distinct:,} distinct states, {spread(by_seconds)} a second")
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
