"""A learner's spec as a notebook cell leaves it: in __main__, its source known to linecache."""

import linecache

from protocol_lab.model.spec import Spec

CELL = """
from typing import Annotated, NamedTuple
from protocol_lab import HOLDS, TAKEN, Array, Int8, Limits, Range, Spec, Struct

class Constants(NamedTuple):
    limit: Annotated[int, Limits(1, 50, "where counting ends")] = 5

class Pair(Struct):
    left: Int8
    right: Int8

class State(Struct):
    pair: Pair

spec = Spec("cell.pair", State, Constants)

@spec.init
def start(s: State, c: Constants):
    return TAKEN

def room(c) -> int:
    return c.limit

@spec.action
def count(s: State, c: Constants, by: Range(1, 2)):
    if s.pair.left + by > room(c):
        return "the end"
    s.pair = Pair(left=s.pair.left + by, right=by)
    return TAKEN

@spec.invariant
def below(s: State, c: Constants):
    return HOLDS if s.pair.left <= room(c) else "too far"
"""

NAME = "<cell 1>"


def spec_in_a_cell() -> Spec:
    """Run the cell; its spec."""
    linecache.cache[NAME] = (len(CELL), None, CELL.splitlines(keepends=True), NAME)
    scope = {"__name__": "__main__"}
    exec(compile(CELL, NAME, "exec"), scope)
    return scope["spec"]
