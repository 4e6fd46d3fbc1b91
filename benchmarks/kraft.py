"""Measures KRaft: the bytes of a state, the time to compile, and the speed of a search.

    .venv/bin/python -m benchmarks.kraft

The search has three servers, two epochs and no values, and stops at a million states; it runs on
one core and on all, without invariants and with the default ones. Compiling is timed with an empty
cache, and after an edit of each action, one at a time; the rates do not include it. On a busy
machine the rates are lower bounds.
"""

import inspect
import os
import tempfile
import textwrap
from dataclasses import replace

from benchmarks.growth import kraft
from benchmarks.measurement import machine, measure, spread
from protocol_lab.catalog import load
from protocol_lab.compiler.kernels import Kernels
from protocol_lab.model.spec import Action, Model

SPEC, CONSTANTS = "kraft.kip_853", kraft(3, 2, 0)
STATES, RUNS = 1_000_000, 3
CHECKED = {"no invariants": [], "the default invariants": None}


def main() -> None:
    """Print the table of a state's fields, then one line per measurement."""
    print(machine())
    model = load(SPEC).bind(**CONSTANTS)
    print_fields(model)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PROTOCOL_LAB_CACHE"] = cache
        for name, invariants in CHECKED.items():
            found = measure(SPEC, CONSTANTS, 1, invariants=invariants, max_states=50_000)
            print(f"compiling for {name}: {found.compile_seconds:.1f} s")
        print(f"compiling after an edit of one action: {spread(after_edits(model))} s")
        cores = sorted(os.sched_getaffinity(0))
        for used in (cores[:1], cores):
            os.sched_setaffinity(0, used)
            for name, invariants in CHECKED.items():
                found = measure(SPEC, CONSTANTS, RUNS, invariants=invariants, max_states=STATES)
                rates = spread([found.distinct / each for each in found.seconds])
                print(f"{len(used)} of {len(cores)} cores, {name}: {rates} states a second")


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
        kernels.of_search([], [])
        seconds.append(kernels.compile_seconds)
    return seconds


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
