"""The learner's record: a small file beside the notebooks with what was answered.

Each outcome is appended as one line of JSON, so that two notebooks can write at once, and only the
damaged line of a file is lost. If the file can't be written, the outcome is not kept, and nothing
fails.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from protocol_lab.system.process import get_ipython

FILE = "progress.jsonl"
FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
LARGEST = 1_000_000
"""At most this many bytes of the file are read, and it does not grow beyond them."""

KINDS = ("prediction", "exercise", "challenge")


@dataclass
class Record:
    """What a learner has done: predictions and whether they were right, exercises, challenges and
    their points."""

    predictions: dict[str, bool] = field(default_factory=dict)
    exercises: set[str] = field(default_factory=set)
    challenges: dict[str, int] = field(default_factory=dict)


def record_file() -> Path:
    """The file, or the one that $PROTOCOL_LAB_PROGRESS names."""
    return Path(os.environ.get("PROTOCOL_LAB_PROGRESS") or FOLDER / FILE)


def note(kind: str, name: str, outcome: bool | int) -> None:
    """Append an outcome, unless the file has it, or no notebook is running. Never raises."""
    if get_ipython() is None or (kind, name, outcome) in _known():
        return
    line = json.dumps({"kind": kind, "name": name, "outcome": outcome}, ensure_ascii=False)
    with suppress(OSError):
        path = record_file()
        if path.exists() and path.stat().st_size > LARGEST:
            return
        # The line break before it: the line before may have been cut off.
        with path.open("ab") as file:
            file.write(f"\n{line}\n".encode())


def recorded() -> Record:
    """The record in the file; lines that can't be read are skipped. Never raises."""
    record = Record()
    for kind, name, outcome in _outcomes():
        if kind == "prediction":
            record.predictions[name] = bool(outcome)
        elif kind == "exercise" and outcome:
            record.exercises.add(name)
        elif kind == "challenge":
            record.challenges[name] = max(int(outcome), record.challenges.get(name, 0))
    return record


def is_writable() -> bool:
    """Can outcomes be kept?"""
    path = record_file()
    return os.access(path if path.exists() else path.parent, os.W_OK)


def _known() -> set[tuple[str, str, bool | int]]:
    """The outcomes that the file already has."""
    record = recorded()
    return {
        *(("prediction", name, right) for name, right in record.predictions.items()),
        *(("exercise", name, True) for name in record.exercises),
        *(("challenge", name, points) for name, points in record.challenges.items()),
    }


def _outcomes() -> Iterator[tuple[str, str, bool | int]]:
    try:
        with record_file().open("rb") as file:
            lines = file.read(LARGEST).decode(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            said = json.loads(line)
            kind, name, outcome = said["kind"], said["name"], said["outcome"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if kind in KINDS and isinstance(name, str) and isinstance(outcome, bool | int):
            yield kind, name, outcome
