"""`enabled` in invariants and predicates: every engine asks as the definition does."""

import re
from dataclasses import replace

import pytest

from protocol_lab import *
from protocol_lab.distance.path_to_state import find_state
from protocol_lab.explain.explanation import why_broken
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.model.spec import Property
from protocol_lab.model.transitions import attempts
from protocol_lab.simulation.simulate import simulate
from tests.spec_checks import ENGINES, agree
from tests.toy_specs import Constants, Server
from tests.work_units import one_of


class Note(Struct):
    to: Server
    number: Int8


class State(Struct):
    up: NodeSet(Server)
    notes: Bag(Note, 8)
    log: Seq(Int8, 8)
    stopped: Bool


spec = Spec("toy.possible", State, Constants)


@spec.init
def init(s, c):
    return TAKEN


@spec.action
def start(s, c, server: Server):
    if server in s.up:
        return "it is up"
    s.up = with_node(s.up, server)
    return TAKEN


def those_up(s) -> int:
    return s.up


@spec.action
def send(s, c, to: OneOf(those_up), number: Range(1, lambda s, c, to: c.values - to)):
    """Changes two things before it is taken."""
    if to == NONE or len(s.notes) > 2 or len(s.log) > 2:
        return "not now"
    add_once(s.notes, Note(to=to, number=number))
    append(s.log, number)
    return TAKEN


@spec.action
def read(s, c, note: Member("notes")):
    if note.number != len(s.log):
        return "out of order"
    take(s.notes, note)
    pop_first(s.log)
    return TAKEN


@spec.action
def stop(s, c, lost: Subset(those_up, 1), how: Named("well", "badly")):
    if lost == s.up and how == "badly":
        s.up = with_node(s.up, 1)
        s.stopped = True
        return TAKEN
    return "not all are lost"


ACTIONS = (start, send, read, stop)


def asked_of(s, c, number) -> bool:
    """Whatever can be asked in a state, by number."""
    if number == 0:
        return enabled(start)
    if number == 1:
        return enabled(send)
    if number == 2:
        return enabled(read)
    if number == 3:
        return enabled(stop)
    if number == 4:
        return any(enabled(read, note=note) for note in s.notes)
    if number == 5:
        return any(enabled(start, server=k) and not enabled(send, to=k) for k in nodes_up_to(2))
    return enabled(stop, how=0)


def told_by_number(number: int) -> Property:
    scope = {"asked_of": asked_of, "HOLDS": HOLDS}
    source = f"def is_{number}(s, c):\n    return HOLDS if asked_of(s, c, {number}) else 'not so'\n"
    exec(source, scope)
    scope[f"is_{number}"].lab_source = source
    return Property(scope[f"is_{number}"])


@pytest.mark.slow
@pytest.mark.parametrize("servers", one_of([1, 2]))
def test_every_engine_counts_the_states_in_which_it_is_so(servers):
    """As many states break each invariant as the transitions of the states say."""
    asked = replace(spec, invariants=[told_by_number(number) for number in range(7)])
    model = asked.bind(servers=servers, values=3)
    found = agree(model, to_the_end=True)
    kept = explore(model, invariants=[], keep_states=True, progress=False)
    rows = [row.tobytes() for row in kept.states]
    for number, action in enumerate(ACTIONS):
        possible = [
            any(each.taken for each in attempts(model, row) if each.action.function is action)
            for row in rows
        ]
        assert found.violating[f"is_{number}"] == possible.count(False)
        assert any(possible), action.__name__
    assert found.violating["is_4"] == found.violating["is_2"]
    assert found.violating["is_6"] == len(rows)
    walks = simulate(model, walks=3, steps=5, seed=1, progress=False)
    assert walks.violated


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_it_can_be_typed_and_declared(engine):
    model = spec.bind(servers=2)
    inside = explore(model, constraint="enabled(start, server=2)", engine=engine, progress=False)
    whole = explore(model, engine=engine, progress=False)
    assert 0 < inside.distinct < whole.distinct
    assert find_state(model, None, "not enabled(start)").steps
    fair = check_property(model, eventually("enabled(send)"), fairness="next", progress=False)
    assert fair.verdict == "holds"


@pytest.mark.parametrize("engine", ENGINES)
def test_of_a_step_it_is_asked_before_or_after(engine):
    one = Spec("toy.step", State, Constants)
    one.init(init)
    one.action(start)

    @one.step_invariant
    def can_start_before(before, after, c):
        return HOLDS if enabled(start, before, c) else "nothing could start"

    @one.step_invariant
    def can_start_after(before, after, c):
        return HOLDS if enabled(start, after, c) else "nothing can start"

    result = explore(one.bind(servers=2), engine=engine, progress=False)
    assert (result.violated, len(result.trace)) == ("can_start_after", 2)


def test_an_invariant_with_it_is_explained():
    one = Spec("toy.explained", State, Constants)
    one.init(init)
    one.action(start)

    @one.invariant
    def can_start(s, c):
        if not enabled(start):
            return "nothing can start"
        return HOLDS

    model = one.bind(servers=1)
    [model_invariant] = one.invariants
    result = explore(model, engine="python", progress=False)
    assert result.violated == "can_start"
    told = why_broken(model, result.trace_rows[-1], model_invariant)
    assert str(told) == "enabled(start) = no"


def test_a_step_that_cant_be_computed_leaves_it_undecided():
    """In compiled code as in plain Python: what is read on the way there does not exist."""
    one = Spec("toy.fault", State, Constants)
    one.init(init)
    one.action(start)

    def pick(s, c, k: Range(0, 1)):
        return TAKEN if s.log[k] == 1 else "another one"

    @one.invariant
    def can_pick(s, c):
        return HOLDS if enabled(pick) or len(s.up) < 1 else "nothing to pick"

    result = agree(one.bind(servers=1))
    assert result.verdict == "undecided"
    assert "state.log.items has no item 0" in result.undecided_reason


@pytest.mark.parametrize(
    ("declare", "told"),
    [
        (
            lambda: enabled(start),
            "enabled(start): say which state, as in enabled(start, before, c)",
        ),
        (lambda: enabled("start", 1, 2), "enabled takes an action's function"),
        (lambda: enabled(start, 1, 2, who=1), "start has no parameter 'who'; it has: server"),
    ],
)
def test_bad_use_is_told(declare, told):
    with pytest.raises(LabError, match=re.escape(told)):
        declare()
