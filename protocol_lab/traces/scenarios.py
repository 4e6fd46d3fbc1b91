"""Scenarios are found, read and played: their steps are taken, and their claims checked.

`scenario_format` describes what is in the files.
"""

from dataclasses import replace
from pathlib import Path

from protocol_lab.catalog import named_beside, scenario_files, spec_names
from protocol_lab.errors import LabError, quoted, shortened, unknown
from protocol_lab.liveness.lasso_check import why_not_broken
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import chooses_start, find_step
from protocol_lab.quantities import whole_number_of
from protocol_lab.traces.scenario_format import Line, Scenario, parse_scenario, split_caption
from protocol_lab.traces.walk import Moment, Walk

_MOST_BYTES = 4_000_000
"""A larger file is not a scenario, but was named by mistake."""


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


def play(scenario: Scenario, model: Model | None = None) -> Walk:
    """Take all steps and check all claims; returns the walk, with captions, at its end.

    `model` is needed for a spec that is in no package; the constants are the scenario's. Raises
    LabError naming the line that does not hold.
    """
    bound = scenario.model(model)
    start, lines = _split_start(scenario.lines, bound)
    with scenario.naming(start):
        walk = Walk.begin(bound, start.text if start else None)
    walk.start.caption = start.caption if start else ""
    for line in lines:
        with scenario.naming(line):
            follow(line, walk)
    return walk


def _split_start(lines: list[Line], model: Model) -> tuple[Line | None, list[Line]]:
    """The line that chooses the initial state, if there is one, and the lines after it."""
    first = lines[0] if lines else None
    if first and first.kind in ("init", "step") and chooses_start(model, first.text):
        return first, lines[1:]
    return None, lines


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
