"""Code without effect is refused, also where the first states do not get to it."""

import pytest

from protocol_lab import LabError
from protocol_lab.explore import explore
from tests.one_action import declare, found, told
from tests.spec_checks import ENGINES

INEFFECTIVE = {
    "if s.leader is not None:\n    s.found = 1": "write s.leader != NONE",
    "if s.leader is None:\n    return 'no'": "write s.leader == NONE",
    "s.found = 1 if s.votes[1] == None else 2": "write s.votes[1] == NONE",
    "s.found = 1 if None != s.leader else 2": "write s.leader != NONE",
    "leader = s.leader\nif leader is None:\n    s.found = 1": "write leader == NONE",
    "s.found = led(s.leader)": "led: of is not None",
    "s.found = 1 if s.mode is s.modes[1] else 2": "write ==",
    "with_node(s.quorum, 1)": "write s.quorum = with_node(s.quorum, ...)",
    "without_node(s.acks[1], 2)": "write s.acks[1] = without_node(s.acks[1], ...)",
    "s.quorum | only(1)": "its value is not used",
    "Note(text=3)": "its value is not used",
    "is_in(s.numbers, 3)": "its value is not used",
    "s.found == 3": "write s.found = 3 to assign",
    "set_leader(s)": "set_leader: s.leader == 1",
}

LED = """
def led(of):
    return 1 if of is not None else 2

def set_leader(s):
    s.leader == 1
"""


@pytest.mark.parametrize("tried_out", [True, False])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", INEFFECTIVE)
def test_code_that_has_no_effect_is_refused(monkeypatch, body, engine, tried_out):
    model = declare(body, before=LED)
    if tried_out:
        with pytest.raises(LabError) as error:
            explore(model, engine=engine, progress=False)
        assert INEFFECTIVE[body] in str(error.value)
        assert "of its cell)" in str(error.value)
    elif engine == "native":
        assert INEFFECTIVE[body] in told(model, engine, monkeypatch)


EFFECTIVE = [
    "note = None\nfor each in s.notes:\n    note = each\nif note is not None:\n"
    "    s.found = note.text",
    "s.found = given(s)",
    "fives(s)\nlast(s.log).text = 5\ns.found = last(s.log).text",
    "found = 4\nfound += 1\ns.found = found",
    "last = pop_first(s.log)\ns.found = 3 + s.log[0].text",
    "for n in range(2):\n    last = 4 + n\ns.found = last",
]

GIVEN = """
def given(s, number=None):
    return 5 if number is None else number

def fives(s):
    \"\"\"Makes it five.\"\"\"
    s.found = 5
"""


@pytest.mark.parametrize("body", EFFECTIVE)
def test_a_variable_may_be_none(body):
    assert found(declare(body, before=GIVEN)) == 5
