"""Effects before a refusal: proven not to be there, or compared; and what only looks."""

import re
import runpy
from textwrap import indent
from typing import NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.catalog import load, spec_names
from protocol_lab.compiler import building
from protocol_lab.compiler.code_generation import first_guards
from protocol_lab.errors import SpecError
from protocol_lab.explore import explore
from protocol_lab.reader.side_effects import may_refuse_changed
from tests.checker.test_faults import LATE, Nothing, State, counting
from tests.spec_checks import ENGINES
from tests.work_units import one_of


def note(s) -> str:
    """Changes the state, and says whether it likes that."""
    s.x = 7
    return "too late" if s.n >= LATE else ""


def late_effect(s, c):
    if s.n >= LATE:
        s.x = 7
    if s.n >= 2:
        return "too late"
    s.n += 0
    return TAKEN


def late_effect_of_a_helper(s, c):
    return note(s)


def late_effect_passed_on(s, c):
    reason = note(s)
    if reason:
        return reason
    return TAKEN


def late_effect_in_a_loop(s, c):
    for k in range(2):
        if s.n >= LATE + 1 - k:
            return "too late"
        if s.n >= LATE:
            s.x = 7
    return TAKEN


@pytest.mark.slow
@pytest.mark.parametrize("engine", one_of([*ENGINES, "spark"]))
@pytest.mark.parametrize(
    "faulty",
    [late_effect, late_effect_of_a_helper, late_effect_passed_on, late_effect_in_a_loop],
    ids=lambda f: f.__name__,
)
def test_a_late_effect_before_a_refusal_is_a_mistake_in_the_spec(faulty, engine):
    spec = counting("nowhere", None)
    spec.action(faulty)
    words = re.escape(f'{faulty.__name__} changed the state and then refused ("too late")')
    with pytest.raises(SpecError, match=words):
        explore(spec.bind(), engine=engine, progress=False)


def test_guards_before_effects_are_proven_by_syntax():
    def guarded(s, c, k: Range(0, 3)):
        if any(s.arr[j] > k for j in range(k)):
            return "too many"
        for j in range(k):
            if s.arr[j] == j:
                return "there is one"
        s.x = k
        s.arr[k] += 1
        return TAKEN

    def of_a_helper(s, c):
        if s.n > 3:
            return "enough"
        return guarded(s, c, 2)

    assert not may_refuse_changed(guarded)
    assert not may_refuse_changed(of_a_helper)
    for each in (
        late_effect,
        late_effect_of_a_helper,
        late_effect_passed_on,
        late_effect_in_a_loop,
    ):
        assert may_refuse_changed(each)


@pytest.mark.rarely
@pytest.mark.parametrize("name", spec_names())
def test_no_action_of_the_kit_needs_a_comparison_after_a_refusal(name):
    unproven = [each.name for each in load(name).actions if may_refuse_changed(each.function)]
    assert unproven == []


PASSED_ON = "reason = store(s, 2)\nif reason:\n    return reason\n"
BODIES = {
    PASSED_ON + "s.x = 7": True,
    "s.x = 7\n" + PASSED_ON: False,
    "reason = store(s, 1)\nif reason:\n    return reason\n" + PASSED_ON: False,
    PASSED_ON + "if s.x == 1:\n    return 'no'": False,
    "reason = store(s, 2)\ns.x = 7\nif reason:\n    return reason": False,
    "reason = store(s, 2)\nif reason:\n    s.x = 7\n    return reason": False,
    "reason = store(s, 2)\nif len(reason) != 4:\n    return reason": False,
    "other = 'no'\nreason = store(s, 2)\nif reason:\n    return other": False,
    PASSED_ON + "else:\n    return 'no'": False,
    "reason = store(s, len(note(s)))\nif reason:\n    return reason": False,
}
CONDITIONS = {
    **dict.fromkeys(["reason", "len(reason) != 0", "len( reason )>0", 'reason != ""'], True),
    "reason != TAKEN": True,
    **dict.fromkeys(["reason != FULL", "len(reason) > 1", "reason == TAKEN", "not reason"], False),
    **dict.fromkeys(["s.n", "reason and s.n > 1", "reason or s.n > 1"], False),
}
"""What follows a call that may refuse, and whether it is proven to have changed nothing."""
WITH_CONDITIONS = {
    f"reason = store(s, 2)\nif {each}:\n    return reason\ns.x += 1": proven
    for each, proven in CONDITIONS.items()
}


@pytest.mark.parametrize(("body", "proven"), (BODIES | WITH_CONDITIONS).items())
def test_passing_on_the_reason_of_a_guarded_helper_is_proven_by_syntax(tmp_path, body, proven):
    (tmp_path / "guards.py").write_text(
        "from protocol_lab import TAKEN\n\nFULL = 'full'\n\n\n"
        "def store(s, k):\n    if s.n > k:\n        return FULL\n    s.x += 1\n    return TAKEN\n"
        "def note(s):\n    s.x = 7\n    return FULL\n"
        f"def act(s, c):\n{indent(body, '    ')}\n    return TAKEN\n",
        encoding="utf-8",
    )
    names = runpy.run_path(str(tmp_path / "guards.py"))
    assert may_refuse_changed(names["act"]) == (not proven)


def test_a_property_that_changes_the_state_is_not_compiled():
    spec = counting("nowhere", None)

    @spec.invariant
    def meddles(s: State, c: Nothing):
        if s.n >= LATE:
            s.x = 9
        return HOLDS

    with pytest.raises(LabError, match="meddles changes the state, or may do so: only actions"):
        explore(spec.bind(), progress=False)


# --- Actions that a constant rules out -----------------------------------------------------------


class CrashConstants(NamedTuple):
    nodes: int = 2
    max_crashes: int = 0
    debt: int = 0
    repairs: bool = False


Server = Node("nodes")
LEAST = 1


class CrashState(Struct):
    crashes: Int8
    up: Per(Server, Int8)


spec = Spec("toy.crashes", CrashState, CrashConstants)


@spec.init
def init(s: CrashState, c: CrashConstants):
    s.crashes = 0 - c.debt
    for node in range(1, c.nodes + 1):
        s.up[node] = 1
    return TAKEN


@spec.action
def crash(s: CrashState, c: CrashConstants, server: Server):
    """A server ends."""
    if s.crashes >= c.max_crashes:
        return "no crash is left"
    if s.up[server] == 0:
        return "it is down"
    s.up[server] = 0
    s.crashes += 1
    return TAKEN


@spec.action
def repair(s: CrashState, c: CrashConstants, server: Server):
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
