"""Finds the submissions in folders, and reports their grades: a table, CSV, JUnit XML, pictures."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from protocol_lab.errors import LabError, shortened
from protocol_lab.grading.isolated_process import Grade
from protocol_lab.grading.labs import expect_folder
from protocol_lab.visible_text import visible

DEPTH = 3
"""How many folders deep below a given one submissions are looked for."""

COLUMNS = ("submission", "lab", "part", "points", "out_of", "seconds", "reason", "steps")


class Found(NamedTuple):
    """A file that was handed in: the name of who did, the lab, and the file."""

    submission: str
    lab: str
    path: Path


def find_submissions(folders: Sequence[str | Path], labs: Sequence[str]) -> list[Found]:
    """The files in these folders, or below, that are named as a lab's skeleton is.

    A submission is named after its folder, below the given one. Raises LabError if there is none.
    """
    found = []
    for each in folders:
        top = expect_folder(each)
        for path in sorted(_files(top, labs)):
            inside = path.parent.relative_to(top)
            name = str(inside) if inside.parts else top.resolve().name
            found.append(Found(visible(name), path.stem, path))
    if not found:
        names = ", ".join(f"{each}.py" for each in labs)
        raise LabError(
            f"There is no submission in {shortened(', '.join(map(str, folders)))}: a submission is"
            f" a file named {names}."
        )
    return found


def _files(top: Path, labs: Sequence[str]) -> Iterator[Path]:
    """The lab files below a folder; links are not followed, and `instructor` is left out."""
    for depth in range(DEPTH + 1):
        for name in labs:
            for path in top.glob("*/" * depth + f"{name}.py"):
                if path.is_file() and not path.is_symlink():
                    yield path


def as_table(grades: Sequence[Grade]) -> str:
    """One line for each submission, and below it why points are missing."""
    width = max(len(each.submission) for each in grades)
    lines = []
    for each in grades:
        points = f"{each.points:3} of {each.out_of}"
        lines.append(f"{each.submission:{width}}  {each.lab}  {points}  {each.seconds:.1f} s")
        for part in each.parts:
            lines.append(f"    {part.part}: {part.points} of {part.out_of}  {part.reason}".rstrip())
            lines += [f"        {k:3} {visible(step)}" for k, step in enumerate(part.steps, 1)]
        lines += [f"    {visible(note)}" for note in each.notes]
    return "\n".join(lines)


def as_csv(grades: Sequence[Grade]) -> str:
    """A row for each part of each submission. No cell begins as a spreadsheet's formula does."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for each in grades:
        for part in each.parts:
            row = [each.submission, each.lab, part.part, part.points, part.out_of, part.seconds]
            row += [part.reason, "; ".join(part.steps)]
            writer.writerow(map(_harmless, row))
    return text.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") else cell


def as_junit(grades: Sequence[Grade]) -> str:
    """A test suite for each submission, a test case for each part."""
    suites = ElementTree.Element("testsuites")
    for each in grades:
        lacking = sum(part.points < part.out_of for part in each.parts)
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=f"{each.submission} {each.lab}",
            tests=str(len(each.parts)),
            failures=str(lacking),
            time=f"{each.seconds:.3f}",
        )
        for part in each.parts:
            name = f"{part.part} ({part.points} of {part.out_of} points)"
            case = ElementTree.SubElement(
                suite, "testcase", classname=each.lab, name=name, time=f"{part.seconds:.3f}"
            )
            if part.points < part.out_of:
                failure = ElementTree.SubElement(case, "failure", message=visible(part.reason))
                failure.text = visible("\n".join([part.reason, *part.steps]))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def write_counterexamples(grades: Sequence[Grade], folder: str | Path) -> list[Path]:
    """Write each counterexample as a picture and as a scenario; returns the paths. Raises LabError.

    The names are made of the submission's, the lab's and the part's.
    """
    place, written = Path(folder), []
    try:
        place.mkdir(parents=True, exist_ok=True)
        for number, each in enumerate(grades, 1):
            for part in each.parts:
                name = re.sub(r"[^\w-]+", "_", f"{number}_{each.submission}_{each.lab}_{part.part}")
                for ending, text in ((".svg", part.picture), (".txt", part.scenario)):
                    if text:
                        written.append(place / f"{name}{ending}")
                        written[-1].write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(
            f"{shortened(place)} can't be written ({error.strerror}): give another folder."
        ) from None
    return written
