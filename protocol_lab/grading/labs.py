"""What a lab consists of: a skeleton, its parts, and the trials that its learner is not shown.

A lab is a folder `labs/NAME`. What stands in the folder itself, `NAME.py` (the skeleton) and
README.md, is what a learner gets. `instructor/` stays behind: `checks.py`, with PARTS and with the
functions that they name and the skeleton does not have; and `solution.py`, a submission that gets
all points.
"""

import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from protocol_lab.errors import LabError, quoted, shortened, unknown, visible_line, writing
from protocol_lab.spec_files import imported_as

_CHECKOUT = Path(__file__).parents[2] / "labs"
_INSTALLED = Path(sysconfig.get_path("data"), "share", "protocol_lab", "labs")


@dataclass(frozen=True)
class Part:
    """One part of a lab: functions to write, and the trials in which they are judged.

    writes: the functions that the part asks for. A part is judged with the functions of the parts
    before it; those of later parts are the skeleton's. trials: the constants of each configuration
    that is explored. invariants: names of invariants and step invariants. reaches: of situations
    that a state must have in every trial. stays_possible: of those that every state must lead to.
    properties: of temporal properties. lines: of our solution, without docstrings and comments.
    minutes: our estimate.
    """

    name: str
    points: int
    lines: int
    minutes: int
    writes: tuple[str, ...]
    trials: tuple[Mapping[str, Any], ...]
    invariants: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    stays_possible: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lab:
    """A lab by its folder. `changes`: for each function that is written, the parts of the state
    that it may change (see `trial_graph`)."""

    folder: Path
    parts: tuple[Part, ...] = field(default=())
    changes: Mapping[str, str] = field(default_factory=dict)
    checks: ModuleType | None = None

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def skeleton(self) -> Path:
        return self.folder / f"{self.name}.py"

    @property
    def written(self) -> list[str]:
        """The names of all functions that a learner writes, in the order of the parts."""
        return [name for part in self.parts for name in part.writes]

    def invariants_of(self, number: int) -> list[str]:
        """The invariants of the part of this number, from 0. A part with temporal properties has
        those of the parts before it, too: what harms the others does no good."""
        part = self.parts[number]
        judged = (*self.parts[:number], part) if part.properties else (part,)
        return list(dict.fromkeys(name for each in judged for name in each.invariants))


def lab_names(folder: Path | None = None) -> list[str]:
    """The names of all labs, in a folder of labs; by default the kit's."""
    place = _folder_of_labs() if folder is None else folder
    found = place.glob("*/instructor/checks.py") if place.is_dir() else []
    return sorted(each.parents[1].name for each in found)


def load_lab(name: str, folder: Path | None = None) -> Lab:
    """The lab of this name, in a folder of labs; by default the kit's. Raises LabError."""
    names = lab_names(folder)
    if name not in names:
        raise unknown("lab", name, names)
    place = (_folder_of_labs() if folder is None else folder).resolve() / name
    checks = _module_in(place / "instructor" / "checks.py")
    return Lab(place, checks.PARTS, checks.CHANGES, checks)


def start_lab(name: str, folder: str | Path | None = None) -> list[Path]:
    """Copy a lab's skeleton and its README into a folder, by default one of its name.

    Returns the paths. Raises LabError if one of the files exists already.
    """
    lab = load_lab(name)
    place = Path(name if folder is None else folder)
    copied = {place / each.name: each for each in sorted(lab.folder.glob("*")) if each.is_file()}
    with writing(place, "folder"):
        for path in copied:
            if path.exists():
                raise LabError(f"{shortened(path)} exists already: choose another folder.")
        place.mkdir(parents=True, exist_ok=True)
        for path, source in copied.items():
            shutil.copyfile(source, path)
    return list(copied)


def overview(lab: Lab) -> str:
    """The parts of a lab with their points, our lines and our minutes."""
    title = lab.skeleton.read_text(encoding="utf-8").partition("\n")[0].strip('"')
    lines = [f"{lab.name}  {title}"]
    for number, part in enumerate(lab.parts, 1):
        wanted = ", ".join(part.writes) or "nothing new: what was written before is judged again"
        lines.append(
            f"    {number}. {part.name}: {part.points} points, {part.lines} lines and about"
            f" {part.minutes} minutes ({wanted})"
        )
    return "\n".join(lines)


def _module_in(file: Path) -> ModuleType:
    """The module of a lab's checks. Raises LabError if it can't be loaded."""
    name = f"checks_of_{file.parents[1].name}"
    sys.modules.pop(name, None)
    try:
        return imported_as(name, file)
    except Exception as error:
        raise LabError(
            f"{shortened(file)} can't be loaded ({type(error).__name__}: {error}): mend the lab."
        ) from error


def _folder_of_labs() -> Path:
    return _CHECKOUT if _CHECKOUT.is_dir() else _INSTALLED


def expect_folder(path: str | Path) -> Path:
    """The path of a folder. Raises LabError if there is none."""
    try:
        found = Path(path)
        if found.is_dir():
            return found
    except (OSError, ValueError):
        pass
    raise LabError(f"There is no folder {quoted(str(path))}; check its path.")


# --- Submission files -----------------------------------------------------------------------------
#
# Finds the files that were handed in, and says of each that can't be graded why.
#
# A submission is a file named as a lab's skeleton is, and it is named after its folder. What
# browsers and course systems make of that name is understood, too: `primary_backups (1).py`, and
# `smith_late_123_primary_backups.py`, where what comes before the lab's name is the submission's.
# No link is followed: it could lead to somebody else's submission.


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
