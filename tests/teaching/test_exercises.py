"""Every exercise accepts its worked answer, and tells what is wrong with a wrong one.

The wrong answers are in tests/answers; those to Spark's exercises in test_spark_exercises.py.
"""

import importlib
import pkgutil
import signal

import pytest

from kafka_spec.exercises import start
from protocol_lab import HOLDS
from protocol_lab.catalog import load
from protocol_lab.teaching.exercises import (
    Exercise,
    diff_of,
    exercise,
    right,
    same_invariant,
    shortest_path,
    take_steps,
    with_action,
    with_invariant,
)
from tests.answers.kafka import SAID
from tests.spec_checks import packages
from tests.work_units import one_in

QUICK = ("kafka_spec.exercises.start", "kraft_spec.exercises.reconfiguration")
"""The modules whose exercises compile little."""

AT_LENGTH = ("on_spark",)
"""The modules that test_spark_exercises.py is about."""


def _modules_in(package: str) -> list:
    folder = importlib.import_module(package).__path__
    return [
        importlib.import_module(f"{package}.{each.name}") for each in pkgutil.iter_modules(folder)
    ]


def _exercises(without=()) -> list:
    """The exercises of all protocols as test parameters."""
    return [
        pytest.param(task, id=task.name, marks=() if module.__name__ in QUICK else pytest.mark.slow)
        for package in packages()
        for module in _modules_in(f"{package}_spec.exercises")
        if module.__name__.rpartition(".")[2] not in without
        for task in vars(module).values()
        if isinstance(task, Exercise)
    ]


WRONG = {}
for answers in _modules_in("tests.answers"):
    WRONG |= answers.WRONG

every = pytest.mark.parametrize("task", _exercises())

answered = pytest.mark.parametrize(
    "task",
    [each for each in _exercises(without=AT_LENGTH) if not each.marks]
    + one_in(24, [each for each in _exercises(without=AT_LENGTH) if each.marks]),
)


@pytest.mark.slow
@answered
def test_the_worked_answer_is_right(task):
    feedback = task.check(task.answer)
    assert feedback.passed, feedback.text
    assert [each for each in SAID.get(task.name, ()) if each not in feedback.text] == []


@answered
def test_wrong_answers_are_told_what_is_wrong(task):
    assert WRONG[task.name]
    for answer, told in WRONG[task.name]:
        feedback = task.check(answer)
        assert feedback.passed is False, answer
        assert told in feedback.text
        assert "Traceback" not in str(feedback)


@every
def test_whatever_is_answered_the_check_answers_in_a_sentence(task):
    for nonsense in (None, ..., "no idea", object, lambda: 1, {"replicas": 2}):
        feedback = task.check(nonsense)
        assert feedback.passed is False
        assert feedback.text.endswith((".", ":")), feedback.text


@every
def test_the_task_is_complete(task):
    shown = task._repr_markdown_()
    assert task.title in shown
    assert len(task.task.splitlines()) > 2
    assert len(task.hints) >= 2
    assert task.why in shown
    assert shown.count("<details>") == len(task.hints) + 1


def test_an_exercise_is_found_by_its_name_alone():
    names = [parameter.id for parameter in _exercises()]
    assert len(set(names)) == len(names)
    assert set(names) >= set(WRONG)


# --- The machinery ---------------------------------------------------------------------------

logs = load("kafka.finite_replicated_log")


def test_an_answer_that_fails_late_is_told_where():
    def fails_later(s, c):
        if s.logs[1].end_offset > 0:
            return s.logs[1].nonsense
        return HOLDS

    @exercise(answer=fails_later, why="")
    def task(answer):
        """A task."""
        return same_invariant(logs, answer, start.logs_agree)

    assert "no field 'nonsense'" in task.check(fails_later).text


def test_the_kits_own_function_is_no_answer():
    own = logs.actions[0].function
    feedback = start.logs_agree_where_both_have_records.check(own)
    assert not feedback.passed
    assert feedback.text == f"{own.__name__} is the kit's own: write yours."


def test_an_answer_that_is_no_sentence_is_told_what_to_return():
    def truth(s, c):
        return s.logs[1].end_offset == 0

    with pytest.raises(Exception, match="return HOLDS, or a sentence"):
        with_invariant(logs, truth)


def test_no_answer_is_asked_for_one():
    for feedback in (start.count_the_states.check(), start.count_the_states.check(...)):
        assert feedback.passed is False
        assert feedback.text.startswith("There is no answer yet")


def test_an_action_must_take_the_same_parameters():
    def append(s, c, replica):
        return "never"

    with pytest.raises(Exception, match=r"parameters \(s, c, replica, record\)"):
        with_action(logs, "append", append)
    with pytest.raises(Exception, match="has no action 'write'"):
        with_action(logs, "write", append)


def test_the_original_spec_stays_as_it_was():
    def append(s, c, replica, record):
        return "never"

    before = list(logs.actions)
    changed = with_action(logs, "append", append)
    assert logs.actions == before
    assert changed.actions[0].function is append


def test_an_invariant_of_a_step():
    def logs_only_grow(before, after, c):
        for replica in range(1, c.replicas + 1):
            if after.logs[replica].end_offset < before.logs[replica].end_offset:
                return "a log became shorter"
        return HOLDS

    spec = with_invariant(logs, logs_only_grow)
    assert [each.name for each in spec.bind().choose(None)[1]] == ["logs_only_grow"]


def test_a_shortest_path_and_its_par():
    found = shortest_path(logs.bind(), lambda s, c: s.logs[2].end_offset == 2)
    assert len(found.trace) == 2
    with pytest.raises(Exception, match="No such state"):
        shortest_path(logs.bind(), lambda s, c: s.logs[2].end_offset == 3)


def test_steps_may_have_comments_and_captions():
    walk = take_steps(logs.bind(), "# a story\nappend(replica=1, record=1)  # the first record\n")
    assert [step.text for step in walk.steps] == ["append(replica=1, record=1)"]
    assert walk.moment.caption == "the first record"


def test_a_difference_marks_lines_by_sign():
    def before(s):
        """One docstring."""
        if s < 1:
            return "no"
        return "yes"

    def after(s):
        """Another docstring."""
        if s < 2:
            return "no"
        return "yes"

    diff = diff_of(before, after)
    changes = [line for line in diff.splitlines()[2:] if line[0] != " "]
    assert changes == ["-if s < 1:", "+if s < 2:"]
    assert diff._repr_markdown_() == f"```diff\n{diff}\n```"
    with pytest.raises(Exception, match="give a function"):
        diff_of(before, 3)


def test_feedback_shows_the_steps_that_it_speaks_of():
    found = shortest_path(logs.bind(), lambda s, c: s.logs[1].end_offset == 1)
    feedback = right("So it is.", found)
    assert str(feedback).splitlines()[1].strip() == "1 append(replica=1, record=1)"
    assert "append(replica=1, record=1)" in feedback._repr_markdown_()


def test_an_interrupted_check_is_one_sentence():
    def interrupting(s, c):
        signal.raise_signal(signal.SIGINT)
        return HOLDS

    @exercise(answer=interrupting, why="")
    def task(answer):
        """A task."""
        return same_invariant(logs, answer, start.logs_agree)

    assert task.check(interrupting).text.startswith("You have interrupted the check")
