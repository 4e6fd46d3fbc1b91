"""Effects before a refusal: proven not to be there, or compared; and what only looks."""

import re
import runpy

import pytest

from protocol_lab import HOLDS, TAKEN, LabError, Range
from protocol_lab.catalog import load, spec_names
from protocol_lab.compiler.effects import may_refuse_changed
from protocol_lab.errors import SpecError
from protocol_lab.explore import explore
from tests.checker.test_faults import LATE, Nothing, State, counting
from tests.spec_checks import ENGINES


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
@pytest.mark.parametrize("engine", [*ENGINES, "spark"])
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


@pytest.mark.parametrize("name", spec_names())
def test_no_action_of_the_kit_needs_a_comparison_after_a_refusal(name):
    unproven = [each.name for each in load(name).actions if may_refuse_changed(each.function)]
    assert unproven == []


def test_passing_on_the_reason_of_a_guarded_helper_is_proven_by_syntax():
    def store(s, k) -> str:
        if s.n > k:
            return "full"
        s.arr[k] += 1
        return TAKEN

    def passed_on(s, c):
        reason = store(s, 2)
        if reason:
            return reason
        s.x = 7
        return TAKEN

    def through_another(s, c):
        reason = passed_on(s, c)
        if reason:
            return reason
        return TAKEN

    def changed_before(s, c):
        s.x = 7
        reason = store(s, 2)
        if reason:
            return reason
        return TAKEN

    def refused_by_the_second(s, c):
        reason = store(s, 1)
        if reason:
            return reason
        reason = store(s, 2)
        if reason:
            return reason
        return TAKEN

    def refused_afterwards(s, c):
        reason = store(s, 2)
        if reason:
            return reason
        return "no" if s.x == 1 else TAKEN

    def with_an_effect_between(s, c):
        reason = store(s, 2)
        s.x = 7
        if reason:
            return reason
        return TAKEN

    def with_an_effect_in_the_guard(s, c):
        reason = store(s, 2)
        if reason:
            s.x = 7
            return reason
        return TAKEN

    def of_other_reasons(s, c):
        reason = store(s, 2)
        if len(reason) != 4:
            return reason
        return TAKEN

    def with_another_reason(s, c):
        reason, other = "", "no"
        reason = store(s, 2)
        if reason:
            return other
        return TAKEN

    def with_an_else(s, c):
        reason = store(s, 2)
        if reason:
            return reason
        else:
            return "no"

    def of_an_argument_that_stores(s, c):
        reason = store(s, len(note(s)))
        if reason:
            return reason
        return TAKEN

    assert not may_refuse_changed(passed_on)
    assert not may_refuse_changed(through_another)
    for each in (
        changed_before,
        refused_by_the_second,
        refused_afterwards,
        with_an_effect_between,
        with_an_effect_in_the_guard,
        of_other_reasons,
        with_another_reason,
        with_an_else,
        of_an_argument_that_stores,
    ):
        assert may_refuse_changed(each), each.__name__


@pytest.mark.parametrize(
    ("test", "proven"),
    [
        ("reason", True),
        ("(reason)", True),
        ("len(reason)", True),
        ("len(reason) != 0", True),
        ("len( reason )>0", True),
        ('reason != ""', True),
        ("reason != TAKEN", True),
        ("reason != FULL", False),
        ("len(reason) > 1", False),
        ("reason == TAKEN", False),
        ("not reason", False),
        ("s.n", False),
        ("reason and s.n > 1", False),
        ("reason or s.n > 1", False),
    ],
)
def test_a_guard_is_proven_however_it_asks_whether_there_is_a_reason(tmp_path, test, proven):
    (tmp_path / "guards.py").write_text(
        "from protocol_lab import TAKEN\n\nFULL = 'full'\n\n\n"
        "def store(s):\n    if s.n > 3:\n        return FULL\n    s.x += 1\n    return TAKEN\n\n\n"
        f"def act(s, c):\n    reason = store(s)\n    if {test}:\n        return reason\n"
        "    s.x += 1\n    return TAKEN\n",
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
