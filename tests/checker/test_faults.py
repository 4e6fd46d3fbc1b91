"""What has no value, or does not fit, is told alike by all engines and never a verdict.

Each spec counts `n` up; in a later state something is faulty, in one of the places where a spec has
functions. The dry run before a search does not get that far.
"""

import re
from itertools import islice
from typing import NamedTuple

import pytest

from protocol_lab import HOLDS, TAKEN, Array, Int8, Int16, Range, Spec, Struct, members
from protocol_lab.checker import cross_check, request
from protocol_lab.errors import KitDefect, SpecError
from protocol_lab.explore import explore
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import attempts, initial, successors
from protocol_lab.simulation.simulate import simulate
from protocol_lab.traces.walk import Moment, Walk
from tests.spec_checks import ENGINES
from tests.toy_specs import asserts_few
from tests.work_units import one_of

LATE = 260
"""The state in which something is wrong: beyond those that the dry run looks at."""


class Nothing(NamedTuple):
    servers: int = 2


class State(Struct):
    n: Int16
    x: Int16
    arr: Array(Int16, 260)


def slot_past_the_end(s):
    return s.arr[s.n]


def too_large_product(s):
    return (s.n << 54) * 2 // 36028797018963968 if s.n >= LATE else 0


def too_large_power(s):
    return 2 ** (s.n - LATE + 63) % 7 if s.n >= LATE else 0


def too_large_sum(s):
    return sum(2**62 - 1 for _ in range(3 if s.n >= LATE else 2)) % 7


def too_large_quotient(s):
    return (-(2**62) - 2**62) // (-1 if s.n >= LATE else 1) % 7


def division_by_zero(s):
    return 7 // (LATE - s.n)


def smallest_of_nothing(s):
    return min(s.arr[k] for k in range(LATE - s.n))


def members_in_a_loop(s):
    total = 0
    for each in members(LATE - 1 - s.n if s.n >= LATE else 6):
        total += each
    return total


FAULTS = {
    slot_past_the_end: "state.arr has no slot 260",
    division_by_zero: "division by zero",
    smallest_of_nothing: "min() of nothing",
    members_in_a_loop: "-1 is not a set of nodes, because it is negative",
}

BEYOND_COMPILED = (too_large_product, too_large_power, too_large_sum, too_large_quotient)
"""What plain Python can compute."""


def counting(place: str, fault) -> Spec:
    """A spec that counts up to 300, with a fault at this place once n is 260."""
    spec = Spec("toy.counting", State, Nothing)

    @spec.init
    def start(s: State, c: Nothing):
        s.n = LATE if place == "init" else 0
        s.x = fault(s) if place == "init" else 0
        return TAKEN

    @spec.action
    def rest(s: State, c: Nothing):
        return TAKEN

    if place == "action":

        @spec.action
        def count(s: State, c: Nothing):
            if s.n >= 300:
                return "enough"
            s.x = 0 if fault(s) >= 0 else 1
            s.n += 1
            return TAKEN

    elif place == "parameter":

        def high(s):
            return fault(s) * 0

        @spec.action
        def count_on(s: State, c: Nothing, by: Range(0, high)):
            if s.n >= 300:
                return "enough"
            s.n += 1 + by
            return TAKEN

    else:

        @spec.action
        def count_plainly(s: State, c: Nothing):
            if s.n >= 300:
                return "enough"
            s.n += 1
            return TAKEN

    if place == "invariant":

        @spec.invariant
        def sound(s: State, c: Nothing):
            return HOLDS if fault(s) >= -1 else "unsound"

    if place == "step invariant":

        @spec.step_invariant
        def goes_on(before: State, after: State, c: Nothing):
            return HOLDS if fault(after) >= -1 else "unsound"

    if place == "constraint":

        @spec.constraint
        def bounded(s: State, c: Nothing):
            return HOLDS if fault(s) >= -1 else "unbounded"

    if place == "situation":

        @spec.situation(expected=True)
        def far(s: State, c: Nothing):
            return fault(s) == 1000

    return spec


PLACES = ["action", "init", "parameter", "invariant", "step invariant", "constraint", "situation"]


