"""Compiled code never reads memory that was freed: see the docstring of `compiler.loops`.

Most allocators leave a small freed block as it is, so that such a read is wrong but works. Here
freed blocks are filled.
"""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import HOLDS, TAKEN, Int8, Limits, Range, Spec, Struct
from protocol_lab.catalog import load, spec_names
from protocol_lab.checker import visited_set
from protocol_lab.compiler import loops
from protocol_lab.explore import explore
from protocol_lab.symmetry import state_identity

FILLED = {
    "PYTHONMALLOC": "debug",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
    "MALLOC_PERTURB_": "165",
    "MallocScribble": "1",  # macOS
}
"""Freed blocks are filled by Python's allocator and by the system's."""

SEARCHES = """
import sys
from protocol_lab.catalog import load
from protocol_lab.distance.nearest_violation import Nearness
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.model.transitions import initial
from protocol_lab.simulation.simulate import simulate

for name in sys.argv[1:]:
    spec = load(name)
    model = spec.bind()
    bounded = {"progress": False, "max_states": 3_000}
    assert explore(model, engine="native", **bounded).distinct
    for reduction, declared in (("symmetry", spec.symmetries), ("view", spec.erase)):
        if declared:
            assert explore(model, **{reduction: True}, **bounded).distinct
    for each in spec.properties[:1]:
        check_property(model, each.name, **bounded)
    assert simulate(model, walks=20, progress=False).walks
    Nearness(model, max_states=1_000, seconds=0.1).ask(next(initial(model)).row)
    print(name)
"""

IN_EACH_RUN = ["kafka.kip_320", "bookkeeper.quorum_coverage_fencing"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(IN_EACH_RUN, id="some"),
        *[
            pytest.param([name], id=name, marks=pytest.mark.rarely)
            for name in spec_names()
            if name not in IN_EACH_RUN
        ],
    ],
)
def test_all_kinds_of_searches(names):
    ran = subprocess.run(
        [sys.executable, "-c", SEARCHES, *names],
        env={**os.environ, **FILLED},
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert (ran.returncode, ran.stdout.split()) == (0, names), ran.stderr


class Constants(NamedTuple):
    most: Annotated[int, Limits(1, 40, "numbers in a list")] = 40


class State(Struct):
    total: Int8


lists = Spec("lists", State, Constants, "Adds up lists of numbers in local variables.")


@lists.init
def start(s: State, c: Constants):
    return TAKEN


@lists.action
def add_up(s: State, c: Constants, count: Range(1, "most")):
    """Adds up a list of as many numbers as are asked for, and one with as many as are written."""
    numbers, written = [1] * count, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    numbers[count - 1] = written[count % 11]
    more = [written[k % 11] for k in range(count)]
    s.total = sum(numbers) + more[count - 1]
    return TAKEN


@lists.invariant
def has_two_digits(s: State, c: Constants):
    marks = [100] * (c.most - 29)
    return HOLDS if s.total < marks[0] else "three digits"


def test_lists_of_1_to_40_numbers():
    found = {
        each: explore(lists.bind(), engine=each, progress=False) for each in ("native", "python")
    }
    native, python = found.values()
    assert (native.verdict, native.per_depth) == (python.verdict, python.per_depth)
    assert sum(native.per_depth) > 30


def test_addresses_are_of_parameters():
    """The rule in the docstring of `compiler.loops`, in every function that takes an address."""
    identify = state_identity._source(load("kraft.kip_853").bind(), symmetry=True, view=True)
    taken = []
    for source in (inspect.getsource(loops), identify):
        for function in ast.walk(ast.parse(source)):
            if isinstance(function, ast.FunctionDef):
                parameters = {each.arg for each in function.args.args}
                stored = {
                    each.id
                    for each in ast.walk(function)
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                }
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and ast.unparse(call.func) == "address_of":
                        [array] = call.args
                        assert array.id in parameters - stored, f"{function.name}: {array.id}"
                        taken.append((function.name, array.id))
    assert len(taken) > 12
    assert {each for each, _ in taken} == {"expand", "check", "identify"}
    package = Path(loops.__file__).parents[1]
    places = {
        each for each in package.rglob("*.py") if ".ctypes" in each.read_text(encoding="utf-8")
    }
    assert places == {Path(each.__file__) for each in (loops, visited_set)}
