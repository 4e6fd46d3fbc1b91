"""Makes submissions out of a lab's solution, and grades one part of them in this process."""

import re
from pathlib import Path

from protocol_lab.grading.labs import Lab
from protocol_lab.grading.part_checks import PartGrade, grade_part
from protocol_lab.grading.submissions import read_submission


def solution_of(lab: Lab) -> Path:
    """The file of a lab's solution."""
    return lab.folder / "instructor" / "solution.py"


def with_body(text: str, name: str, body: str) -> str:
    """The text of a module with another body for one of its functions, after the docstring."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    pattern = rf'(def {name}\(.*\).*:\n    """[^"]*"""\n)(    .*\n|\n(?=    ))+'
    changed, count = re.subn(pattern, lambda found: found[1] + lines, text)
    assert count == 1, name
    return changed


def solution_with(lab: Lab, **bodies: str) -> str:
    """The lab's solution with other bodies."""
    text = solution_of(lab).read_text(encoding="utf-8")
    for name, body in bodies.items():
        text = with_body(text, name, body)
    return text


def graded(lab: Lab, text: str, part: str, folder: Path) -> PartGrade:
    """The grade of one part."""
    file = folder / "handed_in" / f"{lab.name}.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    number = [each.name for each in lab.parts].index(part)
    return grade_part(lab, number, read_submission(file, lab), folder)
