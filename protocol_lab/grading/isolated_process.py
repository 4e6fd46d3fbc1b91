"""Starts the process that grades one submission, with limits of time and memory.

A submission's functions can only compute (see `permitted_code`). The process is the second wall: it
can be stopped whatever it does, and what it can't say is a reason of its own. Parts whose grades
arrived before count; the others get no points. It works in a folder of its own, and imports nothing
from the current folder or from the submission's.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from protocol_lab.errors import visible_line
from protocol_lab.grading.labs import Found, Lab
from protocol_lab.grading.part_checks import PartGrade
from protocol_lab.system.operating_system import kill_with_descendants, signal_name

_WORKER = ("-m", "protocol_lab.grading.worker")


@dataclass(frozen=True)
class Limits:
    """How long one submission may take, from the moment it is read, and how much address space.

    Most of the time is that of compiling; endless loops of the language are stopped long before.
    The compiler alone needs about one GiB.
    """

    seconds: float = 300.0
    memory_bytes: int = 4 << 30


@dataclass
class Grade:
    """The grade of one submission of one lab."""

    submission: str
    lab: str
    parts: list[PartGrade] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def points(self) -> int:
        return sum(each.points for each in self.parts)

    @property
    def out_of(self) -> int:
        return sum(each.out_of for each in self.parts)

    def to_json(self) -> dict[str, Any]:
        """The grade as `grade --json` prints it."""
        return {"points": self.points, "out_of": self.out_of, **asdict(self)}


def grade_submission(found: Found, lab: Lab, limits: Limits | None = None) -> Grade:
    """Grade one file in a process of its own; whatever happens there, there is a grade."""
    limits = limits or Limits()
    began, grade = time.perf_counter(), Grade(found.submission, lab.name, notes=list(found.notes))
    ending = found.why_not and f"not graded: {found.why_not}"
    if not ending:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            ending = _ask_worker(found.path, lab, limits, grade, folder)
    for each in lab.parts[len(grade.parts) :]:
        grade.parts.append(PartGrade(each.name, 0, each.points, ending))
    grade.seconds = round(time.perf_counter() - began, 2)
    return grade


def _ask_worker(path: Path, lab: Lab, limits: Limits, grade: Grade, folder: str) -> str:
    """Let a process fill in the grade; returns why it did no more. It is killed if this process is
    interrupted."""
    job = {
        "lab": lab.name,
        "labs": str(lab.folder.parent),
        "submission": str(path.resolve()),
        "cpu_seconds": int(limits.seconds * (os.cpu_count() or 1)) + 10,
        "memory_bytes": limits.memory_bytes,
    }
    with subprocess.Popen(
        [sys.executable, "-P", *_WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": folder},
        start_new_session=True,
    ) as process:
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(job).encode("utf-8"))
            with suppress(BrokenPipeError):
                process.stdin.close()
            return _listen(process, grade, limits.seconds)
        finally:
            if process.returncode is None:  # interrupted before it was listened to
                kill_with_descendants(process)


def _listen(process: subprocess.Popen, grade: Grade, seconds: float) -> str:
    """Take in what the process says; returns why it said no more."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        kill_with_descendants(process)

    clock = threading.Timer(seconds + 60, stop)  # should it never become ready
    clock.start()
    is_done, failure = False, ""
    try:
        for line in process.stdout:
            try:
                told = json.loads(line)
            except ValueError:  # it was killed while it wrote
                break
            match told["kind"]:
                case "ready":
                    clock.cancel()
                    clock = threading.Timer(seconds, stop)
                    clock.start()
                case "notes":
                    grade.notes += map(visible_line, told["notes"])
                case "grade":
                    grade.parts.append(_harmless(PartGrade(**told["grade"])))
                case "failed":
                    failure = visible_line(told["reason"])
                case "done":
                    is_done = True
    finally:
        clock.cancel()
        if not is_done:
            kill_with_descendants(process)
        process.wait()
    if late.is_set():
        return f"it was stopped after {seconds:g} second{'s' * (seconds != 1)}"
    return "" if is_done else failure or _ending(process.returncode)


def _harmless(grade: PartGrade) -> PartGrade:
    """The same without characters that move a terminal's cursor or turn its text."""
    grade.reason = visible_line(grade.reason)
    grade.steps = [visible_line(each) for each in grade.steps]
    return grade


def _ending(exit_code: int) -> str:
    """Why a process that said nothing of it has ended."""
    ended_by = signal_name(exit_code)
    if ended_by == "SIGXCPU":
        return "it used up the processor's time that a submission gets"
    if ended_by in ("SIGKILL", "SIGABRT"):
        return f"its process was ended by {ended_by}, perhaps because the memory ran out"
    if ended_by:
        return f"its process was ended by {ended_by}"
    return f"its process ended by itself (exit code {exit_code})"
