"""Specs of one process may have structs of equal names: Numba keeps one object for equal types."""

import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocol_lab.compiler import building
from protocol_lab.compiler.operations import records
from tests.spec_checks import agree

SOURCE = """
from typing import NamedTuple
from protocol_lab import *
from protocol_lab import HOLDS, TAKEN

Server = Node("servers")

class Constants(NamedTuple):
    servers: int = 2

def item():
    class Item(Struct):
        {fields}
    return Item

Item = item()
Twin = item()

class State(Struct):
    n: Int8
    found: Int8
    kept: Item
    twin: Twin
    log: Seq(Item, {room})
    bag: Bag(Item, 3)
    of: Per(Server, Item)

spec = Spec("equal_names", State, Constants)

@spec.init
def start(s, c):
    return TAKEN

@spec.action
def act(s, c, server: Server):
    if s.n == 3:
        return "done"
    s.n += 1
    item = Item(mode="busy", value=s.n % 2)
    append(s.log, item)
    add_once(s.bag, item)
    s.of[server] = s.log[0]
    s.kept = last(s.log)
    s.twin = s.kept
    either = s.kept if server == 1 else s.bag.items[0]
    for each in s.log:
        if each in s.bag and each == either:
            s.found += 1
    for each in s.bag:
        if each in s.log or each == s.of[server]:
            s.found += 1
    if s.n == 3:
        take(s.bag, item)
    return TAKEN

@spec.invariant
def is_told(s, c):
    told = s.n == 3 and any(each.mode == "{told}" for each in s.log)
    return "told" if told else HOLDS
"""

BUSY = 'Named("idle", "busy")'
VARIANTS = [
    {"fields": f"value: Int8; mode: {BUSY}", "room": 3, "told": "idle"},
    {"fields": 'value: Int8; mode: Named("busy", "idle")', "room": 3, "told": "busy"},
    {"fields": f"value: Int16; mode: {BUSY}", "room": 4, "told": "idle"},
    {"fields": f"mode: {BUSY}; value: Int8", "room": 3, "told": "busy"},
]


def declared(number: int):
    """A model; each is from a file of its own, and from the same module."""
    source = SOURCE.format(**VARIANTS[number])
    name = f"<equal names {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"__name__": "equal_names"}
    exec(compile(source, name, "exec"), scope)
    return scope["spec"].bind()


def main(field: str, *numbers: str) -> None:
    """Compare both engines on these variants, each declared twice: of the first declaration only
    the type of this field is left. Print what was found, and how much was compiled."""
    kept = []
    for number in map(int, numbers):
        kept.append(records.numba_type(declared(number).layout.fields[field]))
        result = agree(declared(number), progress=False)
        print(number, result.verdict, result.distinct)
    print(len(building.compilations))


def compared(cache: Path, field: str, numbers: list[int]) -> list[str]:
    """What `main` printed in a process of its own, with this kernel cache."""
    ran = subprocess.run(
        [sys.executable, "-m", __name__, field, *map(str, numbers)],
        env={**os.environ, "PROTOCOL_LAB_CACHE": str(cache)},
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.rarely
def test_structs_of_equal_names(tmp_path):
    """In both orders, and with kernels that other processes have compiled."""
    numbers = [*range(len(VARIANTS))]
    *first, compilations = compared(tmp_path, "bag", numbers[::2])
    assert int(compilations) > 0
    *others, compilations = compared(tmp_path, "log", numbers[::-1])
    assert int(compilations) > 0
    *again, compilations = compared(tmp_path, "bag", numbers)
    assert (again, compilations) == (sorted(others), "0")
    assert set(first) < set(others)
    assert {each.split()[1] for each in others} == {"holds", "violated"}


if __name__ == "__main__":
    main(*sys.argv[1:])
