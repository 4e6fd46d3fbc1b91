"""Code that Python runs, but that means something else in a spec."""

import pytest

from protocol_lab import TAKEN, Bool, LabError, Spec, Struct
from protocol_lab.explore import explore
from tests.one_action import declare, found, told
from tests.spec_checks import ENGINES, agree

ELSEWHERE = {
    "found = 5": "nothing reads this variable: write s.found = 5",
    "if s.n > 5:\n    found += 1": "there is no variable found: write s.found",
    "if s.n > 5 and leader == 1:\n    s.found = 1": "there is no variable leader: write s.leader",
    "if s.n > 5 and servers == 1:\n    s.found = 1": "no variable servers: write c.servers",
    "if s.n > 5:\n    State.n = 3": "State is a class, not the state: write s.n",
    "if s.n > 5:\n    s = Note()": "s is the state, and stays the same",
    "s.quorum = with_node(1, s.quorum)": "comes first: write with_node(s.quorum, 1)",
    "s.found = dice()": "randint does not give the same result each time",
    "s.found = 1 if led and s.n > 1 else 2": "led is a function, which is always true: call it",
    "kept[1] = 2": "kept is no part of the state: declare a field for it",
}

DICE = """
from random import randint

kept = {}

def dice():
    return randint(0, 1)

def led(of):
    return of == 1
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", ELSEWHERE)
def test_code_that_does_not_look_at_the_state_is_refused(body, engine):
    """Also where the first states do not get there."""
    with pytest.raises(LabError) as error:
        explore(declare(body, before=DICE), engine=engine, progress=False)
    assert ELSEWHERE[body] in str(error.value)
    assert "of its cell)" in str(error.value)


A_CONDITION = {
    "if s.votes:\n    s.found = 1": "s.votes is neither true nor false: ask for one slot",
    "s.found = 1 if not s.places else 2": "s.places is neither true nor false: ask for one slot",
    "s.found = 1 if s.n == 1 and s.last else 2": "s.last is neither true nor false: compare its",
    "while s.log:\n    truncate(s.log, 0)": "s.log is neither true nor false: write len(s.log) > 0",
    "votes = s.votes\nif votes:\n    s.found = 1": "votes is neither true nor false",
    "s.found = 1 if any(s.log) else 2": "is neither true nor false: compare its fields",
    "s.found = sum(1 for row in s.heard if row)": "row is neither true nor false",
    "s.n = s.votes and 1": "s.votes is neither true nor false",
    "if is_set(s.votes):\n    s.found = 1": "votes is neither true nor false: ask for one slot",
}

IS_SET = """
def is_set(value):
    if value:
        return True
    return False

def said(s):
    return "no" if s.n else ""
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", A_CONDITION)
def test_an_array_or_record_is_no_condition(body, engine):
    with pytest.raises(LabError) as error:
        explore(declare(body, before=IS_SET), engine=engine, progress=False)
    assert A_CONDITION[body] in str(error.value)


@pytest.mark.parametrize("body", [*A_CONDITION, "kept = [0] * 3\nif kept:\n    s.found = 1"])
def test_nor_is_it_one_for_the_compiler(monkeypatch, body):
    sentence = told(declare(body, before=IS_SET), "native", monkeypatch)
    assert "neither true nor false" in sentence
    assert not any(word in sentence for word in ("Typing", "model", "Function(", "slots("))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("asked", ["s.votes > 3", "3 <= s.votes"])
def test_an_array_has_no_order(asked, engine):
    with pytest.raises(LabError, match="has no order: compare an item") as error:
        explore(declare(f"s.found = 1 if {asked} else 2"), engine=engine, progress=False)
    assert "View" not in str(error.value)


def test_numbers_and_texts_are_conditions():
    asked = "s.n and is_set(s.n) and not s.found and s.heard[1][2] == 0 and why"
    body = f"why = said(s)\nif {asked}:\n    s.found = 3"
    assert found(declare(body, before=IS_SET)) == 3


class Locked(Struct):
    lock: Bool


def test_a_spec_may_be_named_as_a_field_is():
    lock = Spec("toy.lock", Locked)

    @lock.init
    def begin(s, c):
        return TAKEN

    @lock.action
    def take_it(s, c):
        if s.lock:
            return "it is taken"
        s.lock = True
        return TAKEN

    assert agree(lock.bind(), progress=False).distinct == 2
