"""A variant has all of another spec, and more; classes declared again, and kinds of nodes; and the
module that a comparison with TLC needs."""

import textwrap
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab import TAKEN, Int8, LabError, Limits, Spec, Struct, extends, flag
from protocol_lab.drawing.pictures import picture
from protocol_lab.explore import explore
from protocol_lab.model.constants import limits_of
from protocol_lab.model.transitions import initial
from tests.spec_checks import agree


class Constants(NamedTuple):
    most: Annotated[int, Limits(0, 9, "how far to count")] = 2
    step: Annotated[int, Limits(1, 3, "how much is added")] = 1


class State(Struct):
    count: Int8


def start(s, c):
    """Nothing is counted."""
    return TAKEN


def count_on(s, c):
    """Counts, up to `most`."""
    if s.count + c.step > c.most:
        return "that is enough"
    s.count += c.step
    return TAKEN


def counter(name: str, **changed: object) -> Spec:
    spec = Spec(name, **{"state": State, "constants": Constants, **changed})
    spec.init(start)
    spec.action(count_on)
    return spec


@extends(Constants)
class More(NamedTuple):
    """Counts further, and back."""

    most: Annotated[int, Limits(0, 20, "how far to count, and further")] = 4
    back: Annotated[int, flag("it counts back as well")] = 1


class Backwards(State):
    times: Int8


def count_back(s, c):
    """Counts back once, if the constant allows it."""
    if not c.back or s.times > 0 or s.count == 0:
        return "it does not count back"
    s.count -= 1
    s.times += 1
    return TAKEN


@pytest.fixture
def variant() -> Spec:
    spec = counter("backwards", state=Backwards, constants=More)
    spec.action(count_back)
    return spec


def test_constants_are_those_of_the_other_and_those_that_are_added():
    assert More._fields == ("most", "step", "back")
    assert More._field_defaults == {"most": 4, "step": 1, "back": 1}
    assert limits_of(More)["most"].high == 20
    assert (More.__doc__, More.__module__) == ("Counts further, and back.", __name__)


def test_both_engines_explore_it(variant):
    assert agree(counter("forwards").bind(), progress=False).distinct == 3
    assert agree(variant.bind(), progress=False).distinct == 10
    assert agree(variant.bind(back=False, most=20, step=2), progress=False).distinct == 11


def test_the_other_lacks_what_is_added():
    with pytest.raises(LabError, match="forwards has no constant 'back'; it has: most, step"):
        counter("forwards").bind(back=True)


# --- Classes that are declared again -------------------------------------------------------------


class Redeclared(Struct):
    n: Int8


def begin(s, c):
    return TAKEN


CELL = """
from typing import NamedTuple
from protocol_lab import TAKEN, Int8, Spec, Struct

class Redeclared(Struct):
    n: Int8

spec = Spec("cell.one", Redeclared)

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
    exec("class Redeclared(Struct):\n    n: Int8\n    more: Int8", cells)
    assert fields(cells["spec"]) == ["n", "more"]


def test_a_class_is_not_replaced_with_its_base_in_another_module(cells):
    exec("from tests.model import test_variants as base", cells)
    exec(
        "class Redeclared(base.Redeclared):\n    more: Int8\nwider = Spec('cell.two', Redeclared)",
        cells,
    )
    cells["wider"].init(begin)
    assert fields(cells["wider"]) == ["n", "more"]


def test_nor_with_one_that_extends_it_or_that_it_extends(cells):
    exec(
        "class Redeclared(Redeclared):\n    more: Int8\nwider = Spec('cell.two', Redeclared)", cells
    )
    cells["wider"].init(cells["begin"])
    assert (fields(cells["spec"]), fields(cells["wider"])) == (["n"], ["n", "more"])
    exec("class Redeclared(Struct):\n    n: Int8\n    other: Int8", cells)
    assert (fields(cells["spec"]), fields(cells["wider"])) == (["n", "other"], ["n", "more"])


def test_nor_with_the_state_of_another_spec(cells):
    exec("class Redeclared(Struct):\n    x: Int8\nother = Spec('cell.other', Redeclared)", cells)
    cells["other"].init(cells["begin"])
    assert (fields(cells["spec"]), fields(cells["other"])) == (["n"], ["x"])


# --- Nodes ---------------------------------------------------------------------------------------


class Cars(NamedTuple):
    right: Annotated[int, Limits(0, 3, "cars from the right")] = 2
    left: Annotated[int, Limits(0, 3, "cars from the left")] = 1


Car = Node("right + left", noun="car")


class Bridge(Struct):
    crossed: NodeSet(Car)
    order: Seq(Car, "right + left")
    seen: Per(Car, NodeSet(Car))


bridge = Spec("toy.bridge", Bridge, Cars)


@bridge.init
def nobody_crosses(s, c):
    """Nobody has crossed."""
    return TAKEN


@bridge.action
def cross(s, c, car: Car, looks_at: Subset(Car)):
    """A car crosses, and sees some of the cars that have crossed."""
    if contains(s.crossed, car):
        return "it has crossed"
    if looks_at & ~s.crossed:
        return "it sees only those that have crossed"
    s.crossed = with_node(s.crossed, car)
    s.seen[car] = looks_at
    append(s.order, car)
    return TAKEN


@bridge.invariant
def nobody_sees_itself(s, c):
    """A car is not among those that it has seen."""
    for car in range(1, c.right + c.left + 1):
        if contains(s.seen[car], car):
            return "a car sees itself"
    return HOLDS


@pytest.mark.parametrize(("left", "distinct"), [(0, 1 + 2 + 2 * 2), (1, 1 + 3 + 6 * 2 + 6 * 2 * 4)])
def test_engines_agree(left, distinct):
    """In each order the second car may have seen the first one, the third any of the two."""
    assert agree(bridge.bind(left=left), progress=False).distinct == distinct


def test_nodes_that_several_constants_count_are_not_alike():
    with pytest.raises(LabError, match="a Node needs a constant of its own"):
        Spec("toy.bridge", Bridge, Cars).symmetric(Car)


def test_they_have_columns_and_names():
    model = bridge.bind()
    drawn = picture(model, next(initial(model)).row)
    assert all(f"car {car}" in drawn for car in (1, 2, 3))


# --- The module with what only a comparison with TLC needs ---------------------------------------


def write_module(folder, name: str) -> None:
    text = f"""
        from {__name__} import count_on

        MULTIPLICITIES = {{count_on: lambda s, c: 3}}
    """
    (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")


def test_the_module_is_loaded_with_the_first_model(here, monkeypatch):
    monkeypatch.syspath_prepend(here)
    write_module(here, "counted_by_tlc")
    spec = counter("count", tlc="counted_by_tlc")
    result = explore(spec.bind(), engine="python", progress=False)
    assert (result.distinct, result.generated) == (3, 7)


def test_an_action_that_was_replaced_has_no_multiplicity(here, monkeypatch):
    monkeypatch.syspath_prepend(here)
    write_module(here, "counted_by_tlc_before")
    spec = counter("count", tlc="counted_by_tlc_before")

    def replaced(s, c):
        """Counts, up to `most`."""
        return count_on(s, c)

    replaced.__name__ = "count_on"
    spec.action(replaced)
    result = explore(spec.bind(most=1), engine="python", progress=False)
    assert (result.distinct, result.generated) == (2, 2)
