"""The learner's record, and the overview of what is left to do."""

import json
from pathlib import Path

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.teaching import challenges, record
from protocol_lab.teaching.challenges import Challenge, par
from protocol_lab.teaching.exercises import exercise, right, wrong
from protocol_lab.teaching.overview import Task, progress
from protocol_lab.teaching.questions import ask

CELLS = [
    'ask("How " "many?", {3: "", 49: ""}, run)',
    "%%time\nthis is no Python",
    "exercises.find_it.check(my_answer)",
    'challenge("lose_it")',
    'ask("Is it safe?", {"yes": "", "no": ""}, run)',
    "exercises.find_it.check(my_answer)",
]


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    """Where a running notebook's outcomes go."""
    path = tmp_path / "progress.jsonl"
    monkeypatch.setenv("PROTOCOL_LAB_PROGRESS", str(path))
    monkeypatch.setattr(record, "get_ipython", object)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with two notebooks, of which one is damaged."""
    folder = tmp_path / "notebooks"
    (folder / "kafka").mkdir(parents=True)
    cells = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in CELLS]
    cells.insert(0, {"cell_type": "markdown", "source": ["# ask('this')"]})
    (folder / "kafka" / "01_one.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (folder / "00_start_here.ipynb").write_text("{", encoding="utf-8")
    (folder / "kafka" / "01_one.my-copy-1.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(record, "FOLDER", folder)
    return folder


def test_the_file_lies_where_lab_py_looks_for_it(monkeypatch):
    monkeypatch.delenv("PROTOCOL_LAB_PROGRESS", raising=False)
    assert record.record_file() == Path(__file__).parents[2] / "notebooks" / "progress.jsonl"


def test_outside_a_notebook_nothing_is_kept(file, monkeypatch):
    monkeypatch.setattr(record, "get_ipython", lambda: None)
    record.note("exercise", "find_it", True)
    assert not file.exists()


def test_what_is_settled_passed_or_solved_is_kept_once(file):
    asked = ask("How many?", {3: "More.", 49: ""}, lambda: 49)
    asked.choose(None)
    assert not file.exists()
    asked.choose(0)
    asked.choose(1)
    asked.choose(1)

    @exercise(answer=1, why="")
    def find_it(answer):
        """Find it."""
        return right("so") if answer == 1 else wrong("no")

    for answer in (2, 1, 1, 2):
        find_it.check(answer)

    assert record.recorded() == {
        "prediction": {"How many?": True},
        "exercise": {"find_it": True},
        "challenge": {},
    }
    assert len([line for line in file.read_text(encoding="utf-8").splitlines() if line]) == 3


def test_a_challenge_keeps_its_best_points(file):
    def far(s, c):
        """One log is full."""
        return s.logs[1].end_offset == 2

    task = Challenge("fill_it", "Fill it", "...", load("kafka.finite_replicated_log"), reach=far)
    walk = task.begin()
    walk.take("append(replica=1, record=1)")
    walk.take("append(replica=1, record=1)")
    assert par(task) == 2
    for hints in ([], ["one"]):
        challenges.progress(task, walk, hints)
    assert record.recorded()["challenge"] == {"fill_it": 10}


def test_damaged_lines_cost_nothing_but_themselves(file):
    record.note("exercise", "one", True)
    with file.open("ab") as torn:
        torn.write(b'[]\n{"kind": 1}\n\xff\xfe\n{"kind": "exercise", "name": "torn", "outc')
    record.note("exercise", "two", True)
    assert list(record.recorded()["exercise"]) == ["one", "two"]


@pytest.mark.parametrize("place", ["a/folder/that/is/not/there", "."])
def test_where_nothing_can_be_written_no_answer_fails(tmp_path, monkeypatch, file, place):
    monkeypatch.setenv("PROTOCOL_LAB_PROGRESS", str(tmp_path / place))
    asked = ask("How many?", {3: "More.", 49: ""}, lambda: 49)
    asked.choose(1)
    assert asked.answer.right == 1
    assert not any(record.recorded().values())


def test_what_the_notebooks_ask_is_read_from_their_cells(file, folder):
    shown = progress()
    assert shown.tasks == {
        "00_start_here": [],
        "kafka/01_one": [
            Task("prediction", "How many?"),
            Task("exercise", "find_it"),
            Task("challenge", "lose_it"),
            Task("prediction", "Is it safe?"),
        ],
    }
    assert str(shown) == "Nothing was done yet.\nNext: in kafka/01_one, predict: How many?"


def test_how_much_was_done_and_what_comes_next(file, folder, monkeypatch):
    record.note("prediction", "How many?", False)
    record.note("challenge", "lose_it", 8)
    record.note("exercise", "from_elsewhere", True)
    told = "predictions: 1 of 2, 0 right; exercises: 0 of 1; challenges: ✓ all 1, 8 of 10 points"
    assert str(progress("01_one")) == f"kafka/01_one: {told}.\nNext: the exercise `find_it`"
    monkeypatch.chdir(folder / "kafka")
    link = "[kafka/01_one](01_one.ipynb)"
    lines = f"{link}: {told}.  \nNext: in {link}, the exercise `find_it`"
    assert progress()._repr_markdown_() == lines
    record.note("exercise", "find_it", True)
    record.note("prediction", "Is it safe?", True)
    assert str(progress()).endswith("All of it is done.")
    with pytest.raises(LabError, match="no notebook"):
        progress("nonsense")


def test_a_question_is_asked_in_one_notebook_only():
    asked = [task for found in progress().tasks.values() for task in found]
    assert len(asked) == len(set(asked)), {each for each in asked if asked.count(each) > 1}
    assert len(asked) > 100
