"""Kinds of nodes whose number is an expression over constants."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.drawing.pictures import picture
from protocol_lab.model.transitions import initial
from tests.spec_checks import agree


class Constants(NamedTuple):
    right: Annotated[int, Limits(0, 3, "cars from the right")] = 2
    left: Annotated[int, Limits(0, 3, "cars from the left")] = 1


Car = Node("right + left", noun="car")


class State(Struct):
    crossed: NodeSet(Car)
    order: Seq(Car, "right + left")
    seen: Per(Car, NodeSet(Car))


spec = Spec("toy.bridge", State, Constants)


@spec.init
def start(s, c):
    """Nobody has crossed."""
    return TAKEN


@spec.action
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


@spec.invariant
def nobody_sees_itself(s, c):
    """A car is not among those that it has seen."""
    for car in range(1, c.right + c.left + 1):
        if contains(s.seen[car], car):
            return "a car sees itself"
    return HOLDS


@pytest.mark.parametrize(("left", "distinct"), [(0, 1 + 2 + 2 * 2), (1, 1 + 3 + 6 * 2 + 6 * 2 * 4)])
def test_engines_agree(left, distinct):
    """In each order the second car may have seen the first one, the third any of the two."""
    assert agree(spec.bind(left=left), progress=False).distinct == distinct


def test_nodes_that_several_constants_count_are_not_alike():
    with pytest.raises(LabError, match="a Node needs a constant of its own"):
        Spec("toy.bridge", State, Constants).symmetric(Car)


def test_they_have_columns_and_names():
    model = spec.bind()
    drawn = picture(model, next(initial(model)).row)
    assert all(f"car {car}" in drawn for car in (1, 2, 3))