def outcome(result) -> tuple:
    """What all engines have in common."""
    return (
        result.verdict,
        result.undecided_reason,
        result.distinct,
        result.generated,
        result.per_action,
        result.never_reached,
    )


@pytest.mark.parametrize("place", PLACES)
def test_a_fault_is_undecided_alike_wherever_it_is(place):
    model = counting(place, slot_past_the_end).bind()
    native, plain = (explore(model, engine=each, progress=False) for each in ENGINES)
    assert outcome(native) == outcome(plain)
    assert native.verdict == "undecided"
    assert native.undecided_reason.startswith("state.arr has no slot 260, at ")
    line = slot_past_the_end.__code__.co_firstlineno + 1
    assert native.undecided_reason.endswith(f"test_faults.py line {line}")


@pytest.mark.parametrize("to_the_end", [False, True])
def test_what_came_before_a_fault_counts(to_the_end):
    """The violation of an earlier state is found; one of a later state is not."""
    for worst in (200, 280):
        spec = counting("action", slot_past_the_end)

        @spec.invariant
        def small(s: State, c: Nothing):
            return HOLDS if s.n < worst else "too large"  # noqa: B023

        results = [
            explore(spec.bind(), engine=each, progress=False, to_the_end=to_the_end)
            for each in ENGINES
        ]
        native, plain = map(outcome, results)
        assert native == plain
        assert results[0].violated == results[1].violated == ("small" if worst == 200 else None)
        assert results[0].violating == results[1].violating


@pytest.mark.parametrize("place", one_of(["action", "invariant", "step invariant", "constraint"]))
def test_a_walk_ends_at_a_fault(place):
    result = simulate(counting(place, division_by_zero).bind(), walks=3, steps=900, progress=False)
    assert result.verdict == "undecided"
    assert "3 of them ended early: division by zero, at " in result.undecided_reason


def test_the_stepper_gives_a_fault_as_the_reason():
    model = counting("action", slot_past_the_end).bind()
    row = bytearray(next(initial(model)).row)
    view(model.layout, row).n = LATE
    [count] = [each for each in attempts(model, bytes(row)) if each.action.name == "count"]
    assert count.over_capacity
    assert not count.taken
    assert count.reason.startswith("state.arr has no slot 260, at count, test_faults.py line")
    walk = Walk(counting("invariant", slot_past_the_end).bind(), Moment(bytes(row)))
    [standing] = walk.standings()
    assert not standing.holds
    assert not standing.is_broken
    assert standing.reason.startswith("can't be computed: state.arr has no slot 260, at sound")


def test_a_spec_without_invariants_is_not_told_that_they_hold():
    model = counting("nowhere", division_by_zero).bind()
    bound = str(explore(model, engine="python", max_states=5, progress=False))
    assert "? undecided: the spec declares no invariant; more than 5 distinct states" in bound
    assert (
        "✓ holds: every reachable state was seen; the spec declares no invariant, so only that"
        " every step can be computed was checked"
    ) in str(explore(model, engine="python", progress=False))
    claims = counting("invariant", division_by_zero).bind()
    bound = explore(claims, invariants=[], engine="python", max_states=5, progress=False)
    assert "no invariant was asked for; more than" in str(bound)


# --- Functions that fail -------------------------------------------------------------------------


def one_while_few(s):
    if s.n < LATE:
        return 1


def compares_nothing(s):
    return one_while_few(s) > 0


def failing(place: str, body: str) -> Spec:
    """The spec that counts, with a function that fails once n is 260."""
    spec = counting("nowhere", None)

    def forgets(s):
        return s.n < LATE

    fails = {"asserts": asserts_few, "forgets": forgets, "compares": compares_nothing}[body]
    if place == "action":

        @spec.action
        def go(s: State, c: Nothing):
            if fails(s):
                return "not now"

    if place == "invariant":

        @spec.invariant
        def go(s: State, c: Nothing):
            if fails(s):
                return HOLDS

    if place == "step invariant":

        @spec.step_invariant
        def go(before: State, after: State, c: Nothing):
            if fails(after):
                return HOLDS

    return spec


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", ["asserts", "forgets", "compares"])
@pytest.mark.parametrize("place", ["action", "invariant", "step invariant"])
def test_a_function_that_fails_late_is_a_mistake_in_the_spec(place, body, engine):
    words = {
        "asserts": r"go failed with AssertionError: too many; .*return the reason.* \(toy_specs.py",
        "forgets": "go returned None; return",
        "compares": r"a function returned nothing: end every path .* \(test_faults.py",
    }
    with pytest.raises(SpecError, match=words[body]):
        explore(failing(place, body).bind(), engine=engine, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.__name__)
