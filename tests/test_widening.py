"""A search that has no more room makes storage larger, and counts as if it had been so before."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.model.constants import widened
from protocol_lab.traces.scenario_format import scenario_text
from protocol_lab.traces.walk import Walk
from tests.spec_checks import ENGINES, agree


class Constants(NamedTuple):
    sent: Annotated[int, Limits(0, 99, "messages sent")] = 5
    slots: Annotated[int, storage(1, 8, "messages that were sent")] = 2
    lines: Annotated[int, storage(1, 7, "half of the lines of the log")] = 1


class State(Struct):
    sent: Bag(Int8, "slots")
    log: Seq(Int8, "lines + lines")


spec = Spec("toy.sender", state=State, constants=Constants)


@spec.init
def begin(s: State, c: Constants):
    return TAKEN


@spec.action
def send(s: State, c: Constants):
    if s.sent.size >= c.sent:
        return "all are sent"
    add_once(s.sent, s.sent.size)
    return TAKEN


@spec.action
def write(s: State, c: Constants):
    if s.log.length >= s.sent.size:
        return "everything is written"
    append(s.log, s.log.length)
    return TAKEN


@spec.invariant(by_default=False)
def few_lines(s: State, c: Constants):
    return "five lines" if s.log.length == 5 else ""


def test_counts_are_those_of_a_search_with_room_from_the_start():
    small = agree(spec.bind())
    wide = explore(spec.bind(slots=8, lines=7))
    assert (small.verdict, wide.widened) == ("holds", [])
    assert (small.per_depth, small.per_action) == (wide.per_depth, wide.per_action)
    assert (small.model.constants.slots, small.model.constants.lines) == (8, 4)
    assert "began again with slots=4" in small.widened[0]
    assert "lines=4" in str(small)
    assert small.to_json()["constants"]["slots"] == 8


def test_the_trace_is_that_of_the_model_with_room():
    result = agree(spec.bind(), invariants=["few_lines"])
    assert (result.violated, len(result.trace)) == ("few_lines", 10)
    assert {len(row) for row in result.trace_rows} == {result.model.layout.size}
    assert "slots=8" in scenario_text(result)


@pytest.mark.parametrize("engine", ENGINES)
def test_only_the_declared_maximum_ends_a_search(engine):
    result = explore(spec.bind(sent=20), engine=engine)
    assert result.verdict == "undecided"
    assert "no room for more than 8: 8 is the maximum of slots" in result.undecided_reason
    assert len(result.widened) >= 2
    bounded = explore(spec.bind(sent=20), engine=engine, max_states=3)
    assert (bounded.distinct, bounded.widened) == (3, [])


@pytest.mark.rarely
def test_on_spark_too_but_not_in_a_folder_that_was_named(tmp_path):
    wide = explore(spec.bind(slots=8, lines=7))
    result = explore(spec.bind(), engine="spark", progress=False)
    assert (result.verdict, result.per_depth) == ("holds", wide.per_depth)
    assert (result.model.constants.slots, result.model.constants.lines) == (8, 4)
    named = explore(spec.bind(), engine="spark", folder=tmp_path / "run", progress=False)
    assert (named.verdict, named.widened) == ("undecided", [])
    assert "raise slots" in named.undecided_reason


def test_a_temporal_property_is_judged_on_the_model_with_room():
    result = check_property(spec.bind(), eventually("s.log.length == 5"), fairness="next")
    assert result.verdict == "holds"
    assert result.model.constants.slots == 8


def test_a_walk_gets_more_room_when_a_step_needs_it():
    """Its states are those of a walk with room from the start, on all branches."""
    walk, wide = (Walk.begin(spec.bind(**room)) for room in ({}, {"slots": 8, "lines": 4}))
    for each in (walk, wide):
        each.take("send()")
        each.lay("aside", ["write()"])
        each.switch("main")
        for step in ["send()", "send()", "write()", "write()", "write()"]:
            each.take(step)
        each.lay("ahead", ["send()", "send()", "write()", "write()"])
        each.last()
        assert not any(attempt.over_capacity for attempt in each.attempts())
    assert walk.model.constants == wide.model.constants
    for branch in wide.branches:
        walk.switch(branch)
        wide.switch(branch)
        assert [each.row for each in walk.path] == [each.row for each in wide.path]


def test_a_step_beyond_the_declared_maximum_can_not_be_taken():
    walk = Walk.begin(spec.bind(sent=20))
    for _ in range(8):
        walk.take("send()")
    with pytest.raises(LabError, match="no room for more than 8"):
        walk.take("send()")
    assert [each.over_capacity for each in walk.attempts()] == [True, False]


@pytest.mark.parametrize(
    ("given", "size", "slots", "lines"),
    [
        ({}, "slots", 4, 1),
        ({"slots": 3}, "slots", 6, 1),
        ({"slots": 5}, "slots", 8, 1),
        ({}, "lines + lines", 2, 2),
        ({"lines": 4}, "lines", 2, 7),
        ({}, "slots * lines", 4, 2),
    ],
)
def test_the_next_room_is_twice_as_much_or_the_maximum(given, size, slots, lines):
    assert widened(spec.bind(**given).constants, size) == Constants(5, slots, lines)
