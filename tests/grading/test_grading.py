"""The commands `lab` and `grade`, and the process in which a submission is graded."""

import csv
import re
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import lab
from protocol_lab.cli import main
from protocol_lab.grading import isolated_process
from protocol_lab.grading.isolated_process import Limits, grade_submission
from protocol_lab.grading.labs import Found, load_lab
from tests import ROOT
from tests.grading.submissions import solution_with

pytestmark = pytest.mark.slow  # each grade is a process

LAB = load_lab("primary_backups")

NESTED = "\n".join(f"{'    ' * k}for k{k} in range(999999):" for k in range(4))
ENDLESS = f"{NESTED}\n{'    ' * 4}pass\nreturn TAKEN"
HUGE = "many = [[0] * 900000 for k in range(900000)]\nreturn TAKEN"


@pytest.fixture
def first_part(tmp_path) -> Path:
    """A folder of labs with the first part of one: its grading compiles nothing."""
    inside = tmp_path / "labs" / LAB.name / "instructor"
    inside.mkdir(parents=True)
    (inside.parent / f"{LAB.name}.py").write_bytes(LAB.skeleton.read_bytes())
    checks = (LAB.folder / "instructor" / "checks.py").read_text(encoding="utf-8")
    (inside / "checks.py").write_text(checks + "\n\nPARTS = PARTS[:1]\n", encoding="utf-8")
    return tmp_path / "labs"


def hand_in(folder: Path, who: str, text: str) -> Path:
    path = folder / who / f"{LAB.name}.py"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_lab_starts_as_a_copy_without_what_is_the_instructors(here, capsys):
    assert main(["lab", "primary_backups", "mine"]) == 0
    assert sorted(each.name for each in (here / "mine").iterdir()) == [
        "README.md", "primary_backups.py"]  # fmt: skip
    assert "1. replicate: 20 points" in capsys.readouterr().out
    assert main(["lab", "primary_backups", "mine"]) == 3
    assert "exists already" in capsys.readouterr().err
    assert main(["check", "mine/primary_backups.py", "--engine", "python"]) == 0
    assert main(["lab", "no_such_lab"]) == 3
    assert "primary_backups" in capsys.readouterr().err


