"""KRaft for learners: its challenges are solvable, its exercises know right answers from wrong."""

import importlib
import pkgutil

import pytest

import kraft_spec.exercises
from protocol_lab.challenges import challenges_of, par, progress, score, shortest
from protocol_lab.exercises import Exercise
from tests.answers.kraft import WRONG

CHALLENGES = pytest.mark.parametrize(
    "challenge", challenges_of("kraft"), ids=lambda each: each.name
)

COMPILES = {"count_the_right_servers", "refuse_without_a_trace"}
"""The exercises whose checks compile an action of the learner's, which takes half a minute each.

The notebooks' own runs check a wrong answer to each, so that only one is tried here.
"""


def exercises():
    for each in pkgutil.iter_modules(kraft_spec.exercises.__path__):
        module = importlib.import_module(f"kraft_spec.exercises.{each.name}")
        for name, task in vars(module).items():
            if isinstance(task, Exercise):
                marks = pytest.mark.slow if name in COMPILES else ()
                yield pytest.param(task, id=name, marks=marks)


EXERCISES = pytest.mark.parametrize("task", list(exercises()))


# --- Challenges --------------------------------------------------------------------------------


@CHALLENGES
def test_a_challenge_is_complete_and_not_met_at_its_start(challenge):
    walk = challenge.begin()
    assert not challenge.is_met(walk, walk.moment)
    assert len(challenge.hints) >= 2
    assert challenge.task.endswith(".")
    shown = progress(challenge, walk)
    assert (shown["steps"], shown["solved"], shown["points"]) == (0, False, 0)
    assert shown["on_course"]


@CHALLENGES
def test_par_is_the_length_of_a_way_that_can_be_taken(challenge):
    best = shortest(challenge)
    assert 4 <= par(challenge) <= 20
    walk = challenge.begin()
    for step in best.steps[len(walk.steps) :]:
        assert not challenge.is_met(walk, walk.moment)
        walk.take(step.text)
    assert challenge.is_met(walk, walk.moment)
    assert score(challenge, walk).points == 10


def test_pars():
    assert {each.name: par(each) for each in challenges_of("kraft")} == {
        "kraft_count_yourself": 4,
        "kraft_two_leaders_write": 6,
        "kraft_wait_in_vain": 6,
        "kraft_epoch_goes_back": 7,
        "kraft_outvote_the_log": 10,
        "kraft_retire_the_leader": 12,
        "kraft_vote_twice": 10,
    }


# --- Exercises ---------------------------------------------------------------------------------


@EXERCISES
def test_the_worked_answer_is_right(task):
    feedback = task.check(task.answer)
    assert feedback.passed, feedback.text


@EXERCISES
def test_wrong_answers_are_told_what_is_wrong(task):
    assert len(WRONG[task.name]) >= 2
    for answer, told in WRONG[task.name]:
        feedback = task.check(answer)
        assert feedback.passed is False, answer
        assert told in feedback.text


@EXERCISES
def test_whatever_is_answered_the_check_answers_in_a_sentence(task):
    for nonsense in (None, ..., "no idea", object, lambda: 1, {"servers": 2}):
        feedback = task.check(nonsense)
        assert feedback.passed is False
        assert feedback.text.endswith((".", ":")), feedback.text


@EXERCISES
def test_the_task_is_complete(task):
    shown = task._repr_markdown_()
    assert task.title in shown
    assert len(task.task.splitlines()) > 2
    assert len(task.hints) >= 2
    assert task.why in shown
    assert shown.count("<details>") == len(task.hints) + 1
