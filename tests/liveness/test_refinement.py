"""Refinement: every step maps to a step of an abstract spec, or to none."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.catalog import load
from protocol_lab.cli import main
from protocol_lab.liveness.check import check_property
from protocol_lab.liveness.claims import refinement_of
from protocol_lab.model.declarations import Refinement
from tests import ROOT


class Constants(NamedTuple):
    limit: Annotated[int, Limits(0, 9, "the counter stops here")] = 4
    nodes: Annotated[int, Limits(1, 3, "nodes that count")] = 2
    jumps: Annotated[int, flag("a node may count two at once")] = 0
    begins: Annotated[int, Limits(0, 9, "the first node begins here")] = 0
    bound: Annotated[int, Limits(0, 99, "a constraint on the sum")] = 99
    room: Annotated[int, Limits(1, 9, "how long the abstract list may get")] = 9


Counting = Node("nodes")


class State(Struct):
    counts: Per(Counting, Int8)
    noticed: Bool


spec = Spec("toy.nodes_that_count", State, Constants)


@spec.init
def start(s, c):
    """Nothing was counted."""
    s.counts[1] = c.begins
    return TAKEN


@spec.action
def count(s, c, node: Counting, more: Range(1, 2)):
    """A node counts on, by 2 only if it may."""
    if more == 2 and not c.jumps:
        return "nobody jumps"
    if sum(each for each in s.counts) + more > c.limit:
        return "everything is counted"
    s.counts[node] += more
    return TAKEN


@spec.action
def notice(s, c):
    """A step of which the abstract counter knows nothing."""
    if s.noticed:
        return "it was noticed"
    s.noticed = True
    return TAKEN


@spec.constraint
def within_the_bound(s, c):
    """The sum stays within a bound."""
    return HOLDS if sum(each for each in s.counts) <= c.bound else "the sum is beyond its bound"


class Limit(NamedTuple):
    limit: Annotated[int, Limits(0, 9, "the counter stops here")] = 9


class Sum(Struct):
    total: Int8


counter = Spec("toy.counter", Sum, Limit)


@counter.init
def nothing(s, c):
    """Zero."""
    return TAKEN


@counter.action
def step(s, c):
    """One more."""
    if s.total >= c.limit:
        return "the limit is reached"
    s.total += 1
    return TAKEN


def total_of(s, c, a):
    """What all nodes have counted together."""
    a.total = sum(each for each in s.counts)


spec.refines(counter, total_of)


class Length(NamedTuple):
    length: Annotated[int, Limits(1, 9, "items that there is room for")] = 9


class Items(Struct):
    items_: Seq(Int8, "length")


tally = Spec("tally", Items, Length)


@tally.init
def no_marks(s, c):
    """No marks."""
    return TAKEN


@tally.action
def mark(s, c):
    """One more mark."""
    append(s.items_, 1)
    return TAKEN


def marks_of(s, c, a):
    """A mark for whatever was counted."""
    for each in s.counts:
        for _ in range(each):
            append(a.items_, 1)


spec.refines(tally, marks_of, constants=lambda c: {"length": c.room})


def judged(name: str, **constants):
    model = spec.bind(**constants)
    return check_property(model, refinement_of(model, name), progress=False)


def test_every_step_is_one_of_the_abstract_spec_or_none():
    found = judged("refines_counter")
    assert (found.verdict, found.distinct, found.abstract_distinct) == ("holds", 30, 5)
    assert "✓ holds: refines_counter: every step maps to a step of it, or to none" in str(found)


def test_a_counterexample_shows_both():
    found = judged("refines_counter", jumps=True, begins=0)
    assert (found.verdict, found.violated) == ("violated", "refines_counter")
    assert [each.text for each in found.trace] == ["count(node=1, more=2)"]
    assert found.abstract_steps == [None]
    assert "no step of toy.counter does what the last step does: total 0 → 2" in str(found)


def test_initial_states_map_to_initial_states():
    found = judged("refines_counter", begins=1)
    assert (found.verdict, found.trace) == ("violated", [])
    assert "maps to no initial state of toy.counter: total 1" in str(found)


def test_the_other_spec_has_its_own_constants_and_storage():
    assert judged("refines_tally").verdict == "holds"
    small = judged("refines_tally", room=2)
    assert small.verdict == "undecided"
    assert "abstract state.items_ has no room for more than 2: raise length" in str(small)


def test_a_mapping_that_changes_the_state_is_refused():
    other = Spec("toy.changing", State, Constants)
    other.init(start)
    other.action(count)
    other.refines(counter, changes_the_state)
    with pytest.raises(LabError, match="only actions change a state"):
        check_property(other.bind(), other.refinements[0], progress=False)


def changes_the_state(s, c, a):
    """No mapping: it writes to the wrong state."""
    s.counts[1] = 3


class Light(NamedTuple):
    lights: Annotated[int, Limits(1, 2, "lights")] = 1


class Lamp(Struct):
    mode: Named("off", "warming", "on")


class Seen(Struct):
    mode: Named("off", "on", "broken")


lamp, seen = Spec("toy.lamp", Lamp, Light), Spec("toy.seen", Seen, Light)


def turn(s, c):
    """The next mode."""
    s.mode = "warming" if s.mode == "off" else "on" if s.mode == "warming" else "off"
    return TAKEN


def switch(s, c):
    """On or off."""
    s.mode = "on" if s.mode == "off" else "off"
    return TAKEN


for each, action in ((lamp, turn), (seen, switch)):
    each.init(nothing)
    each.action(action)


def by_name(s, c, a):
    """A lamp that is warming still looks as if it were off; a helper asks for it as well."""
    if is_on(s) and s.mode != "warming":
        a.mode = "on"


def is_on(s) -> bool:
    """Does it shine?"""
    return s.mode == "on"


def by_number(s, c, a):
    """No mapping: 1 is warming here, and on there."""
    a.mode = s.mode


def by_a_helper(s, c, a):
    """The same by a detour."""
    show(a, s.mode)


def show(lamp, mode):
    """Stores what it is given."""
    lamp.mode = mode


def test_fields_of_one_name_may_have_different_names_for_their_values():
    claim = Refinement(by_name, seen)
    found = check_property(lamp.bind(), claim, progress=False)
    assert (found.verdict, found.distinct, found.abstract_distinct) == ("holds", 3, 2)


@pytest.mark.parametrize("mapping", [by_number, by_a_helper])
def test_a_mapping_does_not_copy_the_number_of_another_name(mapping):
    told = "mode is one of off, on, broken, and .* one of off, warming, on: only their numbers"
    with pytest.raises(LabError, match=told):
        check_property(lamp.bind(), Refinement(mapping, seen), progress=False)


@pytest.mark.slow
def test_paxos_refines_consensus(capsys):
    path = str(ROOT / "examples" / "paxos.py")
    assert main(["check", path, "--property", "refines_consensus"]) == 0
    assert "3,921 distinct states" in capsys.readouterr().out
    words = ["check", path, "--set", "any_value=true", "--property", "refines_consensus"]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "chosen {2} → {1, 2}" in out
    assert "= choose(v=2)" in out
    assert main([*words, "--fairness", "none"]) == 3
    assert "is checked step by step" in capsys.readouterr().err


@pytest.mark.slow
def test_kip_320_refines_a_log_of_committed_records():
    model = load("kafka.kip_320").bind(replicas=2)
    found = check_property(model, "refines_committed_log", progress=False)
    assert (found.verdict, found.distinct, found.abstract_distinct) == ("holds", 5_973, 4)


@pytest.mark.rarely
def test_with_three_replicas_as_well():
    spec = load("kafka.kip_320")
    found = check_property(spec.bind(), "refines_committed_log", progress=False)
    size = spec.configurations[0].expects.distinct
    assert (found.verdict, found.distinct, found.abstract_distinct) == ("holds", size, 4)
