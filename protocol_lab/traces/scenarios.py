"""Scenario files: walks that people write, with captions and claims about them.

    # spec: kafka.unclean_leader_election  replicas=3 producers=2 min_isr=2
    # The replica with the latest offset is not always safe (slides 46-56)
    produce_message(replica=1, producer=1)        # slide 46: a producer sends to the leader
    !blocked replicate(replica=2, entries=1)      # it has not become a follower yet
    !violates committed_messages_never_lost

The first line names the spec and its constants; the comment lines after it are the description.
Where there are several initial states, a line `init(parameter=value)` before all steps chooses one;
instead of `init` it may have the name of the function that is registered with `@spec.init`.
`!violates NAME` says that the state there breaks the invariant and no state before it did,
`!holds NAME` that it holds there, `!blocked STEP` that the step can't be taken there; the caption
of that state then says so, with the reason.

`!loops_to K` says that the state there is state K again (the initial one is 1), and the run repeats
the loop from K forever; with the state's own number, the run stays there. After it `!violates` also
takes a temporal property: the loop is fair under the spec's conditions, and the run breaks the
property. `!violates NAME under none` assumes no fairness, `under next` only that a run does not
stop while a step is possible.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from protocol_lab.catalog import (
    known_as,
    load_beside,
    load_from_catalog,
    named_beside,
    scenario_files,
    spec_names,
)
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError, quoted, shortened, unknown, visible
from protocol_lab.liveness.lasso_check import why_not_broken
from protocol_lab.model.constants import show_text
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import chooses_start, find_step
from protocol_lab.quantities import whole_number_of
from protocol_lab.spec_files import is_path
from protocol_lab.traces.walk import Moment, Walk

_MOST_BYTES = 4_000_000
"""A larger file is not a scenario, but was named by mistake."""

_CODE = re.compile(r"""(?:[^#'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*""")
"""A line up to its comment. A name in quotes may have a #, as in 'C#'."""

_SLIDE = re.compile(r"^slides? (\d+(?:-\d+)?):?\s*")


@dataclass(frozen=True)
class Line:
    """One line after the header: kind is step, init, violates, holds, blocked or loops_to."""

    kind: str
    text: str
    caption: str = ""
    number: int = 0

    @property
    def slide(self) -> str:
        """The slide (or slides, as in 46-56) that the caption begins with; "" if none."""
        return split_caption(self.caption)[0]


@dataclass(frozen=True)
class Scenario:
    """A parsed scenario file. `title` is the first line of the description.

    file: for a spec in a file beside it; None for a text, so that a text, which may come from
    anybody, can't have a file run.
    """

    name: str
    spec_name: str
    constants: dict[str, str]
    description: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    file: Path | None = None

    @property
    def folder(self) -> Path | None:
        """The folder of the file."""
        return self.file and self.file.parent

    @property
    def shown_name(self) -> str:
        """The file's name, or that of the text, for messages."""
        return shortened(self.file.name) if self.file else self.name

    @property
    def title(self) -> str:
        return self.description[0] if self.description else self.name

    @property
    def challenge(self) -> str:
        """The name of the challenge that the steps are an attempt at, which the second line of a
        link's text names; "" if none."""
        found = re.fullmatch(r"challenge: (\w+)", self.title)
        return found[1] if found else ""

    def model(self, given: Model | None = None) -> Model:
        """The spec with the scenario's constants; `given` supplies a spec that no package has.

        Raises LabError naming the first line, which has both.
        """
        with _naming(self, None):
            return bound_model(self.spec_name, self.constants, given, self.folder)


def bound_model(
    spec_name: str,
    constants: Mapping[str, Any],
    given: Model | None = None,
    folder: Path | None = None,
) -> Model:
    """The spec with this name and these constants; it is that of `given` if that has the name.

    So a spec is found that was written in a notebook's cell. A spec outside the catalog is loaded
    only if a file in this folder names it. Raises LabError.
    """
    if given is not None and spec_name in (given.spec.name, known_as(given.spec)):
        return given.spec.bind(**constants)
    if folder is None and is_path(spec_name):
        raise LabError(
            f"{quoted(spec_name)} is a file, and a pasted text may not run files: load it and give"
            f" its model, as in load({quoted(spec_name)}).bind(), or --spec FILE on the command"
            " line."
        )
    if folder is None:
        return load_from_catalog(spec_name).bind(**constants)
    return load_beside(spec_name, folder).bind(**constants)


def scenario(name: str) -> Scenario:
    """The scenario with this name (its file name without the ending), or at this path.

    Raises LabError with the known names if there is none.
    """
    if Path(name).suffix == ".txt":
        return read_scenario(name)
    packages = sorted({spec.partition(".")[0] for spec in spec_names()})
    files = {path.stem: path for package in packages for path in scenarios_of(package)}
    if name not in files:
        raise unknown("scenario", name, files)
    return read_scenario(files[name])


def read_scenario(path: str | Path) -> Scenario:
    """Parse a file. Raises LabError naming the file and line that is malformed."""
    text, path = text_of_file(path), Path(path)
    return replace(parse_scenario(text, path.name), name=shortened(path.stem), file=path)


def text_of_file(path: str | Path) -> str:
    """The text of a file with a trace. Raises LabError naming the file."""
    shown, path = shortened(path), Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise LabError(
            f"The scenario file {shown} can't be read ({reason}); check its name."
        ) from None
    if len(data) > _MOST_BYTES:
        raise LabError(
            f"The scenario file {shown} has more than {_MOST_BYTES // 10**6} MB, so it is not a"
            " scenario; check its name."
        )
    try:
        # PowerShell writes a program's output as UTF-16.
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LabError(
            f"The scenario file {shown}, line {line}, is not text in UTF-8; check its name, or save"
            " it as UTF-8."
        ) from None


def scenarios_of(spec_name: str) -> list[Path]:
    """The scenario files of a spec's package, or beside its file; for "kafka" those of all its
    specs.

    spec_name: any name that `load` takes.
    """
    files = scenario_files(spec_name)
    if "." not in spec_name:
        return files
    return [path for path in files if _is_about(read_scenario(path), spec_name)]


def _is_about(scenario: Scenario, spec_name: str) -> bool:
    if scenario.spec_name == spec_name:
        return True
    found = named_beside(scenario.spec_name, scenario.folder)
    return Path(found).resolve() == Path(spec_name).resolve()


def split_caption(caption: str) -> tuple[str, str]:
    """The slide or slides that a caption begins with ("" if none), and the words after it."""
    found = _SLIDE.match(caption)
    return (found.group(1), caption[found.end() :]) if found else ("", caption)


def split_comment(row: str) -> tuple[str, str]:
    """The code of a line, and the comment behind its # ("" if there is none)."""
    code = _CODE.match(row)[0]
    if row[len(code) :][:1] not in ("", "#"):  # a quote that is never closed
        code = row.partition("#")[0]
    return code.strip(), row[len(code) + 1 :].strip()


def parse_scenario(text: str, name: str = "scenario") -> Scenario:
    """Parse the text of a scenario. Raises LabError naming the line that is malformed."""
    name = shortened(name)
    # Not splitlines(), which also breaks lines at characters that a caption may contain.
    rows = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    header = rows[0].strip()
    if not header.startswith("# spec:"):
        raise LabError(
            f"{name}, line 1: the first line must be `# spec: NAME  constant=value ...`."
        )
    spec_name, constants = read_header(header.removeprefix("# spec:"), name)
    description: list[str] = []
    lines: list[Line] = []
    for number, row in enumerate(rows[1:], 2):
        code, comment = split_comment(row)
        comment = visible(comment)
        if code:
            lines.append(parse_line(code, comment, number, name))
            if lines[-1].kind == "init" and len(lines) > 1:
                raise LabError(
                    f"{name}, line {number}: init(...) chooses where the scenario begins: write it"
                    " once, before all steps."
                )
        elif comment and not lines:
            description.append(comment)
    return Scenario(name, spec_name, constants, description, lines)


def read_header(text: str, name: str, number: int = 1) -> tuple[str, dict[str, str]]:
    """The name of the spec, which is in quotes if it has spaces, and the constants after it.

    `name` and `number` are those of the file and line, for errors. Raises LabError.
    """
    in_quotes = re.fullmatch(r'\s*"([^"]+)"(.*)', text)
    spec_name, *settings = text.split() or [""]
    if in_quotes:
        spec_name, settings = in_quotes[1], in_quotes[2].split()
    if not all(each.count("=") == 1 for each in settings):
        raise LabError(
            f"{name}, line {number}: write constants as NAME=VALUE, separated by spaces."
        )
    names = [each.partition("=")[0] for each in settings]
    for each in names:
        if names.count(each) > 1:
            raise LabError(
                f"{name}, line {number}: {quoted(each)} is written twice: leave one out."
            )
    return spec_name, dict(each.split("=") for each in settings)


def parse_line(code: str, caption: str, number: int, name: str) -> Line:
    """A step or a claim with its caption. Raises LabError naming the file and the line."""
    if not code.startswith("!"):
        kind = "init" if code.startswith("init(") else "step"
        return Line(kind, code, caption, number)
    kind, _, text = code[1:].partition(" ")
    if kind not in ("violates", "holds", "blocked", "loops_to") or not text.strip():
        raise LabError(
            f"{name}, line {number}: {quoted(code)} is not known; write !violates INVARIANT,"
            " !holds INVARIANT, !blocked STEP or !loops_to STATE."
        )
    return Line(kind, text.strip(), caption, number)


def play(scenario: Scenario, model: Model | None = None) -> Walk:
    """Take all steps and check all claims; returns the walk, with captions, at its end.

    `model` is needed for a spec that is in no package; the constants are the scenario's. Raises
    LabError naming the line that does not hold.
    """
    bound = scenario.model(model)
    start, lines = _split_start(scenario.lines, bound)
    with _naming(scenario, start):
        walk = Walk.begin(bound, start.text if start else None)
    walk.start.caption = start.caption if start else ""
    for line in lines:
        with _naming(scenario, line):
            follow(line, walk)
    return walk


def _split_start(lines: list[Line], model: Model) -> tuple[Line | None, list[Line]]:
    """The line that chooses the initial state, if there is one, and the lines after it."""
    first = lines[0] if lines else None
    if first and first.kind in ("init", "step") and chooses_start(model, first.text):
        return first, lines[1:]
    return None, lines


@contextmanager
def _naming(scenario: Scenario, line: Line | None) -> Iterator[None]:
    """A context that adds the scenario's line to errors."""
    try:
        yield
    except LabError as error:
        place = f"{scenario.shown_name}, line {line.number if line else 1}"
        raise LabError(f"{place}: {error}") from None


def follow(line: Line, walk: Walk) -> None:
    """Take a step, or check a claim, in a walk. Raises LabError."""
    if line.kind in ("init", "step"):
        walk.take(line.text, line.caption)
    elif line.kind == "blocked":
        each = find_step(walk.model, walk.row, line.text)
        if each.taken:
            raise _wrong(line, "the step can be taken here")
        if each.error is not None:
            raise _wrong(line, f"the step can't be computed: {each.reason}")
        _tell_refusal(line, each.reason, walk)
    elif line.kind == "loops_to":
        if (depth := whole_number_of(line.text)) is None:
            raise LabError(
                f"{quoted(line.text)} is not the number of a state; write one, as in !loops_to 3."
            )
        walk.close_loop(depth)
    elif line.kind == "violates" and _is_temporal(line, walk.model):
        _check_property(line.text, walk)
    elif line.kind in ("holds", "violates"):
        _check_claim(line, walk)


def _wrong(line: Line, why: str) -> LabError:
    """The error for a claim that does not hold at its place in the walk."""
    return LabError(f"the claim !{line.kind} {shortened(line.text)} is wrong: {why}.")


def _tell_refusal(line: Line, reason: str, walk: Walk) -> None:
    """Add to the caption of the state here that this step is refused, and why."""
    moment, spec = walk.moment, walk.model.spec
    led_here = walk.model.action(moment.step.action) if moment.step else spec.inits[0]
    words = split_caption(line.caption)[1]
    moment.caption = (
        f"{moment.caption or led_here.doc.partition(chr(10))[0]} ✗ {shortened(line.text)} is"
        f" refused: {reason}{words and f' ({words})'}"
    ).strip()


def _is_temporal(line: Line, model: Model) -> bool:
    name = line.text.partition(" under ")[0]
    return any(each.name == name for each in model.spec.properties)


def _check_property(claim: str, walk: Walk) -> None:
    """Check that the walk, with its loop, breaks a temporal property of the spec."""
    name, _, fairness = claim.partition(" under ")
    rows = [each.row for each in walk.moment.path()]
    loop_from = walk.moment.loops_to
    why_not = why_not_broken(walk.model, rows, loop_from, name, fairness.strip() or "declared")
    if why_not:
        raise LabError(why_not)


def _check_claim(line: Line, walk: Walk) -> None:
    spec = walk.model.spec
    known = [each.name for each in [*spec.invariants, *spec.step_invariants]]
    if line.text not in known:
        told = f"there are {', '.join(known)}" if known else f"{spec.name} declares none"
        raise LabError(f"there is no invariant {quoted(line.text)}; {told}.")

    def fails(moment: Moment) -> bool:
        # A step invariant is not about the initial state, since no step led to it.
        return any(each.name == line.text and each.is_broken for each in walk.standings(moment))

    *earlier, here = walk.moment.path()
    for each in walk.standings(here):
        if each.name == line.text and not each.is_known:
            raise _wrong(line, f"it {each.reason}")
    if line.kind == "holds" and fails(here):
        raise _wrong(line, "it is violated here")
    if line.kind == "violates":
        if not fails(here):
            raise _wrong(line, "it holds here")
        for moment in earlier:
            if fails(moment):
                where = f"after {moment.step}" if moment.step else "in the initial state"
                raise _wrong(line, f"it is violated before this line, {where}")


def scenario_text(walk_or_result: Walk | Result, description: list[str] | None = None) -> str:
    """A walk's steps so far, or an exploration's trace, as the text of a scenario file."""
    walk = walk_or_result
    lines = list(description or [])
    claims = []
    if isinstance(walk_or_result, Result):
        walk = Walk.along(walk_or_result)
        walk.last()
        lines = lines or [_title_of(walk_or_result)]
        lines.append(
            "shortest: found breadth first"
            if walk_or_result.loop_from is None
            else "shortest way to a loop, found breadth first; the loop is not proved shortest"
        )
        claims += [walk_or_result.claim_line] if walk_or_result.claim_line else []
    if walk.moment.loops_to is not None:
        claims.insert(0, f"!loops_to {walk.moment.loops_to}")
    name = known_as(walk.model.spec)
    name = f'"{name}"' if " " in name else name
    header = f"# spec: {name}  {show_text(walk.model.constants)}"
    start = walk.init or ("init()" if walk.start.caption else None)
    steps = [_captioned(str(moment.step), moment.caption) for moment in walk.moment.path()[1:]]
    if start:
        steps.insert(0, _captioned(start, walk.start.caption))
    described = [f"# {visible(' '.join(line.split()))}" for line in lines]
    return "\n".join([header, *described, *steps, *claims]) + "\n"


def _title_of(result: Result) -> str:
    if result.loop_from is None:
        return f"A shortest trace to a violation of {result.violated}"
    return f"A run that breaks {result.violated} for ever"


def _captioned(code: str, caption: str) -> str:
    """A line with its caption, all on one line."""
    caption = visible(" ".join(caption.split()))
    return f"{code}    # {caption}" if caption else code
