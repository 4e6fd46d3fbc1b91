"""Made-up protocols, and requests with replies: all engines agree with the reference."""

import math
import signal
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol_lab import TAKEN, Array, Int8, LabError, Spec, Struct, truncate
from protocol_lab.checker.result import Verdict
from protocol_lab.compiler import building
from protocol_lab.compiler.fingerprint import fingerprint, fingerprints
from protocol_lab.explore import explore
from protocol_lab.model.containers import add, take
from protocol_lab.model.layout import Bag, resolve
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_initial, find_step, step_of
from protocol_lab.model.transitions import initial, successors
from protocol_lab.teaching.exercises import with_action
from tests.request_reply import spec
from tests.spec_checks import ENGINES, agree
from tests.toy_specs import Message, counter, letters, polls, shelves
from tests.work_units import one_of


@pytest.mark.slow
@pytest.mark.parametrize("lossy", one_of([0, 1]))
@pytest.mark.parametrize("servers", [1, 2, 3])
def test_engines_agree_on_message_passing(servers, lossy):
    result = agree(letters.bind(servers=servers, lossy=lossy, values=2), invariants=[])
    assert result.verdict == "holds"
    assert result.never_reached == (
        ["pigs_fly"] if servers > 1 else ["a_letter_arrives", "pigs_fly"]
    )


def test_engines_agree_at_a_violation_and_its_trace_is_shortest():
    model = letters.bind(servers=3, starts=1)
    result = agree(model, invariants=None)
    assert (result.violated, len(result.trace_rows)) == ("few_letters", 3)
    assert result.violation_reason == "three letters are under way"
    row = result.trace_rows[0]
    for step, expected in zip(result.trace, result.trace_rows[1:], strict=True):
        row = find_step(model, row, step.text).row
        assert row == expected


@pytest.mark.slow
def test_a_violation_outside_the_constraint_is_found_but_not_counted():
    model = letters.bind(servers=3, starts=1)
    outside = agree(model, constraint="s.messages.size <= 2", to_the_end=True)
    assert outside.verdict == "violated"
    assert outside.violating["few_letters"] == 0


def test_several_initial_states_and_the_line_that_chooses_one():
    model = letters.bind(servers=3, starts=2, lossy=0, values=3)
    assert len(list(initial(model))) == 2
    result = agree(model, invariants=["few_letters"])
    assert result.initial == "init(first=0)"


def test_a_sequence_of_numbers_as_a_parameter():
    model = shelves.bind(servers=3, values=3)
    # 3 * 3 shelves to begin with, and the pairs 01, 02 and 12 to follow each.
    result = agree(model)
    assert (result.distinct, result.generated, result.depth) == (9 + 3, 9 + 9 * 3, 2)
    first = find_initial(model, "fill(books=[3, 1])").row
    [*_, last] = successors(model, first)
    step = step_of(model, first, last.action, last.args)
    assert step.text == "rearrange(books=[1, 2])"
    assert step.to_json() == {"action": "rearrange", "args": {"books": [1, 2]}}
    for text in (step.text, "rearrange(books=(1, 2))"):
        assert find_step(model, first, text).row == last.row
    assert find_step(model, first, "rearrange(books=[2, 1])").reason == "the numbers do not rise"
    with pytest.raises(LabError, match="is not a sequence of numbers; write one such as"):
        find_step(model, first, "rearrange(books={1, 2})")


def test_deadlocks_are_reported_on_request():
    model = counter.bind(limit=5)
    assert agree(model).verdict == "holds"
    result = agree(model, deadlock=True)
    assert (result.violated, len(result.trace_rows)) == ("deadlock", 6)
    assert agree(model, deadlock=True, to_the_end=True).violated == "deadlock"
    both = agree(model, deadlock=True, to_the_end=True, invariants=["never_to_three"])
    assert (both.violated, both.violating) == ("deadlock", {"never_to_three": 1})


def test_a_parameter_may_be_one_of_several_names():
    model = polls.bind()
    result = agree(model, to_the_end=True)
    assert (result.distinct, result.generated) == (9, 13)
    steps = [each.text for each in result.trace]
    assert steps == ["hear(server=1, answer=no)", "hear(server=2, answer=no)"]
    assert result.trace[0].to_json()["args"] == {"server": 1, "answer": "no"}
    start = next(initial(model)).row
    assert find_step(model, start, steps[0]).row == result.trace_rows[1]
    with pytest.raises(LabError, match="there is no such choice"):
        find_step(model, start, "hear(server=1, answer=perhaps)")


