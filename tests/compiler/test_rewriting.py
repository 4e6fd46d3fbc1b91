"""Compiled code does what Python does, or is refused with a sentence; and a defect is one."""

import pytest

from protocol_lab import LabError
from protocol_lab.compiler import rewriting
from protocol_lab.compiler.operations import records
from protocol_lab.errors import KitDefect
from protocol_lab.explore import explore
from tests.one_action import declare, found, told
from tests.work_units import one_of

BEFORE = '''
FACTOR = 7

def take(s):
    s.leader = 3 - max(s.leader, 1)
    return s.leader

def taken_and(s, before):
    return 10 * take(s) + before

def of_module(factor):
    """One of several functions with one name, each of a module that calls this FACTOR."""
    scope, text = {"FACTOR": factor}, "def limit(s):\\n    return s.n * FACTOR\\n"
    exec(text, scope)
    scope["limit"].lab_source = text
    return scope["limit"]

once, twice = of_module(1), of_module(2)

def text_of(c):
    return c.text

def lasting(n):
    while n > 0:
        n = 2 - n
    return n
'''

SAME = {
    "s.found = taken_and(s, s.leader)": 20,
    "s.found = once(s) + 3 * twice(s) + FACTOR": 14,
    "s.found = ~(s.n > 0) + 10 * ~s.n": -22,
    "c = s.log[0]\ns.found = c.text": 1,
    "s.found = text_of(s.log[1])": 2,
    "s.places[1] = 5\nchosen = s.places if s.n > 0 else s.places\ns.found = chosen[1]": 5,
    "s.places[sum(k for k in range(1, 2) if s.n > 0)] += 3\ns.found = s.places[1]": 3,
    "asked = s.n\nif asked:\n    s.found = asked": 1,
    "for k in range(1 << 40):\n    if k == 7:\n        break\n    s.found = k + 1": 7,
}
"""What the action does, and what it has found then, in all engines."""


@pytest.mark.parametrize("body", SAME)
def test_engines_find_the_same(body):
    assert found(declare(body, before=BEFORE)) == SAME[body]


KINDS = r"has one kind on one path.* \(line \d+\)\. Let each path"
REFUSED = {
    "chosen = s.places if s.n > 1 else s.votes\ns.found = chosen[1]": KINDS,
    "chosen = s.places\nif s.n > 1:\n    chosen = s.votes\ns.found = chosen[1]": KINDS,
    "row = [0, 0]\nrow[s.n] = 1\ns.found = row[1]": r"one made as \[0\] \* 3 can be assigned",
    "s.found = equal(s.n, 2)": "with the name equal, which compiled code uses itself",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_compiled_is_said(body):
    before = "def equal(one, other):\n    return max(one, other) - min(one, other)\n"
    with pytest.raises(LabError, match=REFUSED[body]) as raised:
        explore(declare(body, before=before), progress=False)
    assert "unify" not in str(raised.value)


ENDLESS = [
    "while True:\n    s.found += 0",
    "k = 3\nwhile k > 0:\n    k = 3 - k + k",
    "for k in range(1 << 40):\n    s.found = 1",
    "s.found = sum(1 for k in range(s.n << 40))",
    "s.found = lasting(s.n)",
]


@pytest.mark.slow
@pytest.mark.parametrize("body", one_of(ENDLESS))
def test_a_loop_without_an_end_is_told_by_compiled_code_which_nothing_can_interrupt(
    monkeypatch, body
):
    said = told(declare(body, before=BEFORE), "native", monkeypatch)
    assert said.startswith("a loop does not end within 1,000,000 turns, at act, line ")


def test_a_loop_that_plain_python_ends_is_undecided_in_compiled_code_alone(monkeypatch):
    model = declare("k = 0\nwhile k < 1100000:\n    k += 1\ns.found = k // 1100000")
    assert 'engine="python" has neither bound' in told(model, "native", monkeypatch)
    assert explore(model, engine="python", progress=False).verdict == "holds"


# --- Mistakes in the compiler itself -------------------------------------------------------------


@pytest.mark.parametrize("error", [TypeError, RuntimeError])
@pytest.mark.parametrize(("module", "name"), [(rewriting, "Resolved"), (records, "store")])
def test_an_error_of_the_kit_is_a_defect(monkeypatch, tmp_path, module, name, error):
    def fails(*_):
        raise error("this should not be")

    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(module, name, fails)
    with pytest.raises(KitDefect, match=rf"no verdict \({error.__name__}: this should not be;"):
        explore(declare(f"s.found = {10 * len(name) + len(error.__name__)}"), progress=False)


def test_an_error_of_numba_is_not():
    with pytest.raises(LabError, match="can't be compiled") as error:
        explore(declare("x = s.votes if s.n else s.places\ns.found = 1"), progress=False)
    assert not isinstance(error.value, KitDefect)
