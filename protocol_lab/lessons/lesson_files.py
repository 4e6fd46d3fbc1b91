"""Lesson files: scenarios with beats and questions, in the folder `lessons` of a package.

    # lesson: One record, from send to read   spec: kafka.kip_320  replicas=2
    # What it is about; more lines may follow
    controller_elect_leader(new_leader=1)         # The controller decides: replica 1 leads.
    > Say that a request may be picked up late.
    ? can leader_write(replica=1)                 # Can replica 1 append a record now?
      ~ yes: Nobody has told it.
      = A replica learns of a decision by picking up a request.
    # part: The same with three replicas   replicas=3
    # part: Another rule   after slide 28   election_rule=latest_offset

Steps and claims are those of a scenario (`traces.scenario_format`). A step with a caption is a
beat; one without is taken together with the step after it. A line with > is a note for the speaker.
A part begins anew with the constants of the first line and its own; `after slide N`, or `after
state N`, takes the steps of the part before up to there, unseen. Comments below its line are the
caption of its first state.

`gates` describes the lines of a question. A line `# board` shows the board, who has said what,
beside the picture.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from protocol_lab.catalog import package_folder, packages
from protocol_lab.errors import LabError, at_line, quoted, shortened, unknown, visible
from protocol_lab.lessons.gates import Gate, add_line, parse_gate
from protocol_lab.traces.scenario_format import Line, parse_line, read_header, split_comment
from protocol_lab.traces.scenarios import text_of_file

_PART = re.compile(r"# part: (.*)")
_AFTER = re.compile(r"\s+after ((?:slide|state) \S+)")
_TITLE = re.compile(r"# lesson: (.*?)\s+spec: (.*)")


@dataclass
class Part:
    """A walk of a lesson. after: the "slide N" or "state N" up to which the part before is
    repeated, or ""."""

    title: str
    constants: dict[str, str]
    number: int
    after: str = ""
    lines: list[Line | Gate] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)
    notes: dict[int, list[str]] = field(default_factory=dict)
    """The speaker's notes, by the index of the line that they follow."""


@dataclass
class Lesson:
    """A parsed lesson. `name` is "PACKAGE/FILE"; `uses` are the modules whose names a `say` has;
    board: does it show the board, who has said what, from the beginning?"""

    name: str
    title: str
    spec_name: str
    description: list[str]
    parts: list[Part]
    uses: list[str]
    file: Path | None = None
    board: bool = False

    @property
    def place(self) -> str:
        """The file's name, or that of the text, for messages."""
        return shortened(self.file.name) if self.file else self.name


def lesson_names() -> list[str]:
    """All lessons of the catalog's packages, as "kafka/one_record"."""
    return [name for name, _ in _files()]


def _files() -> Iterator[tuple[str, Path]]:
    for package in packages():
        short = package.removesuffix("_spec")
        for path in sorted((package_folder(short) / "lessons").glob("*.txt")):
            yield f"{short}/{path.stem}", path


def lesson_named(name: str) -> Lesson:
    """The lesson of this name, as "kafka/one_record", or at this path.

    Raises LabError with the known names if there is none, and naming the line that is malformed.
    """
    if Path(name).suffix == ".txt":
        path = Path(name)
        return parse_lesson(text_of_file(path), shortened(path.stem), path)
    files = dict(_files())
    if name not in files:
        raise unknown("lesson", name, files)
    return parse_lesson(text_of_file(files[name]), name, files[name])


def parse_lesson(text: str, name: str = "lesson", file: Path | None = None) -> Lesson:
    """Parse the text of a lesson. Raises LabError naming the line that is malformed."""
    rows = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    place = shortened(file.name) if file else name
    found = _TITLE.fullmatch(rows[0].strip())
    with at_line(place, 1):
        if not found:
            raise LabError(
                "the first line must be `# lesson: TITLE   spec: NAME  constant=value ...`."
            )
        spec_name, constants = read_header(found[2])
    lesson = Lesson(name, found[1], spec_name, [], [Part("", constants, 1)], [], file)
    for number, row in enumerate(rows[1:], 2):
        with at_line(place, number):
            _read(row.strip(), number, lesson)
    for part in lesson.parts:
        _expect_whole(part, place)
    return lesson


def _read(row: str, number: int, lesson: Lesson) -> None:
    """Add one line to the lesson."""
    part = lesson.parts[-1]
    last = part.lines[-1] if part.lines else None
    if row.startswith("# part:"):
        lesson.parts.append(_part(row, number, lesson))
    elif row == "# board" and not part.lines:
        lesson.board = True
    elif row.startswith("# uses:") and not part.lines:
        lesson.uses += row.removeprefix("# uses:").split()
    elif row.startswith("#"):
        if not part.lines and visible(row[1:].strip()):
            about = lesson.description if len(lesson.parts) == 1 else part.opening
            about.append(visible(row[1:].strip()))
    elif row.startswith("?"):
        part.lines.append(parse_gate(row, number))
    elif row.startswith(("~", "-", "=")):
        if not isinstance(last, Gate):
            raise LabError(
                f"{quoted(row)} belongs to a question: write it below a line that begins with ?."
            )
        add_line(row, last)
    elif row.startswith(">"):
        if not part.lines:
            raise LabError("a note follows the step that it is about.")
        notes = part.notes.setdefault(len(part.lines) - 1, [])
        notes.append(visible(row[1:].strip()))
    elif row:
        code, comment = split_comment(row)
        part.lines.append(parse_line(code, visible(comment), number))


def _part(row: str, number: int, lesson: Lesson) -> Part:
    told = _PART.fullmatch(row)[1] if _PART.fullmatch(row) else ""
    after = _AFTER.search(told)
    title, *settings = re.split(r"\s{2,}", _AFTER.sub("", told, count=1))
    _, constants = read_header(f"x {' '.join(settings)}")
    if not title:
        raise LabError(
            "a part has a title: write `# part: TITLE   constant=value`, with two spaces or more"
            " between them."
        )
    return Part(title, lesson.parts[0].constants | constants, number, after[1] if after else "")


def _expect_whole(part: Part, place: str) -> None:
    """Raise LabError for a part without steps, or a question without the choices that it needs."""
    if not part.lines:
        raise LabError(f"{place}, line {part.number}: there are no steps below this line.")
    for each in part.lines:
        if isinstance(each, Gate) and each.lacks_choices:
            raise LabError(
                f"{place}, line {each.number}: offer at least two choices below it, with lines that"
                " begin with - or ~."
            )
