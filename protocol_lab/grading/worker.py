"""The process in which one submission is graded: `python -m protocol_lab.grading.worker`.

It reads a job from standard input, limits itself, and writes one line of JSON for each part to what
was its standard output. Before the submission is read, standard output is replaced, so that nothing
else can write there.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from protocol_lab.errors import shortened
from protocol_lab.grading.labs import Lab, load_lab
from protocol_lab.grading.part_checks import PartGrade, grade_part
from protocol_lab.grading.submissions import read_submission
from protocol_lab.system.operating_system import end_with_parent, limit_process


def main() -> None:
    """Grade the job's submission."""
    end_with_parent()
    job = json.load(sys.stdin)
    channel = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    os.set_inheritable(channel, False)

    def tell(kind: str, **told: Any) -> None:
        line = json.dumps({"kind": kind, **told}) + "\n"
        data = line.encode("utf-8")
        while data:
            data = data[os.write(channel, data) :]

    limit_process(job["cpu_seconds"], job["memory_bytes"])
    try:
        lab = load_lab(job["lab"], Path(job["labs"]))
        tell("ready")
        _grade(lab, Path(job["submission"]), tell)
        tell("done")
    except Exception as error:
        tell("failed", reason=_failure(error))


def _grade(lab: Lab, path: Path, tell: Any) -> None:
    submission = read_submission(path, lab)
    tell("notes", notes=submission.notes)
    for number in range(len(lab.parts)):
        part = lab.parts[number]
        try:
            with tempfile.TemporaryDirectory() as folder:
                grade = grade_part(lab, number, submission, Path(folder))
        except Exception as error:
            grade = PartGrade(part.name, 0, part.points, _failure(error))
        tell("grade", grade=grade.to_json())


def _failure(error: Exception) -> str:
    """What an error of the grader's own costs, in one sentence."""
    said = " ".join(str(error).split())
    cause = shortened(f"{type(error).__name__}: {said}" if said else type(error).__name__)
    return f"the grader failed, which says nothing about the submission ({cause})"


if __name__ == "__main__":
    main()
