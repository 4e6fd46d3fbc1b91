"""The plans of notebooks/workshop.md: they add up, and what they name exists."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import protocol_lab.stepper
from protocol_lab.lessons.lesson_files import lesson_named, lesson_names
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.teaching.challenges import challenges_of
from protocol_lab.teaching.questions import KEPT
from tests.notebook_outputs import FOLDER, code_cells, read
from tests.spec_checks import packages

TEXT = (FOLDER / "workshop.md").read_text(encoding="utf-8")
NOTEBOOK = re.compile(r"`((?:\w+/)?\d\d[a-z]?_\w+)`")


def part(title: str) -> str:
    """What stands under a heading."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    lines = [line for line in part(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def notebook(name: str):
    return read(FOLDER / f"{name}.ipynb")


def headings(name: str) -> set[str]:
    cells = [cell.source for cell in notebook(name).cells if cell.cell_type == "markdown"]
    return set(re.findall(r"^#+ (.+)$", "\n".join(cells), re.MULTILINE))


def all_of(name: str) -> str:
    """A notebook's sources and outputs as one text, texts that are split into lines joined."""
    return re.sub(r'"\s*\n\s*"', "", "\n".join(cell.source for cell in notebook(name).cells))


@pytest.mark.parametrize(
    ("title", "minutes"),
    [
        ("An hour for people who run Kafka", 60),
        ("90 minutes", 90),
        ("Half a day", 210),
        ("BookKeeper in 90 minutes", 90),
        ("Pulsar in an hour", 60),
        ("KRaft in 90 minutes", 90),
    ],
)
def test_a_plan_adds_up_and_names_sections_that_exist(title, minutes):
    clock = 0
    for begin, length, where, sections, _ in rows(title):
        assert begin == f"{clock // 60}:{clock % 60:02}"
        clock += int(length)
        if where:
            known = headings(where.strip("`"))
            named = re.findall(r'"([^"]+)"', sections)
            assert named
            assert set(named) <= known, set(named) - known
    assert clock == minutes


def test_every_notebook_that_is_named_exists():
    named = set(NOTEBOOK.findall(TEXT))
    assert len(named) > 5
    for name in named:
        assert (FOLDER / f"{name}.ipynb").exists(), name


def test_every_section_that_the_text_names_exists():
    everything = set().union(*(headings(name) for name in set(NOTEBOOK.findall(TEXT))))
    named = re.findall(r'"([^"]+)"', TEXT)
    assert set(named) <= everything, set(named) - everything


@cache
def asked_in(name: str) -> list[dict[str, Any]]:
    """The questions of a notebook, or of a lesson."""
    if name in lesson_names():
        lesson = PlayedLesson(lesson_named(name))
        lesson.settle_all()
        asks = [each["ask"] for each in lesson.values["beats"] if each["ask"]]
        return [each | {"choices": [one["label"] for one in each["options"]]} for each in asks]
    outputs = [each for cell in code_cells(notebook(name)) for each in cell.outputs]
    return [each.data[KEPT] for each in outputs if KEPT in each.get("data", {})]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows("Where to stop and ask"), ids=lambda row: row[1][:40])
def test_a_question_is_asked_there_and_answered_as_the_run_says(row):
    where, question, answer, wrong, reply = row
    name = where.strip("`")
    plain = question.replace("’", "'")
    asked = next(each for each in asked_in(name) if plain in each["question"].replace("’", "'"))
    assert asked["choices"][asked["right"]] == answer
    assert wrong != answer
    assert reply.endswith((".", "?"))


def test_every_exercise_and_challenge_exists():
    challenges = {each.name for package in packages() for each in challenges_of(package)}
    listed = rows("Group work")
    assert len(listed) > 5
    for _, names, where in listed:
        for name in re.findall(r"`(\w+)`", names):
            shown = f'challenge("{name}")' if name in challenges else f".{name}.check("
            assert shown in all_of(where.strip("`"))


def test_the_keys_are_those_that_the_stepper_lists():
    drawers = (Path(protocol_lab.stepper.__file__).parent / "js" / "drawers.js").read_text(
        encoding="utf-8"
    )
    listed = drawers.partition("KEY_MEANINGS = [")[2].partition("];")[0]
    known = " ".join(re.findall(r'\["([^"]+)", "', listed)) + listed
    keys = [key for keys, _ in rows("Stepping in front of people") for key in keys.split("`")[1::2]]
    assert len(keys) > 8
    for key in [*keys, "p"]:
        assert key in known, key
