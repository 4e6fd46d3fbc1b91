"""`docs/public_questions.md`: each answer is what the search finds."""

import re

import pytest

from real_systems.bookkeeper import ledger_settings
from real_systems.kafka.promise import cluster_settings
from real_systems.promise.promise_table import in_short, searched
from tests import ROOT

SYSTEMS = {"kafka": cluster_settings, "bookkeeper": ledger_settings}
LINES = (ROOT / "docs/public_questions.md").read_text(encoding="utf-8").splitlines()
QUESTIONS = [line.split(" | ") for line in LINES if " | `" in line]


def answered(asked: str) -> str:
    """The cell on a line; asked: such as "kafka release=3.9 min_isr=2: kill"."""
    given, row = asked.rsplit(": ", 1)
    system, *words = given.split()
    settings = SYSTEMS[system].read([], **dict(each.split("=") for each in words))
    return in_short(searched(settings, settings.row_named(row)))


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=[each[0].split("]")[0] for each in QUESTIONS])
def test_each_answer_is_what_the_search_finds(question):
    _, asked, said, _ = question
    assert [answered(each) for each in re.findall(r"`(.+?)`", asked)] == said.split("<br>")


def test_there_are_ten_of_kafka():
    assert sum("`kafka " in each[1] for each in QUESTIONS) >= 10
