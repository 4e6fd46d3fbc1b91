"""The classes of a notebook's cells: the newest version of one is taken, and no other class."""

import pytest

from protocol_lab import TAKEN, Int8, Spec, Struct


class State(Struct):
    n: Int8


def begin(s, c):
    return TAKEN


CELL = """
from typing import NamedTuple
from protocol_lab import TAKEN, Int8, Spec, Struct

class State(Struct):
    n: Int8

spec = Spec("cell.one", State)

@spec.init
def begin(s, c):
    return TAKEN
"""


@pytest.fixture
def cells():
    """The names of a notebook in which one spec was declared."""
    scope = {"__name__": "__main__"}
    exec(CELL, scope)
    return scope


def fields(spec: Spec) -> list[str]:
    return [*spec.bind().layout.fields]


def test_a_class_that_was_edited_replaces_the_older_one(cells):
    assert fields(cells["spec"]) == ["n"]
    exec("class State(Struct):\n    n: Int8\n    more: Int8", cells)
    assert fields(cells["spec"]) == ["n", "more"]


def test_a_class_is_not_replaced_with_its_base_in_another_module(cells):
    exec("from tests.model import test_redeclared_classes as base", cells)
    exec("class State(base.State):\n    more: Int8\nwider = Spec('cell.two', State)", cells)
    cells["wider"].init(begin)
    assert fields(cells["wider"]) == ["n", "more"]


def test_nor_with_one_that_extends_it_or_that_it_extends(cells):
    exec("class State(State):\n    more: Int8\nwider = Spec('cell.two', State)", cells)
    cells["wider"].init(cells["begin"])
    assert (fields(cells["spec"]), fields(cells["wider"])) == (["n"], ["n", "more"])
    exec("class State(Struct):\n    n: Int8\n    other: Int8", cells)
    assert (fields(cells["spec"]), fields(cells["wider"])) == (["n", "other"], ["n", "more"])


def test_nor_with_the_state_of_another_spec(cells):
    exec("class State(Struct):\n    x: Int8\nother = Spec('cell.other', State)", cells)
    cells["other"].init(cells["begin"])
    assert (fields(cells["spec"]), fields(cells["other"])) == (["n"], ["x"])
