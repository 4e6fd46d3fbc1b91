"""Finds the files that were handed in, and says of each that can't be graded why.

A submission is a file named as a lab's skeleton is, and it is named after its folder. What browsers
and course systems make of that name is understood, too: `primary_backups (1).py`, and
`smith_late_123_primary_backups.py`, where what comes before the lab's name is the submission's. No
link is followed: it could lead to somebody else's submission.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from protocol_lab.errors import LabError, shortened
from protocol_lab.grading.labs import expect_folder
from protocol_lab.visible_text import visible_line

DEPTH = 3
"""How many folders deep below a given one submissions are looked for."""

_COPY = r"(?:[ _.-]*(?:\(\d*\)|v?\d+|copy|copie|kopie|copia|final|new))*"
"""What may follow the name of a lab in a file that was renamed."""


@dataclass
class Found:
    """A file that was handed in: the name of who did, the lab, and the file.

    why_not: why it can't be graded; "" if it can. notes: what else there is to say of it.
    """

    submission: str
    lab: str
    path: Path
    why_not: str = ""
    notes: list[str] = field(default_factory=list)


def find_submissions(folders: Sequence[str | Path], labs: Sequence[str]) -> list[Found]:
    """The submissions of these labs in these folders or below.

    Of folders beside each other some may have submissions; those that have none are listed for each
    lab that was found. Raises LabError if there is no submission at all.
    """
    tops = {expect_folder(each).resolve(): Path(each) for each in folders}
    patterns = {name: _pattern(name) for name in sorted(labs, key=len, reverse=True)}
    found = [each for top in tops for each in _below(top, patterns)]
    if not found:
        shown = visible_line(shortened(", ".join(map(str, folders))))
        names = ", ".join(f"{each}.py" for each in labs)
        raise LabError(f"There is no submission in {shown}: a submission is a file named {names}.")
    for lab in dict.fromkeys(each.lab for each in found):
        found += [each for top in tops for each in _lacking(top, lab, found)]
    for each in found:
        top = next(top for top in tops if each.path.is_relative_to(top))
        inside = Path(each.submission).relative_to(top)
        before = [str(tops[top])] if len(tops) > 1 and inside.parts else []
        each.submission = visible_line(str(Path(*before, inside)) if inside.parts else top.name)
    return sorted(found, key=lambda each: each.submission)


def _pattern(lab: str) -> re.Pattern:
    words = re.sub("[_ -]", "[_ -]?", lab)
    return re.compile(
        rf"(?!test_|\.)(?P<who>.*[_ .-])?{words}(?:{_COPY})\.py(?:\.txt)?", re.IGNORECASE
    )


def _below(folder: Path, patterns: dict[str, re.Pattern], depth: int = 0) -> Iterator[Found]:
    """The submissions in a folder and below; each is named by its path."""
    entries = [each for each in sorted(folder.iterdir()) if not each.is_symlink()]
    candidates = []
    for file in filter(Path.is_file, entries):
        parts = ((lab, each.fullmatch(file.name)) for lab, each in patterns.items())
        lab, fitting = next((each for each in parts if each[1]), ("", None))
        if fitting:
            who = "" if file.name == f"{lab}.py" else (fitting["who"] or "").rstrip("_ .-")
            candidates.append((who, lab, file.name != f"{lab}.py", file))
    for (who, lab), same in groupby(sorted(candidates), lambda each: each[:2]):
        (*_, is_renamed, file), *others = same
        names = ", ".join(visible_line(shortened(each[-1].name, 80)) for each in others)
        name = visible_line(file.name)
        found = Found(str(folder / who), lab, file)
        if is_renamed and others:
            found.why_not = f"which of these counts? keep one: {name}, {names}"
        elif is_renamed:
            found.notes.append(f"handed in as {name}")
        elif others:
            found.notes.append(f"also there, and not graded: {names}")
        yield found
    for each in filter(Path.is_dir, entries) if depth < DEPTH else ():
        if not each.name.startswith(".") and each.name not in ("__MACOSX", "__pycache__"):
            yield from _below(each, patterns, depth + 1)


def _lacking(top: Path, lab: str, found: list[Found]) -> Iterator[Found]:
    """The folders in one with several submissions that have none."""
    folders = [each for each in sorted(top.iterdir()) if each.is_dir() and each.name[0] != "."]
    empty = [folder for folder in folders if not any(e.path.is_relative_to(folder) for e in found)]
    for each in empty if len(folders) - len(empty) > 1 else ():
        yield Found(str(each), lab, each, "no file in this folder is named as a lab is")
