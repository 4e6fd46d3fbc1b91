"""The exercises and challenges of BookKeeper: worked answers are right, wrong ones are told why."""

import importlib
import pkgutil

import pytest

import bookkeeper_spec.exercises
from protocol_lab.challenges import challenges_of
from protocol_lab.exercises import Exercise
from tests.answers.bookkeeper import WRONG

ALL = {
    each.name: each
    for found in pkgutil.iter_modules(bookkeeper_spec.exercises.__path__)
    for each in vars(importlib.import_module(f"bookkeeper_spec.exercises.{found.name}")).values()
    if isinstance(each, Exercise)
}
every = pytest.mark.parametrize("task", ALL.values(), ids=ALL)


@pytest.mark.slow
@every
def test_the_worked_answer_is_right(task):
    feedback = task.check(task.answer)
    assert feedback.passed, feedback.text


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_told_what_is_wrong(name):
    for answer, told in WRONG[name]:
        feedback = ALL[name].check(answer)
        assert feedback.passed is False
        assert told in feedback.text


@every
def test_whatever_is_answered_the_check_answers_in_a_sentence(task):
    for nonsense in (None, ..., object, lambda: 1, {"bookies": 2}):
        feedback = task.check(nonsense)
        assert feedback.passed is False
        assert feedback.text.endswith((".", ":")), feedback.text


@every
def test_the_task_is_complete(task):
    shown = task._repr_markdown_()
    assert task.title in shown
    assert len(task.hints) >= 2
    assert task.why in shown


def test_there_are_challenges_with_hints():
    challenges = challenges_of("bookkeeper")
    assert len(challenges) == 5
    assert all(len(each.hints) >= 2 for each in challenges)
