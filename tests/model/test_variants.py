"""A variant has the state, the constants and the actions of another spec, and more."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import TAKEN, Int8, LabError, Limits, Spec, Struct, extends, flag
from protocol_lab.model.constants import limits_of
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


def counter(name: str, **changed: type) -> Spec:
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
