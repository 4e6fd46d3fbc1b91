"""Rewritten functions do what Python does, or are refused with a sentence."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import TAKEN, Array, Int8, LabError, Spec, Struct, flag
from protocol_lab.explore import explore
from protocol_lab.model.state_view import plain, view
from tests.spec_checks import agree


class Constants(NamedTuple):
    extra: Annotated[int, flag("something more")] = 0


class Note(Struct):
    extra: Int8


class State(Struct):
    n: Int8
    next: Int8
    found: Int8
    slots: Array(Int8, 3)
    note: Note


FACTOR = 7


def take(s):
    s.next += 1
    return s.next - 1


def taken_and(s, before):
    return take(s) + before


def limit_of(factor: int):
    """One of several functions with one name, each of a module that calls this FACTOR."""
    scope = {"FACTOR": factor}
    text = "def limit(s):\n    return s.n * FACTOR\n"
    exec(text, scope)
    scope["limit"].lab_source = text
    return scope["limit"]


once, twice = limit_of(1), limit_of(2)


def equal(one, other):
    return max(one, other) - min(one, other) < 2


def extra_of(c):
    return c.extra


def spec_with(effect) -> Spec:
    """Does something three times."""
    spec = Spec("toy.rewriting", State, Constants)

    @spec.init
    def begin(s: State, c):
        s.note.extra = 3
        return TAKEN

    @spec.action
    def act(s: State, c):
        if s.n >= 3:
            return "that is all"
        s.n += 1
        effect(s, c)
        return TAKEN

    @spec.invariant
    def goes_on(s: State, c):
        return "" if s.n < 3 else "that is all"

    return spec


def last_state(effect) -> dict:
    """The state after three times, in which both engines agree."""
    result = agree(spec_with(effect).bind())
    return plain(view(result.model.layout, result.trace_rows[-1]))


def test_a_call_in_the_target_of_an_addition_is_made_once():
    def effect(s, c):
        s.slots[take(s)] += 5

    assert last_state(effect)["slots"] == [5, 5, 5]


def test_arguments_are_read_before_the_call_changes_them():
    def effect(s, c):
        s.found = taken_and(s, s.next)

    assert last_state(effect)["found"] == 2 + 2


def test_names_that_several_modules_have_keep_their_values():
    def effect(s, c):
        s.found = once(s) + 3 * twice(s) + FACTOR

    assert last_state(effect)["found"] == 3 + 18 + 7


def test_the_bits_of_a_truth_are_inverted():
    def effect(s, c):
        s.found = ~(s.n > 1) + 10 * ~s.n

    assert last_state(effect)["found"] == -2 + 10 * -4


def test_a_variable_named_c_is_not_the_constants():
    def effect(s, c):
        c = s.note
        s.found = c.extra

    assert last_state(effect)["found"] == 3


def test_a_helpers_parameter_may_be_named_as_the_constants():
    def effect(s, c):
        s.found = extra_of(s.note)

    assert last_state(effect)["found"] == 3


def test_a_name_of_the_compilers_is_refused():
    def effect(s, c):
        s.found = equal(s.n, 2)

    with pytest.raises(LabError, match="with the name equal, which compiled code uses itself"):
        explore(spec_with(effect).bind(), progress=False)