def test_grades_are_a_table_csv_junit_and_pictures(here, first_part, capsys):
    hand_in(here / "all", "ann", solution_with(LAB))
    magic = "s.log[backup] = s.log[s.primary]\nreturn TAKEN"
    hand_in(here / "all", "=bob", solution_with(LAB, send_again=magic))
    words = ["grade", "all", "--labs", str(first_part), "--csv", "g.csv", "--junit", "g.xml"]
    assert main([*words, "--pictures", "drawn"]) == 1
    said = capsys.readouterr().out
    assert re.search(r"ann +primary_backups +20 of 20", said)
    assert "send_again changes log[" in said
    with open("g.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["submission"], row["points"], row["out_of"]) for row in rows] == [
        ("'=bob", "0", "20"), ("ann", "20", "20")]  # fmt: skip
    suites = ElementTree.parse("g.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["1", "0"]
    drawn = sorted((here / "drawn").iterdir())
    assert [each.suffix for each in drawn] == [".svg", ".txt"]
    assert "send_again(" in drawn[1].read_text(encoding="utf-8")
    assert main(["grade", "drawn"]) == 3
    assert "no submission" in capsys.readouterr().err


def test_a_submission_that_does_not_end_is_stopped(here, first_part):
    path = hand_in(here, "eve", solution_with(LAB, receive=ENDLESS))
    grade = grade_submission(
        Found("eve", LAB.name, path), load_lab(LAB.name, first_part), Limits(seconds=1)
    )
    assert (grade.points, grade.out_of) == (0, 20)
    assert grade.parts[0].reason == "it was stopped after 1 second"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of memory")
def test_a_submission_that_wants_all_memory_is_refused_it(here, first_part):
    path = hand_in(here, "max", solution_with(LAB, receive=HUGE))
    grade = grade_submission(
        Found("max", LAB.name, path), load_lab(LAB.name, first_part), Limits(60, 2 << 30)
    )
    assert grade.points == 0
    assert "memory" in grade.parts[0].reason


def test_a_process_that_dies_costs_only_what_it_had_not_graded(here, first_part, monkeypatch):
    monkeypatch.setattr(isolated_process, "_WORKER", ("-c", "import os; os._exit(7)"))
    path = hand_in(here, "zoe", solution_with(LAB))
    grade = grade_submission(Found("zoe", LAB.name, path), load_lab(LAB.name, first_part))
    assert grade.parts[0].reason == "its process ended by itself (exit code 7)"


BROKEN = """
from protocol_lab.grading import worker

def fail(*given):
    raise OSError("no room is left")

worker.{} = fail
worker.main()
"""


@pytest.mark.parametrize("name", ["read_submission", "grade_part"])
def test_a_failure_of_the_grader_is_told_as_one(name, here, first_part, monkeypatch):
    monkeypatch.setattr(isolated_process, "_WORKER", ("-c", BROKEN.format(name)))
    path = hand_in(here, "kim", solution_with(LAB))
    grade = grade_submission(Found("kim", LAB.name, path), load_lab(LAB.name, first_part))
    assert grade.points == 0
    assert grade.parts[0].reason == (
        "the grader failed, which says nothing about the submission (OSError: no room is left)"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_a_process_that_a_signal_ends_is_told_by_its_name(here, first_part, monkeypatch):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(isolated_process, "_WORKER", ("-c", code))
    path = hand_in(here, "lou", solution_with(LAB))
    grade = grade_submission(Found("lou", LAB.name, path), load_lab(LAB.name, first_part))
    assert grade.parts[0].reason.startswith("its process was ended by SIGKILL, perhaps because")


# --- GitHub Classroom ------------------------------------------------------------------------

WORKFLOW = yaml.safe_load((ROOT / "docs/classroom/grade.yml").read_text(encoding="utf-8"))
STEPS = WORKFLOW["jobs"]["grade"]["steps"]
PUSHED, KIT = (each["with"]["path"] for each in STEPS if "checkout" in each.get("uses", ""))
SUBMISSION = PUSHED.replace("${{ github.event.repository.name }}", "lab-of-ann")


def command_of(step: str) -> list[str]:
    """The words after lab.py in a step of the workflow."""
    [run] = [each["run"] for each in STEPS if each.get("name") == step]
    python, file, *words = shlex.split(run)
    assert (python, file) == ("python3", f"{KIT}/lab.py")
    return words


def test_the_workflow_sets_the_kit_up_without_spark():
    options, words = lab.set_up_options(command_of("Set up the kit"))
    assert options == {"spark": False}
    assert main(words) == 0


@pytest.mark.parametrize(
    ("handed_in", "code", "kept"),
    [
        ("solution", 0, ["grades.csv", "grades.xml", "drawn"]),
        ("skeleton", 1, ["grades.csv", "grades.xml", "drawn"]),
        ("nothing", 3, []),
    ],
)
def test_the_workflow_grades_what_was_pushed(handed_in, code, kept, here, first_part, capsys):
    path = here / SUBMISSION / f"{LAB.name}.py"
    path.parent.mkdir(parents=True)
    if handed_in != "nothing":
        skeleton = LAB.skeleton.read_text(encoding="utf-8")
        text = skeleton if handed_in == "skeleton" else solution_with(LAB)
        path.write_text(text, encoding="utf-8")
    assert main([*command_of("Grade"), "--labs", str(first_part)]) == code
    [uploaded] = [each["with"]["path"] for each in STEPS if "upload" in each.get("uses", "")]
    assert [each for each in uploaded.split() if (here / each).exists()] == kept
    said = capsys.readouterr()
    assert ("lab-of-ann  primary_backups" in said.out) == bool(kept)
    assert ("There is no submission" in said.err) == (not kept)