@pytest.mark.parametrize("bound", range(1, 8))
def test_max_states_bounds_distinct_and_is_undecided_only_if_hit(bound):
    result = agree(counter.bind(limit=5), max_states=bound)
    assert result.distinct == min(bound, 6)
    assert result.verdict == ("holds" if bound >= 6 else "undecided")


@pytest.mark.parametrize("step", [1, 7, 99])
def test_a_number_that_does_not_fit_ends_the_search_and_names_the_constant(step):
    result = agree(counter.bind(limit=None, step=step))
    assert result.verdict == "undecided"
    assert "limit" in result.undecided_reason
    assert "holds -128 to 127" in result.undecided_reason
    assert result.distinct == math.floor(127 / step) + 1


def test_a_full_bag_ends_the_search_and_names_the_constant():
    result = agree(letters.bind(servers=3, slots=1), invariants=[])
    assert result.verdict == "undecided"
    assert "messages has no room for more than 1: raise slots" in result.undecided_reason


def test_a_violation_before_a_full_bag_is_found():
    result = agree(letters.bind(servers=3, slots=4, values=4, starts=1), to_the_end=True)
    assert result.undecided_reason
    assert result.verdict == "violated"
    assert agree(letters.bind(servers=3, slots=4, values=4, starts=1)).violated == "few_letters"


def test_ctrl_c_ends_a_search_as_undecided_with_counts_that_add_up(monkeypatch):
    model = letters.bind(servers=3, values=4)
    monkeypatch.setattr("protocol_lab.checker.breadth_first.chunk_states", lambda _: 64)
    explore(model, invariants=[], max_states=1)  # compiled before it is interrupted

    def stopped() -> bool:
        if not asked:
            asked.append(True)
            signal.raise_signal(signal.SIGINT)
        return False

    asked = []
    before = signal.getsignal(signal.SIGINT)
    result = explore(model, invariants=[], stopped=stopped)
    assert (result.verdict, result.undecided_reason) == ("undecided", "interrupted")
    assert result.distinct == len(result.states)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_message_is_named_by_the_fewest_fields():
    model = letters.bind(servers=3, starts=1)
    row = next(initial(model)).row
    row = find_step(model, row, "broadcast(source=2, lost={})").row
    texts = [
        step_of(model, row, each.action, each.args).text
        for each in successors(model, row)
        if each.action.name == "receive"
    ]
    assert texts == ["receive(message=Message(dest=1))", "receive(message=Message(dest=3))"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("broadcast(lost={})", "ambiguous"),
        ("broadcast(source=9, lost={})", "no such choice"),
        ("broadcast(sauce=1)", "no parameter 'sauce'"),
        ("fly()", "no action 'fly'"),
        ("receive(message=", "is not a step"),
        ("receive(1)", "is not a step"),
    ],
)
def test_a_malformed_step_gets_one_sentence(text, words):
    model = letters.bind(servers=3, starts=1)
    with pytest.raises(LabError, match=words) as error:
        find_step(model, next(initial(model)).row, text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"server": 2}, "no constant 'server'"),
        ({"servers": 9}, "use 1 to 3"),
        ({"servers": "two"}, "not a whole number"),
        ({"servers": "none"}, "only bounds can be none"),
        ({"lossy": "maybe"}, "false, true"),
    ],
)
def test_a_wrong_constant_gets_one_sentence(values, words):
    with pytest.raises(LabError, match=words):
        letters.bind(**values)


def test_a_condition_may_be_a_function_of_the_caller():
    bound = 3
    assert agree(counter.bind(), constraint=lambda s, c: s.n < bound).distinct == 3


@settings(deadline=None)
@given(st.lists(st.binary(min_size=24, max_size=24), min_size=1, max_size=5))
def test_the_fingerprint_is_the_same_compiled_and_in_python(rows):
    import numpy as np

    words = np.frombuffer(b"".join(rows), np.uint64).reshape(len(rows), 3)
    assert [int(each) for each in fingerprints(words)] == [fingerprint(row) for row in rows]


class Letters(Struct):
    """A state that is nothing but a bag."""

    bag: Bag(Message, 6)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(-9, 9)), max_size=6))
def test_equal_bags_are_equal_bytes(items):
    layout = resolve(Letters, {"servers": 3})
    rows = []
    for order in (items, items[::-1]):
        row = bytearray(layout.size)
        bag = view(layout, row).bag
        for source, dest, value in order:
            add(bag, Message(source=source, dest=dest, value=value))
        rows.append(bytes(row))
    assert rows[0] == rows[1]
    for source, dest, value in items:
        take(bag, Message(source=source, dest=dest, value=value))
    assert bytes(row) == bytes(layout.size)


