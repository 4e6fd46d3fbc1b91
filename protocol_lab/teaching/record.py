"""The learner's record: a small file beside the notebooks with what was answered.

Each outcome is appended as one line of JSON, so that two notebooks can write at once, and only the
damaged line of a file is lost. If the file can't be written, the outcome is not kept, and nothing
fails.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from protocol_lab.system.notebook_shell import get_ipython

FILE = "progress.jsonl"
FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
LARGEST = 1_000_000
"""At most this many bytes of the file are read, and it does not grow beyond them."""

KINDS = ("prediction", "exercise", "challenge")


Record = dict[str, dict[str, bool | int]]
"""What a learner has done, by kind and name: predictions and whether they were right, exercises
that passed, challenges and their points."""


def record_file() -> Path:
    """The file, or the one that $PROTOCOL_LAB_PROGRESS names."""
    return Path(os.environ.get("PROTOCOL_LAB_PROGRESS") or FOLDER / FILE)


def note(kind: str, name: str, outcome: bool | int) -> None:
    """Append an outcome, unless the file has it, or no notebook is running. Never raises."""
    if get_ipython() is None or recorded()[kind].get(name) == outcome:
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
    record: Record = {kind: {} for kind in KINDS}
    for kind, name, outcome in _outcomes():
        if kind == "challenge":
            outcome = max(int(outcome), record[kind].get(name, 0))
        if outcome or kind != "exercise":
            record[kind][name] = outcome
    return record


def is_writable() -> bool:
    """Can outcomes be kept?"""
    path = record_file()
    return os.access(path if path.exists() else path.parent, os.W_OK)


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
