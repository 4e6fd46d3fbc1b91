"""Hostile functions are refused before anything of them runs."""

import pytest

from protocol_lab.grading.labs import load_lab
from protocol_lab.grading.submissions import read_submission
from tests.grading.submissions import solution_with

LAB = load_lab("primary_backups")

HOSTILE = [
    ("import os\nos._exit(0)", "an import can't be used"),
    ('print(\'{"kind": "done"}\')\nreturn TAKEN', "there is no function print"),
    ("open('solution.py')\nreturn TAKEN", "there is no function open"),
    ("return s.__class__", "no field is called __class__"),
    ("return c._replace", "no field is called _replace"),
    ("return spec", "spec has no value that a protocol can read"),
    ("return append", "append has no value that a protocol can read"),
    ("add = 1\nreturn TAKEN", "add has a meaning already"),
    ("k = 9 ** 9 ** 9\nreturn TAKEN", "** can't be used"),
    ("f = lambda: 1\nreturn TAKEN", "a lambda can't be used"),
    ("def f():\n    return 1\nreturn TAKEN", "a function inside a function can't be used"),
    ("with s:\n    pass\nreturn TAKEN", "a with can't be used"),
    ("k = [0] * 3\nk.sort()\nreturn TAKEN", "only functions can be called, not k.sort"),
    ("return (k := 1)", "the assignment `:=` can't be used"),
    ("return max(**{})", "can't be used"),
]


def refusals(tmp_path, text: str) -> dict[str, str]:
    file = tmp_path / "primary_backups.py"
    file.write_text(text, encoding="utf-8")
    return read_submission(file, LAB).refusals


@pytest.mark.parametrize(("body", "reason"), HOSTILE, ids=[each[0] for each in HOSTILE])
def test_a_function_that_could_do_more_than_compute_is_refused(body, reason, tmp_path):
    found = refusals(tmp_path, solution_with(LAB, receive=body))
    assert reason in found["receive"]
    assert found["receive"].startswith("line ")
    assert list(found) == ["receive"]


def test_the_solution_is_not_refused(tmp_path):
    assert refusals(tmp_path, solution_with(LAB)) == {}


def test_annotations_and_decorators_of_helpers_are_not_evaluated(tmp_path):
    text = solution_with(LAB)
    for bad in ("def first_difference(log, other: print(1)) -> int:",
                "@print\ndef first_difference(log, other) -> int:"):  # fmt: skip
        changed = text.replace("def first_difference(log, other) -> int:", bad)
        assert "can't be used" in refusals(tmp_path, changed)["first_difference"]


def test_a_function_with_other_parameters_is_refused(tmp_path):
    text = solution_with(LAB).replace("def restart(s, c, server)", "def restart(s, c)")
    assert refusals(tmp_path, text)["restart"].endswith("write restart(s, c, server)")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def receive(s", "can't be read as Python"),
        (b"\xff\xfe", "can't be read as Python"),
        (b"x = " + b"(" * 5000, "can't be read as Python"),
        (b"#" * 200_001, "more than 200,000 bytes"),
    ],
)
def test_a_file_that_is_no_python_is_not_read(data, reason, tmp_path):
    file = tmp_path / "primary_backups.py"
    file.write_bytes(data)
    assert reason in read_submission(file, LAB).unreadable


def test_what_else_the_file_says_is_left_aside_and_noted(tmp_path):
    file = tmp_path / "primary_backups.py"
    text = LAB.skeleton.read_text(encoding="utf-8").replace(
        "crashes: Annotated[int, Limits(0, 4", "crashes: Annotated[int, Limits(0, 0"
    )
    file.write_text(text + "\nimport os\n\nos._exit(0)\n", encoding="utf-8")
    found = read_submission(file, LAB)
    assert found.refusals == {}
    assert [each.partition(": ")[2] for each in found.notes] == [
        "Constants differs from the skeleton, not used",
        "import os differs from the skeleton, not used",
        "os._exit(0) differs from the skeleton, not used",
    ]
