"""A spec with far too many initial states to be listed: every sequence of messages is one.

The layout is that of the golden runs, so nothing is compiled for it that they do not need.
"""

import signal
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.notebook import step
from protocol_lab.simulation import random_walks
from protocol_lab.simulation.simulate import simulate
from protocol_lab.traces.scenario_format import parse_scenario, scenario_text
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.text_exports import to_itf
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
    assert read_pasted(to_itf(walk)).row == walk.row


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


# --- Every state of an invariant ------------------------------------------------------------------


class Sizes(NamedTuple):
    nodes: Annotated[int, Limits(1, 3, "nodes")] = 3
    most: Annotated[int, Limits(0, 9, "the largest number")] = 2


Server = Node("nodes")
Mode = Named("idle", "busy", "gone")


class Chosen(Struct):
    up: NodeSet(Server)
    leader: Server
    mode: Mode
    sure: Bool
    number: Per(Server, Int8)


def is_inductive(s, c) -> bool:
    return (s.leader in s.up or s.mode == "gone") and sum(
        s.number[k] for k in nodes_up_to(c.nodes)
    ) < 5


def filled(s, c, up: NodeSet(Server), leader, mode: Mode, sure, numbers) -> str:
    s.up = up
    s.leader = leader
    s.mode = mode
    s.sure = sure
    for server in nodes_up_to(c.nodes):
        s.number[server] = numbers[server - 1]
    return TAKEN if is_inductive(s, c) else "the invariant does not hold"


Numbers = Sequences(0, "most", "nodes")
anywhere = Spec("toy.anywhere", Chosen, Sizes, "Begins in every state of its invariant.")


@anywhere.init
def by_set(s, c, up: Subset(Server), mode: Mode, leader: Server, sure: Bool, numbers: Numbers):
    return filled(s, c, up, leader, mode, sure, numbers)


@anywhere.init
def by_node(s, c, leader: Server, up: Subset(Server, 2), mode: Mode, numbers: Numbers):
    return filled(s, c, up, leader, mode, leader in up, numbers)


@anywhere.init
def by_name(s, c, mode: Mode, up: Subset(Server), numbers: Numbers, leader: Range(1, "nodes")):
    if mode == "busy":
        return "nobody is"
    return filled(s, c, up, leader, mode, False, numbers)


@anywhere.init
def by_truth(s, c, sure: Bool, numbers: Numbers, mode: Mode):
    return filled(s, c, nodes_up_to(c.nodes), 1, mode, sure, numbers)


@anywhere.init
def by_sequence(
    s, c, numbers: Numbers, more: Range(0, lambda s, c, numbers: numbers[0]), sure: Bool
):
    if numbers[1] == 1:
        return "never"
    if numbers[2] == 9:
        s.number[99] = 1
    return filled(s, c, nodes_up_to(c.nodes), 1 + more % 3, "idle", sure, numbers)


@anywhere.action
def count(s, c, server: Server):
    s.number[server] = (s.number[server] + 1) % 3
    return TAKEN


@anywhere.invariant
def inductive(s, c):
    return HOLDS if is_inductive(s, c) else "it is not inductive"


@pytest.mark.slow
def test_a_counterexample_to_induction_begins_anywhere():
    model = anywhere.bind(most=3)
    found, plain = (explore(model, engine=each, progress=False) for each in ("native", "python"))
    assert (found.violated, found.initial, found.trace) == ("inductive", plain.initial, plain.trace)
    assert [each.row for each in Walk.along(found).path] == [*found.trace_rows]
