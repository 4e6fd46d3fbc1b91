"""A loop that does not end is told in every engine."""

import pytest

from protocol_lab.language import loop_bound
from tests.one_action import declare, found, told
from tests.spec_checks import ENGINES

ENDLESS = [
    "while True:\n    s.found += 0",
    "k = 3\nwhile k > 0:\n    k = 3 - k + k",
    "for k in range(1 << 40):\n    s.found = 1",
    "s.found = sum(1 for k in range(s.n << 40))",
    "s.found = lasting(s.n)",
]

LASTING = """
def lasting(n):
    while n > 0:
        n = 2 - n
    return n
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", ENDLESS)
def test_a_loop_without_an_end_is_told(monkeypatch, body, engine):
    monkeypatch.setattr(loop_bound, "MOST_TURNS", 1000)
    model = declare(body, before=LASTING)
    words = "a loop does not end within 1,000 turns, at act, line "
    assert words in told(model, engine, monkeypatch)


def test_a_long_loop_may_be_left_early():
    body = "for k in range(1 << 40):\n    if k == 7:\n        break\n    s.found = k + 1"
    assert found(declare(body)) == 7


def test_turns_are_counted_each_time_that_a_loop_is_entered(monkeypatch):
    monkeypatch.setattr(loop_bound, "MOST_TURNS", 10)
    body = "for j in range(10):\n    k = 0\n    while k < 10:\n        k += 1\ns.found = k"
    assert found(declare(body)) == 10
