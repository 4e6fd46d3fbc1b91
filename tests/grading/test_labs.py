"""Every lab: its solution gets all points, its skeleton none; README says what the parts say."""

import ast
import re
import tomllib

import pytest

from protocol_lab.grading.isolated_process import grade_submission
from protocol_lab.grading.labs import Found, Lab, lab_names, load_lab
from protocol_lab.grading.submissions import read_submission
from protocol_lab.spec_files import load_file
from tests import ROOT
from tests.grading.submissions import graded, solution_of
from tests.work_units import one_in

LABS = [load_lab(name) for name in lab_names()]

PARTS = [pytest.param(lab, part, id=f"{lab.name}-{part.name}") for lab in LABS
         for part in lab.parts]  # fmt: skip

each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


@pytest.mark.slow
@pytest.mark.parametrize("lab", one_in(5, LABS), ids=lambda lab: lab.name)
def test_the_solution_gets_all_points_in_a_process_of_its_own(lab):
    grade = grade_submission(Found("ours", lab.name, solution_of(lab)), lab)
    assert [(each.part, each.points, each.reason) for each in grade.parts] == [
        (each.name, each.points, "") for each in lab.parts
    ]
    assert grade.notes == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lab", "part"), one_in(4, [each for each in PARTS if not each.values[1].properties])
)
def test_the_skeleton_gets_no_points(lab, part, tmp_path):
    grade = graded(lab, lab.skeleton.read_text(encoding="utf-8"), part.name, tmp_path)
    assert grade.points == 0
    assert grade.reason


def code_lines(function: ast.FunctionDef) -> int:
    """The lines of a function without its docstring, comments and empty lines."""
    body = function.body[ast.get_docstring(function) is not None :]
    return 1 + len("\n".join(map(ast.unparse, body)).split("\n"))


def our_lines(lab: Lab) -> list[int]:
    """For each part the lines of our functions, and of the helpers that they are first to call."""
    found = read_submission(solution_of(lab), lab)
    every, seen, counts = {**found.helpers, **found.functions}, set(), []
    for part in lab.parts:
        todo, count = list(part.writes), 0
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                count += code_lines(every[name])
                called = {n.id for n in ast.walk(every[name]) if isinstance(n, ast.Name)}
                todo += called & set(found.helpers)
        counts.append(count)
    return counts


@pytest.mark.slow
@each_lab
def test_lines_and_points_are_counted(lab):
    assert [part.lines for part in lab.parts] == our_lines(lab)
    assert sum(part.points for part in lab.parts) == 100
    actions = {each.name for each in load_file(lab.skeleton).actions}
    assert actions & set(lab.written) <= set(lab.changes) <= actions
    rows = re.findall(r"^\| ([a-z, ]+) \| (\d+) \| (\d+) \| (\d+) \|",
                      (lab.folder / "README.md").read_text(encoding="utf-8"), re.M)  # fmt: skip
    expected = [(p.name, str(p.points), str(p.lines), str(p.minutes)) for p in lab.parts]
    assert rows == expected


@each_lab
def test_the_solution_has_what_is_asked_and_nothing_else(lab):
    found = read_submission(solution_of(lab), lab)
    assert found.notes == []
    assert set(found.functions) == set(lab.written)


def test_labs_are_installed_with_the_kit():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = settings["tool"]["setuptools"]["data-files"]
    for lab in LABS:
        assert f"share/protocol_lab/labs/{lab.name}" in folders
        assert f"share/protocol_lab/labs/{lab.name}/instructor" in folders
