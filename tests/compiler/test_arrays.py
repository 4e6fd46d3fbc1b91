"""Arrays of the state in compiled code: a variable may be one or another of the same kind."""

import pytest

from protocol_lab import TAKEN, Array, Int8, LabError, Spec, Struct
from protocol_lab.explore import explore
from tests.spec_checks import agree


class State(Struct):
    n: Int8
    few: Array(Int8, 2)
    others: Array(Int8, 2)
    many: Array(Int8, 3)


def spec_with(check) -> Spec:
    """Counts to three in `few`, and has this invariant."""
    spec = Spec("toy.arrays", State)

    @spec.init
    def begin(s: State, c):
        s.others[1] = 5
        return TAKEN

    @spec.action
    def count(s: State, c):
        if s.n >= 3:
            return "that is all"
        s.n += 1
        s.few[1] += 1
        return TAKEN

    spec.invariant(check)
    return spec


def test_a_variable_may_be_one_of_two_arrays():
    def is_small(s: State, c):
        chosen = s.few if s.n > 0 else s.others
        return "" if s.n == 0 or chosen[1] < 3 else "too many"

    result = agree(spec_with(is_small).bind())
    assert (result.violated, result.depth) == ("is_small", 4)


def of_two_sizes(s: State, c):
    chosen = s.few if s.n > 0 else s.many
    return "" if chosen[1] < 3 else "too many"


def on_two_paths(s: State, c):
    chosen = s.few
    if s.n > 0:
        chosen = s.many
    return "" if chosen[1] < 3 else "too many"


def a_list_or_an_array(s: State, c):
    return "" if ([1, 2] if s.n > 0 else s.few) != s.others else "the same"


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (of_two_sizes, "(a value|chosen) has one kind on one path"),
        (on_two_paths, "chosen has one kind on one path"),
        (a_list_or_an_array, "a value has one kind on one path"),
    ],
)
def test_it_may_not_be_of_two_kinds(check, told):
    with pytest.raises(LabError, match=rf"{told}.* \(line \d+\)\. Let each path") as raised:
        explore(spec_with(check).bind(), progress=False)
    assert "unify" not in str(raised.value)


def test_a_slot_that_a_generator_chooses_is_changed_in_place():
    spec = spec_with(lambda s, c: "")

    @spec.action
    def count_there(s: State, c):
        if s.n >= 3:
            return "that is all"
        s.many[sum(k for k in range(1, 2) if s.n > 0)] += 1
        s.n += 1
        return TAKEN

    result = agree(spec.bind())
    assert (result.verdict, result.distinct, result.generated) == ("holds", 13, 15)
