"""A spec with far too many initial states to be listed: every sequence of messages is one.

The layout is that of the golden runs, so nothing is compiled for it that they do not need.
"""

import signal

import pytest

from protocol_lab.catalog import load
from protocol_lab.distance.nearest_violation import Nearness
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.notebook import step
from protocol_lab.simulation import random_walks
from protocol_lab.simulation.simulate import simulate
from protocol_lab.traces.scenarios import parse_scenario, play, scenario_text
from protocol_lab.traces.text_exports import read_json, to_json
from protocol_lab.traces.walk import Walk

SPEC = "pulsar.compaction"
ALL_THERE = {"model_producer": False, "value_space": 99}
LAST = "init(keys=[2, 2, 2], values=[99, 99, 99])"


@pytest.fixture(scope="module")
def model():
    """(3 · 100)³ initial states: three keys and a hundred values, the null ones included."""
    return load(SPEC).bind(**ALL_THERE, message_sent_limit=3, key_space=2)


def test_a_walk_begins_anywhere_at_once(model):
    for text in (LAST, LAST.replace("99, 99]", "99, 98]")):
        assert Walk.begin(model, text).init == text
    huge = load(SPEC).bind(**ALL_THERE, message_sent_limit=10, key_space=1)
    text = f"init(keys={[1] * 10}, values={[99] * 10})"
    assert Walk.begin(huge, text).init == text


def test_a_walk_is_exported_with_its_start(model):
    walk = Walk.begin(model, LAST)
    walk.take("compactor_phase_one()")
    assert play(parse_scenario(scenario_text(walk))).row == walk.row
    assert read_json(to_json(walk)).row == walk.row


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "There are several initial states: say which, of init(keys=[0, 0, 0], values=[0,"),
        ("init(keys=[2, 2, 2])", "init(keys=[2, 2, 2], values=[0, 0, 1]); "),
        ("init(keys=[0, 0, 0], values=[0, 0, 100])", "there is no such initial state"),
        ("init(keys=[0, 0], values=[0, 0, 0])", "there is no such initial state"),
        ("init(keys=[0, 0, 0], values=7)", "values=7 is not a sequence of numbers"),
        ("init(messages=[0])", "there is no such initial state"),
    ],
)
def test_what_chooses_no_single_start_is_told_at_once(model, text, sentence):
    with pytest.raises(LabError) as told:
        Walk.begin(model, text)
    assert sentence in str(told.value)


def test_the_stepper_lists_some_and_takes_any(model):
    stepper = step(model)
    assert (len(stepper.view["starts"]), stepper.view["more_starts"]) == (100, True)
    stepper._on_message(stepper, {"command": "restart", "start": LAST})
    assert stepper.walk.init == LAST
    assert not step(SPEC).view["more_starts"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_search_ends_in_its_first_level(model, engine):
    """At a number of states, when told to stop, and when interrupted; so many were seen."""
    bounded = explore(model, engine=engine, max_states=2500)
    assert (bounded.verdict, bounded.distinct, bounded.depth) == ("undecided", 2500, 1)

    asked = []
    stopped = explore(model, engine=engine, stopped=lambda: asked.append(1) or len(asked) == 2)
    assert (stopped.undecided_reason, stopped.depth, len(asked)) == ("stopped", 1, 2)

    def interrupt() -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    interrupted = explore(model, engine=engine, stopped=interrupt)
    assert (interrupted.undecided_reason, interrupted.depth) == ("interrupted", 1)
    assert 0 < interrupted.distinct <= stopped.distinct


@pytest.mark.slow
def test_memory_is_bounded_in_the_first_level(model):
    bounded = explore(model, memory_gib=0.003)
    assert (bounded.verdict, bounded.depth) == ("undecided", 1)
    assert "GiB of memory" in bounded.undecided_reason


def test_random_walks_begin_in_some_that_are_drawn(model, monkeypatch):
    monkeypatch.setattr(random_walks, "STARTS", 200)
    asked = {"walks": 300, "steps": 12, "progress": False}
    lossy = load(SPEC).bind(**model.constants._asdict() | {"retain_null_key": 1})
    found = simulate(lossy, invariants=["duplicate_null_key_message"], seed=5, **asked)
    again = simulate(lossy, invariants=["duplicate_null_key_message"], seed=5, **asked)
    assert found.violated == again.violated == "duplicate_null_key_message"
    assert found.initial == again.initial
    assert play(parse_scenario(scenario_text(found))).row == found.trace_rows[-1]
    nothing = simulate(model, invariants=[], **asked)
    assert "from 200 initial states that were drawn as well" in nothing.undecided_reason


def test_distances_are_given_up_where_the_starts_are_too_many(model):
    nearness = Nearness(model, ["type_safe"], max_states=3000)
    assert not nearness.prepare()
    assert nearness.too_large == "more than 3,000 states"
    assert nearness.ask(Walk.begin(model, LAST).row).here.kind is not None