def edited_spec(body: str) -> Spec:
    """A spec whose action calls a helper function with this body."""

    class OneConstants(NamedTuple):
        pass

    class OneState(Struct):
        n: Int8
        slots: Array(Int8, 2)

    spec = Spec("toy.edited", OneState, OneConstants)
    scope = {"TAKEN": "", "OneState": OneState}
    for source in (
        f"def helper(s):\n    {body}\n",
        "def go(s, c):\n    if s.n >= 3:\n        return 'done'\n    helper(s)\n    return TAKEN\n",
        "def begin(s, c):\n    return TAKEN\n",
    ):
        exec(source, scope)
        next(reversed(scope.values())).lab_source = source
    spec.init(scope["begin"])
    spec.action(scope["go"])
    return spec


def test_an_edit_of_a_called_function_takes_effect(tmp_path, monkeypatch):
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    before = len(building.compilations)
    assert agree(edited_spec("s.n += 1").bind()).distinct == 4
    assert agree(edited_spec("s.n += 3").bind()).distinct == 2
    compiled = len(building.compilations)
    assert compiled > before
    assert agree(edited_spec("s.n += 1").bind()).distinct == 4
    assert len(building.compilations) == compiled


@pytest.mark.slow
def test_an_edited_action_is_compiled_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    model = letters.bind()
    explore(model)

    def forget(s, c, server):
        if s.server[server].log.length < 2:
            return "there is too little in the log"
        truncate(s.server[server].log, s.server[server].log.length - 1)
        return TAKEN

    before = len(building.compilations)
    explore(with_action(letters, "forget", forget).bind())
    assert building.compilations[before:] == ["toy.letters forget"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("s.n = undefined_name", "'undefined_name' is not defined"),
        ("x = [1]; x[0] = s.n", "a list that is written out can't be changed"),
        ("return f'{s.n:03d}'", "with a format in an f-string (line 2): write the value alone"),
        ("s.n = range(1, 9)[s.n]", "an index of such a value is not supported (line 2)"),
        ("return s.n / 2 > 1", "with a division into fractions (/) (line 2): use //"),
        ("import math", "with an import (line 2): import it at the top of the module"),
        ("try: s.n += 1\n    except ValueError: pass", "with a try (line 2): ask beforehand"),
        ("if s.n > 9: raise ValueError", "with a raise (line 2): return the reason"),
        ("return 'no ' + 'way'", "write a text in one piece"),
        ("x = {1: 2}; s.n = x[1]", "with a dict (line 2): give the state a field Per(...)"),
    ],
)
def test_what_can_not_be_compiled_gets_one_sentence(body, sentence):
    with pytest.raises(LabError) as error:
        explore(edited_spec(body).bind())
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_without_a_state_says_that_nothing_was_checked(engine):
    result = explore(counter.bind(), constraint="s.n < 0", engine=engine, progress=False)
    assert (result.verdict, result.distinct) == (Verdict.HOLDS, 0)
    assert "nothing was checked: no initial state meets the constraints" in str(result)


# --- Requests and replies ------------------------------------------------------------------------


COUNTS = [
    ({"remembers": "on_disk"}, 34, 7),
    ({"remembers": "on_disk", "lossy": 0}, 20, 8),
    ({"remembers": "on_disk", "requests": 2}, 86, 10),
    ({"remembers": "on_disk", "clients": 2, "crashes": 0}, 289, 11),
    ({"remembers": "on_disk", "clients": 2, "requests": 2}, 3_698, 18),
]


@pytest.mark.slow
@pytest.mark.parametrize(("constants", "states", "depth"), one_of(COUNTS))
def test_explored_to_the_end_it_holds_on_both_engines(constants, states, depth):
    model = spec.bind(**constants)
    native, python = (explore(model, engine=engine) for engine in ("native", "python"))
    assert (native.verdict, native.distinct, native.depth) == ("holds", states, depth)
    assert (python.per_depth, python.per_action) == (native.per_depth, native.per_action)
    assert native.exhaustive
    assert native.never_reached == []


@pytest.mark.parametrize(("remembers", "steps"), [("nothing", 4), ("in_memory", 5)])
def test_a_retry_is_executed_twice(remembers, steps):
    result = explore(spec.bind(remembers=remembers))
    assert result.violated == "executed_at_most_once"
    assert len(result.trace) == steps
    assert result.trace[-1].action == "handle_request"
    assert ("crash" in [each.action for each in result.trace]) == (remembers == "in_memory")


def test_without_retries_nothing_breaks_even_if_the_server_remembers_nothing():
    assert explore(spec.bind(retries=0)).verdict == "holds"