def test_every_fault_is_seen_in_compiled_code(fault):
    model = counting("action", fault).bind()
    native, plain = (explore(model, engine=each, progress=False) for each in ("native", "python"))
    assert outcome(native) == outcome(plain)
    line = fault.__code__.co_firstlineno
    assert re.match(
        re.escape(FAULTS[fault]) + rf", at count, test_faults.py line ({line + 1}|{line + 2})$",
        native.undecided_reason,
    )
    assert native.distinct == LATE + 1


@pytest.mark.slow
@pytest.mark.parametrize("number", BEYOND_COMPILED, ids=lambda each: each.__name__)
def test_compiled_code_has_64_bits_and_says_so(number):
    model = counting("action", number).bind()
    native, plain = (explore(model, engine=each, progress=False) for each in ENGINES)
    assert native.undecided_reason.startswith("in compiled code a number needs more than 64 bits")
    assert (native.distinct, plain.verdict) == (LATE + 2, "holds")  # the step itself, too


# --- Initial states over the storage -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("most", "verdict", "distinct"), [(124, "violated", 5), (999, "undecided", 8)]
)
def test_initial_states_up_to_one_that_does_not_fit_count(most, verdict, distinct):
    class Narrow(Struct):
        n: Int8

    spec = Spec("toy.narrow", Narrow, Nothing)

    @spec.init
    def start(s, c, n: Range(120, 130)):
        s.n = n
        return TAKEN

    @spec.action
    def rest(s, c):
        return TAKEN

    @spec.invariant
    def small(s, c):
        return HOLDS if s.n < most else "too large"

    results = [explore(spec.bind(), engine=each, progress=False) for each in (*ENGINES, "spark")]
    for result in results[:2]:
        assert (result.verdict, result.distinct, result.generated) == (verdict, distinct, distinct)
    assert (results[2].verdict, results[2].distinct) == (verdict, 8)  # Spark counts whole levels
    if verdict == "undecided":
        words = "state.n would be 128, and its int8 holds -128 to 127: declare it wider"
        assert [each.undecided_reason for each in results] == [words] * 3
    else:
        assert [each.violation_reason for each in results] == ["too large"] * 3


# --- Disagreements -------------------------------------------------------------------------------


def test_compiled_code_that_sees_a_violation_alone_is_a_defect(monkeypatch):
    spec = counting("nowhere", None)

    @spec.invariant
    def few(s: State, c: Nothing):
        return HOLDS if s.n < LATE else "too many"

    monkeypatch.setattr(request, "evaluate", lambda *_: "")
    with pytest.raises(KitDefect, match="a defect of the kit, not of your spec: compiled") as error:
        explore(spec.bind(), progress=False)
    row = bytes.fromhex(re.search("in the state ([0-9a-f]+)", str(error.value))[1])
    assert "disagree on few of " in str(error.value)
    assert view(spec.bind().layout, row).n == LATE


def test_a_difference_in_one_state_of_a_small_search_is_noticed(monkeypatch):
    model = counting("nowhere", None).bind()
    found = explore(model, progress=False)
    assert found.compared == found.distinct > 24
    assert f"; {found.distinct} states compared with plain Python" in str(found)
    odd = found.states[found.distinct // 3].tobytes()

    def fewer(model, row):
        return islice(successors(model, row), 1 if row == odd else None)

    monkeypatch.setattr(cross_check, "successors", fewer)
    assert (
        explore(model, progress=False).compared == found.compared
    )  # in the same states: not again
    with pytest.raises(KitDefect, match="disagree on count_plainly of "):
        explore(counting("nowhere", None).bind(), progress=False)
