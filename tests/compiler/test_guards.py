"""Actions that a constant rules out: only their first guards are compiled, until more is needed."""

from typing import NamedTuple

import pytest

from protocol_lab import NO_LIMIT, TAKEN, Int8, Node, Per, Spec, Struct, flag
from protocol_lab.compiler import building
from protocol_lab.compiler.effects import first_guards
from protocol_lab.explore import explore


class Constants(NamedTuple):
    nodes: int = 2
    max_crashes: int = 0
    debt: int = 0
    repairs: bool = False


Server = Node("nodes")
LEAST = 1


class State(Struct):
    crashes: Int8
    up: Per(Server, Int8)


spec = Spec("toy.crashes", State, Constants)


@spec.init
def init(s: State, c: Constants):
    s.crashes = 0 - c.debt
    for node in range(1, c.nodes + 1):
        s.up[node] = 1
    return TAKEN


@spec.action
def crash(s: State, c: Constants, server: Server):
    """A server ends."""
    if s.crashes >= c.max_crashes:
        return "no crash is left"
    if s.up[server] == 0:
        return "it is down"
    s.up[server] = 0
    s.crashes += 1
    return TAKEN


@spec.action
def repair(s: State, c: Constants, server: Server):
    """A server comes back."""
    if s.up[server] == 1:
        return "it is up"
    if s.crashes > 100 or not c.repairs:
        return "nothing is repaired"
    s.up[server] = 1
    return TAKEN


def compiled_anew(**constants) -> tuple[int, list[str]]:
    """How many states are found, and what was compiled for that."""
    before = len(building.compilations)
    found = explore(spec.bind(**constants), progress=False)
    assert found.per_action == explore(spec.bind(**constants), engine="python").per_action
    return found.distinct, [each.partition(" ")[2] for each in building.compilations[before:]]


def test_the_rest_of_an_action_is_compiled_where_its_guards_let_it_happen(tmp_path, monkeypatch):
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(building, "loaded", {})
    assert compiled_anew() == (1, ["crash (guards)", "repair (guards)"])
    assert compiled_anew(debt=1) == (3, ["crash", "repair"])  # below 0, against what was guessed
    assert compiled_anew(max_crashes=2, repairs=True)[1] == []


@pytest.mark.parametrize(
    ("test", "is_ruled_out"),
    [
        ("s.n >= c.none", True),
        ("s.n >= c.two", False),
        ("s.n < c.two", False),
        ("c.two > LEAST and not c.off", True),
        ("c.two < LEAST or s.n > 1", False),
        ("c.off", False),
        ("not c.two", False),
        ("s.n >= c.unlimited", False),
        ("c.none <= s.n and s.n == 1", False),
        ("s.n - 1 >= c.none", False),
    ],
)
def test_which_guards_refuse_whatever_the_state_is(test, is_ruled_out):
    class Some(NamedTuple):
        none: int = 0
        two: int = 2
        off: flag("") = 0
        unlimited: int = NO_LIMIT

    text = f"def act(s, c):\n    if {test}:\n        return 'no'\n    s.n += 1\n    return ''\n"
    scope = {"LEAST": 1}
    exec(text, scope)
    scope["act"].lab_source = text
    assert (first_guards(scope["act"], Some()) is not None) == is_ruled_out
