"""Reports grades, each as soon as it is known: a table, CSV, JSON, JUnit XML, pictures."""

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from protocol_lab.errors import shortened, writing
from protocol_lab.grading.isolated_process import Grade
from protocol_lab.system.process import deferred_interrupts

COLUMNS = (
    "submission", "lab", "part", "points", "out_of", "seconds", "reason", "steps", "notes",
)  # fmt: skip

_WIDE, _SHORT, _BYTES = 60, 30, 200
"""The most characters of a submission's name in the table, and in a file's name; the most bytes of
a file's name, of which systems take 255."""


class Report:
    """Everything that `grade` writes. Each grade is in all of it once `add` returns.

    A path is None where nothing is to be written; pictures names a folder. as_json: print JSON
    instead of the table. Raises LabError if something can't be written.
    """

    def __init__(
        self,
        csv_file: str | None = None,
        junit: str | None = None,
        pictures: str | None = None,
        as_json: bool = False,
    ):
        self.csv_file, self.junit, self.pictures, self.as_json = csv_file, junit, pictures, as_json
        self.grades: list[Grade] = []
        if csv_file:
            _write(csv_file, as_csv([COLUMNS]))
        if pictures:
            with writing(pictures, "folder"):
                Path(pictures).mkdir(parents=True, exist_ok=True)

    @property
    def is_full(self) -> bool:
        """Do all submissions have all points?"""
        return all(each.points == each.out_of for each in self.grades)

    def add(self, grade: Grade) -> None:
        """Write one more grade; an interrupt in between is raised afterwards."""
        with deferred_interrupts():
            self.grades.append(grade)
            if self.csv_file:
                _write(self.csv_file, as_csv(rows_of(grade)), mode="a")
            if self.junit:
                _write(self.junit, as_junit(self.grades))
            if self.as_json:
                begin = "[" if len(self.grades) == 1 else ","
                print(begin + json.dumps(grade.to_json()), flush=True)
            else:
                print(as_table(grade), flush=True)
            if self.pictures:
                write_counterexamples(grade, len(self.grades), self.pictures)

    def close(self) -> None:
        """Write what ends the report."""
        if self.as_json:
            print("]" if self.grades else "[]", flush=True)


def as_table(grade: Grade) -> str:
    """One line for a submission, and below it why points are missing."""
    name = shortened(grade.submission, _WIDE)
    points = f"{grade.points:3} of {grade.out_of}"
    lines = [f"{name}  {grade.lab}  {points}  {grade.seconds:.1f} s"]
    lines += [f"    {note}" for note in grade.notes]
    for part in grade.parts:
        lines.append(f"    {part.part}: {part.points} of {part.out_of}  {part.reason}".rstrip())
        lines += [f"        {k:3} {step}" for k, step in enumerate(part.steps, 1)]
    return "\n".join(lines)


def rows_of(grade: Grade) -> list[tuple]:
    """A row for each part of a submission, with `COLUMNS`."""
    about, notes = (grade.submission, grade.lab), "; ".join(grade.notes)
    return [
        (*about, p.part, p.points, p.out_of, p.seconds, p.reason, "; ".join(p.steps), notes)
        for p in grade.parts
    ]


def as_csv(rows: Sequence[tuple]) -> str:
    """Rows as CSV. No cell begins as a spreadsheet's formula does."""
    text = io.StringIO()
    csv.writer(text).writerows(map(_harmless, row) for row in rows)
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
                failure = ElementTree.SubElement(case, "failure", message=part.reason)
                failure.text = "\n".join([part.reason, *part.steps])
        if each.notes:
            ElementTree.SubElement(suite, "system-out").text = "\n".join(each.notes)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def write_counterexamples(grade: Grade, number: int, folder: str | Path) -> list[Path]:
    """Write each counterexample as a picture and as a scenario; returns the paths. Raises LabError.

    The names are made of a number, which tells the grades apart, and of the submission's, the lab's
    and the part's.
    """
    written = []
    for part in grade.parts:
        name = f"{number}_{grade.submission[:_SHORT]}_{grade.lab}_{part.part}"
        name = re.sub(r"[^\w-]+", "_", name).encode()[:_BYTES].decode(errors="ignore")
        for ending, text in ((".svg", part.picture), (".txt", part.scenario)):
            if text:
                written.append(Path(folder, f"{name}{ending}"))
                _write(written[-1], text)
    return written


def _write(path: str | Path, text: str, mode: str = "w") -> None:
    with writing(path), open(path, mode, encoding="utf-8", newline="") as file:
        file.write(text)
