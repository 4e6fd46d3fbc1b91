"""What is not in the language is refused with one sentence, by each engine and by the stepper."""

import re

import pytest

from protocol_lab import LabError
from protocol_lab.explore import explore
from protocol_lab.traces.walk import Walk
from tests.one_action import declare

BEFORE = """
SEEN = [1, 2]
NEXT = {1: 2}
FEW = {1, 2}
BUSY = ["busy", "gone"]

class Plain:
    x = 3

OTHER = Plain()

def note(s):
    SEEN.append(s.n)
    return 1

def star(*numbers):
    return 1

def only_named(*, k):
    return k
"""

REFUSED = {
    "s.found = note(s)": "note can't be compiled with SEEN, a list outside the state",
    "s.found = SEEN[0]": "SEEN, a list outside the state",
    "s.found = NEXT[1]": "NEXT, a dict outside the state",
    "s.found = 1 if 1 in FEW else 0": "FEW, a set outside the state",
    "BUSY.append('idle')": "BUSY, a list outside the state",
    "s.found = OTHER.x": "OTHER, which is no number, name or tuple",
    "s.found = Plain.x": "Plain, which is no number, name or tuple",
    "f = lambda x: x\ns.found = f(1)": "a function inside a function",
    "with open('x') as f:\n    s.found = 1": "a with",
    "match s.n:\n    case 1:\n        s.found = 1": "a match",
    "s.found = len({k for k in range(3)})": "a set of Python's",
    "s.found = eval('1')": "eval()",
    "setattr(s, 'found', 2)": "setattr()",
    "s.found = [k for k in reversed((1, 2))][0]": "reversed()",
    "s.found = star(1)": "star can't be compiled with * or / among its parameters",
    "s.found = only_named(k=1)": "only_named can't be compiled with * or / among its parameters",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_in_the_language_is_refused_everywhere(body):
    model = declare(body, BEFORE)
    said = re.escape(REFUSED[body])
    begun = [
        lambda: explore(model, engine="python", progress=False),
        lambda: explore(model, engine="native", progress=False),
        lambda: Walk.begin(model),
    ]
    for begin in begun:
        with pytest.raises(LabError, match=said):
            begin()


def test_texts_in_a_list_may_be_asked_for():
    model = declare("s.found = 2 if s.mode in BUSY else 1", BEFORE)
    assert Walk.begin(model).model is model
    assert explore(model, engine="python", progress=False).verdict == "holds"
