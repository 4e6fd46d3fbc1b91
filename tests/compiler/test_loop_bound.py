"""A loop that does not end is told by compiled code, which nothing can interrupt."""

import pytest

from protocol_lab.explore import explore
from tests.one_action import declare, found, told

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


@pytest.mark.parametrize("body", ENDLESS)
def test_a_loop_without_an_end_is_told(monkeypatch, body):
    said = told(declare(body, before=LASTING), "native", monkeypatch)
    assert said.startswith("a loop does not end within 1,000,000 turns, at act, line ")


def test_a_loop_that_plain_python_ends_is_undecided_in_compiled_code_alone(monkeypatch):
    model = declare("k = 0\nwhile k < 1100000:\n    k += 1\ns.found = k // 1100000")
    assert 'engine="python" has neither bound' in told(model, "native", monkeypatch)
    assert explore(model, engine="python", progress=False).verdict == "holds"


def test_a_long_loop_may_be_left_early():
    body = "for k in range(1 << 40):\n    if k == 7:\n        break\n    s.found = k + 1"
    assert found(declare(body)) == 7
