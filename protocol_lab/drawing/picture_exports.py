"""Exports a walk as pictures, and lists all formats that a walk can be exported to.

In a file the ending says the format: `.json`, `.svg`, ...; any other ending is a scenario's.
"""

from pathlib import Path

from protocol_lab.checker.result import Result
from protocol_lab.drawing.pictures import picture_strip
from protocol_lab.errors import LabError, shortened, writing
from protocol_lab.traces.scenarios import scenario_text
from protocol_lab.traces.text_exports import TEXT_FORMATS, Format
from protocol_lab.traces.walk import Walk


def to_svg(walk: Walk) -> str:
    """The picture of this moment, with its caption and the legend."""
    return picture_strip(walk, moments=[walk.moment])


def to_film_strip(walk: Walk) -> str:
    """The pictures from the start up to here below each other, as one static SVG."""
    return picture_strip(walk, moments=walk.moment.path())


FORMATS: dict[str, Format] = TEXT_FORMATS | {
    "svg": Format(".svg", to_svg),
    "film strip": Format(".strip.svg", to_film_strip),
}
"""Every format by name: texts and pictures."""


def format_of(path: str | Path) -> Format:
    """The format that a file's ending says; for a name without an ending that of a scenario.

    Raises LabError for another ending.
    """
    name = Path(path).name
    fitting = [each for each in FORMATS.values() if name.endswith(each.ending)]
    if fitting:
        return max(fitting, key=lambda each: len(each.ending))
    if not Path(path).suffix:
        return FORMATS["scenario"]
    known = ", ".join(each.ending for each in FORMATS.values())
    raise LabError(
        f"{shortened(path)}: nothing is written with the ending {shortened(Path(path).suffix)};"
        f" there are {known}."
    )


def content_for(path: str | Path, of: Walk | Result) -> str:
    """What to write into this file about a walk so far, or a result's trace. Raises LabError."""
    write = format_of(path).write
    if isinstance(of, Result) and write is not scenario_text:
        of = Walk.along(of)
        of.last()
    return write(of)


def save_walk(of: Walk | Result, path: str | Path) -> Path:
    """Write a walk so far, or a result's trace, to a file; its ending says the format.

    Returns the path. Raises LabError if it can't be written.
    """
    path, content = Path(path), content_for(path, of)
    with writing(path):
        path.write_bytes(content.encode("utf-8"))
    return path
