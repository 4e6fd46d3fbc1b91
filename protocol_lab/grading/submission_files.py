"""Finds the files that were handed in, and says of each that can't be graded why.

A submission is a file named as a lab's skeleton is, and it is named after its folder. What browsers
and course systems make of that name is understood, too: `primary_backups (1).py`, and
`smith_late_123_primary_backups.py`, where what comes before the lab's name is the submission's. No
link is followed between a given folder and a file: it could lead to somebody else's submission.
"""

import os
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

_LISTED = 4


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
    """The submissions of these labs in these folders or below, and whatever can't be graded.

    Among folders of which some have submissions, those that have none are listed for each lab that
    was found. Raises LabError if there is no submission at all.
    """
    tops = {os.path.abspath(each): expect_folder(each) for each in folders}
    every = [_Search(top, labs, several=len(tops) > 1).found() for top in tops.values()]
    found = {os.path.abspath(each.path): each for some in every for each in some}.values()
    if not any(each.lab for each in found):
        shown = visible_line(shortened(", ".join(map(str, folders))))
        names = ", ".join(f"{each}.py" for each in labs)
        reasons = "".join(f" {each.submission}: {each.why_not}." for each in [*found][:_LISTED])
        raise LabError(
            f"There is no submission in {shown}: a submission is a file named {names}.{reasons}"
        )
    present = list(dict.fromkeys(each.lab for each in found if each.lab))
    return [
        each if each.lab else Found(each.submission, lab, each.path, each.why_not)
        for each in found
        for lab in ([each.lab] if each.lab else present)
    ]


class _Search:
    """The search below one given folder. What belongs to no lab has "" for its lab."""

    def __init__(self, top: Path, labs: Sequence[str], several: bool):
        self.top, self.several = top, several
        words = {name: re.sub("[_ -]", "[_ -]?", name) for name in labs}
        pattern = r"(?P<who>.*[_ .-])?{}(?P<copy>{})\.py(?:\.txt)?"
        self.patterns = {
            name: re.compile(pattern.format(words[name], _COPY), re.IGNORECASE)
            for name in sorted(labs, key=len, reverse=True)
        }

    def found(self) -> list[Found]:
        """Everything below the folder, in the order of the names."""
        if self.several and self.top.is_symlink():  # `grade submissions/*` gives such, too
            said = "it is a link, and links are not followed"
            return [Found(self._name(self.top), "", self.top, said)]
        return list(self._below(self.top, DEPTH))

    def _below(self, folder: Path, depth: int) -> Iterator[Found]:
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda each: each.name)
        except OSError as error:
            yield Found(self._name(folder), "", folder, f"its folder can't be read: {_why(error)}")
            return
        yield from self._files(folder, entries)
        if not depth:
            return
        empty, filled = [], 0
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith(".") or entry.name in ("__MACOSX", "__pycache__"):
                continue  # what version control, a Mac and Python keep there
            if entry.is_symlink():
                if names := [name for name in _names_in(path) if self._lab_of(name)]:
                    said = f"{names[0]} is behind a link, and links are not followed"
                    yield Found(self._name(path), self._lab_of(names[0]), path, said)
            elif entry.is_dir():
                below = list(self._below(path, depth - 1))
                filled += any(each.lab for each in below)
                empty += [] if below else [path]
                yield from below
        if filled > 1:  # a folder of submissions, rather than a submission with folders of its own
            for path in empty:
                yield Found(self._name(path), "", path, self._why_empty(path))

    def _files(self, folder: Path, entries: list[os.DirEntry]) -> Iterator[Found]:
        """The files in a folder that are named as a lab is, of each submission one."""
        candidates = []
        for entry in entries:
            lab = self._lab_of(entry.name)
            if lab and (entry.is_symlink() or not entry.is_dir()):
                parts = self.patterns[lab].fullmatch(entry.name)
                who = (parts["who"] or "").rstrip("_ .-")
                candidates.append((who, lab, entry.name != f"{lab}.py", entry))
        candidates.sort(key=lambda each: each[:3])
        for (who, lab), same in groupby(candidates, lambda each: each[:2]):
            (*_, is_renamed, entry), *others = same
            names = [entry.name, *(each[-1].name for each in others)]
            found = Found(self._name(folder, who), lab, folder / entry.name)
            if is_renamed and others:
                found.why_not = f"which of these counts? keep one: {_listed(names)}"
            elif is_renamed:
                found.notes.append(f"handed in as {visible_line(entry.name)}")
            elif others:
                found.notes.append(f"also there, and not graded: {_listed(names[1:])}")
            if entry.is_symlink():
                found.why_not = f"{visible_line(entry.name)} is a link, and links are not followed"
            elif not entry.is_file():
                found.why_not = f"{visible_line(entry.name)} is no regular file"
            yield found

    def _lab_of(self, file: str) -> str:
        """The lab that a file belongs to by its name; "" if none."""
        if file.startswith((".", "test_")):
            return ""
        exact = file.removesuffix(".py")
        if exact != file and exact in self.patterns:
            return exact
        return next((lab for lab, each in self.patterns.items() if each.fullmatch(file)), "")

    def _name(self, folder: Path, who: str = "") -> str:
        inside = folder.relative_to(self.top)
        top = [str(self.top)] if self.several and inside.parts else []
        name = Path(*top, inside, who)
        return visible_line(
            str(name) if name.parts else os.path.basename(os.path.abspath(self.top))
        )

    def _why_empty(self, folder: Path) -> str:
        names = [name for name in _names_in(folder) if name.endswith(".py")]
        has = f"it has {_listed(names)}" if names else "nothing to grade is there"
        return f"no file in this folder is named as a lab is: {has}"


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(visible_line(shortened(name, 80)) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown}, and {len(names) - _LISTED} more"


def _why(error: OSError) -> str:
    return error.strerror or str(error)
