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

Steps and claims are those of a scenario (`traces.scenarios`). A step with a caption is a beat; one
without is taken together with the step after it. A line with > is a note for the speaker. A part
begins anew with the constants of the first line and its own; `after slide N`, or `after state N`,
takes the steps of the part before up to there, unseen. Comments below its line are the caption of
its first state.

A question is about the state where it stands. Its answer is computed, never written:

    ? can STEP            can the step be taken here? Its guard is the answer
    ? which next          which step does the run take next? `can`: which of these can be taken
                          here? `cannot`: which is refused?
    ? where EXPRESSION    a number, shown as a line in the lane that it names, or through all lanes
    ? holder EXPRESSION   the nodes n for which it is true; or the node that it is, or nobody
    ? last INVARIANT      is the promise broken at the end of this part?
    ? cell CLAIM          the nodes that have said yes, on the board
    ? say EXPRESSION      a free question with a computed answer

A line `# board` shows the board, who has said what, beside the picture.

EXPRESSION is Python over the state s, the constants c, and the names of the spec; for `say` also
over the names of the modules in a line `# uses: MODULE ...`. Before what `where`, `holder`, `cell`
and `say` ask, `next:` and `end:` choose another state: that of the next beat, or of the part's end.

`- CHOICE` offers a choice, `~ CHOICE: SENTENCE` one with what to say to whoever chooses it wrongly;
where none is offered the kit lists them. `= SENTENCE` is the reason beside the answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from protocol_lab.catalog import package_folder, packages
from protocol_lab.errors import LabError, quoted, shortened, unknown, visible
from protocol_lab.traces.scenarios import Line, parse_line, read_header, split_comment, text_of_file

TIMES = ("next", "end")
KINDS = ("can", "which", "where", "holder", "last", "cell", "say")
ORDERS = ("next", "can", "cannot")
"""What `which` asks."""

_TIMED = ("where", "holder", "cell", "say")
_PART = re.compile(r"# part: (.*)")
_AFTER = re.compile(r"\s+after ((?:slide|state) \S+)")
_TITLE = re.compile(r"# lesson: (.*?)\s+spec: (.*)")


@dataclass(frozen=True)
class Choice:
    """A choice, and what is said to a reader who chose it wrongly; "" if nothing is."""

    text: str
    counter: str = ""


@dataclass
class Gate:
    """A question: `asks` is a step, an expression, an invariant or a claim, as its kind says.

    when: "" for the state here, "next" or "end".
    """

    kind: str
    asks: str
    question: str
    number: int
    when: str = ""
    choices: list[Choice] = field(default_factory=list)
    why: str = ""


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
    if not found:
        raise LabError(
            f"{place}, line 1: the first line must be `# lesson: TITLE   spec: NAME"
            "  constant=value ...`."
        )
    spec_name, constants = read_header(found[2], place)
    lesson = Lesson(name, found[1], spec_name, [], [Part("", constants, 1)], [], file)
    for number, row in enumerate(rows[1:], 2):
        _read(row.strip(), number, place, lesson)
    for part in lesson.parts:
        _expect_whole(part, place)
    return lesson


def _read(row: str, number: int, place: str, lesson: Lesson) -> None:
    """Add one line to the lesson."""
    part = lesson.parts[-1]
    last = part.lines[-1] if part.lines else None
    if row.startswith("# part:"):
        lesson.parts.append(_part(row, number, place, lesson))
    elif row == "# board" and not part.lines:
        lesson.board = True
    elif row.startswith("# uses:") and not part.lines:
        lesson.uses += row.removeprefix("# uses:").split()
    elif row.startswith("#"):
        if not part.lines and visible(row[1:].strip()):
            about = lesson.description if len(lesson.parts) == 1 else part.opening
            about.append(visible(row[1:].strip()))
    elif row.startswith("?"):
        part.lines.append(_gate(row, number, place))
    elif row.startswith(("~", "-", "=")):
        if not isinstance(last, Gate):
            raise LabError(
                f"{place}, line {number}: {quoted(row)} belongs to a question: write it below a"
                " line that begins with ?."
            )
        _add(row, number, place, last)
    elif row.startswith(">"):
        if not part.lines:
            raise LabError(f"{place}, line {number}: a note follows the step that it is about.")
        notes = part.notes.setdefault(len(part.lines) - 1, [])
        notes.append(visible(row[1:].strip()))
    elif row:
        code, comment = split_comment(row)
        part.lines.append(parse_line(code, visible(comment), number, place))


def _part(row: str, number: int, place: str, lesson: Lesson) -> Part:
    told = _PART.fullmatch(row)[1] if _PART.fullmatch(row) else ""
    after = _AFTER.search(told)
    title, *settings = re.split(r"\s{2,}", _AFTER.sub("", told, count=1))
    _, constants = read_header(f"x {' '.join(settings)}", place, number)
    if not title:
        raise LabError(
            f"{place}, line {number}: a part has a title: write `# part: TITLE   constant=value`,"
            " with two spaces or more between them."
        )
    return Part(title, lesson.parts[0].constants | constants, number, after[1] if after else "")


def _gate(row: str, number: int, place: str) -> Gate:
    code, question = split_comment(row[1:])
    kind, _, asks = code.partition(" ")
    asks = asks.strip()
    if kind not in KINDS:
        raise LabError(
            f"{place}, line {number}: {quoted(row)} is not known; write ? {', ? '.join(KINDS)}, and"
            " the question behind a #."
        )
    if not question:
        raise LabError(f"{place}, line {number}: the question is missing: write it behind a #.")
    if not asks and kind not in ("which", "last"):
        raise LabError(f"{place}, line {number}: what is asked? Write it behind ? {kind}.")
    if kind == "which" and (asks := asks or "next") not in ORDERS:
        raise LabError(f"{place}, line {number}: write ? which {', ? which '.join(ORDERS)}.")
    time, colon, rest = asks.partition(":")
    when = time if colon and kind in _TIMED and time in TIMES else ""
    return Gate(kind, rest.strip() if when else asks, visible(question), number, when)


def _add(row: str, number: int, place: str, gate: Gate) -> None:
    """Add a choice, or the reason, to a question."""
    mark, told = row[0], visible(row[1:].strip())
    text, colon, counter = told.partition(": ")
    if mark == "=":
        gate.why = f"{gate.why} {told}".strip()
    elif mark == "~" and not (colon and text and counter.strip()):
        raise LabError(
            f"{place}, line {number}: write `~ CHOICE: SENTENCE`, or `- CHOICE` for one about which"
            " nothing is said."
        )
    elif not told:
        raise LabError(f"{place}, line {number}: the choice is missing.")
    else:
        choice = Choice(text, counter.strip()) if mark == "~" else Choice(told)
        if choice.text in [each.text for each in gate.choices]:
            raise LabError(f"{place}, line {number}: {quoted(choice.text)} is offered twice.")
        gate.choices.append(choice)


def _expect_whole(part: Part, place: str) -> None:
    """Raise LabError for a part without steps, or a question without the choices that it needs."""
    if not part.lines:
        raise LabError(f"{place}, line {part.number}: there are no steps below this line.")
    for each in part.lines:
        needs = isinstance(each, Gate) and each.kind in ("say", "which")
        if needs and len(each.choices) < 2:
            raise LabError(
                f"{place}, line {each.number}: offer at least two choices below it, with lines that"
                " begin with - or ~."
            )
