"""The exercise of the notebook on reduction: the worked answer passes, wrong ones are told why."""

import importlib.util

import pytest

from protocol_lab import nodes_up_to
from tests.notebook_outputs import FOLDER

_PATH = FOLDER / "reduction" / "exercises.py"
_FOUND = importlib.util.spec_from_file_location("reduction_exercises", _PATH)
EXERCISES = importlib.util.module_from_spec(_FOUND)
_FOUND.loader.exec_module(EXERCISES)
ALIKE = EXERCISES.which_are_alike


def everybody(c):
    return nodes_up_to(c.replicas)


def nobody(c):
    return 0


def all_but_the_first(c):
    return nodes_up_to(c.replicas) & ~2


@pytest.mark.slow
def test_the_worked_answer_passes():
    assert ALIKE.check(ALIKE.answer).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (everybody, "With leader=1: kafka.async_isr declares its replicas symmetric, but tells 1"),
        (all_but_the_first, "With leader=3: kafka.async_isr declares its replicas symmetric"),
        (nobody, "This is sound, but more replicas are alike"),
        (6, "Write a function of the constants"),
    ],
)
def test_a_wrong_answer_is_told_why(answer, told):
    feedback = ALIKE.check(answer)
    assert feedback.passed is False
    assert told in feedback.text
