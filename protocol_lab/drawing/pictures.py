"""Pictures of states: drawn by the spec, or as a table of its variables; and as HTML images."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from math import inf
from pathlib import Path
from string import punctuation
from urllib.parse import quote
from xml.etree import ElementTree

from protocol_lab.checker.result import Result
from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import FILE, LEAST_ON_SCREEN, arranged, best
from protocol_lab.drawing.state_table import draw_state_table
from protocol_lab.drawing.svg import Svg, legend_of, text_width, wrap
from protocol_lab.errors import LabError, shortened
from protocol_lab.explain.wording import choice_sentence, first_line, spec_title
from protocol_lab.model.evaluation import keeping_results
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import find_step
from protocol_lab.traces.scenario_format import scenario_text
from protocol_lab.traces.text_exports import TEXT_FORMATS, Format
from protocol_lab.traces.walk import Moment, Walk

# --- Film -----------------------------------------------------------------------------------------
#
# Several pictures with captions as one: a film strip, for readers of a saved notebook.


_NAMESPACE = "http://www.w3.org/2000/svg"
_MARGIN, _GAP, _LINE = 14, 22, 18


def film_strip(
    pictures: Sequence[str],
    captions: Sequence[str],
    *,
    columns: int,
    width: float,
    title: str,
) -> str:
    """Numbered pictures (SVG texts) below their captions, row by row, as one SVG of this width."""
    svg = Svg()
    cell = cell_width(width, columns)
    y, below = _MARGIN, _MARGIN
    frames = [
        (ElementTree.fromstring(picture), caption) for picture, caption in zip(pictures, captions)
    ]
    for k, (picture, caption) in enumerate(frames):
        if k % columns == 0:
            y = below
            caption_height = _LINE * max(
                len(caption_lines(text, cell)) for _, text in frames[k : k + columns]
            )
        x = _MARGIN + (k % columns) * (cell + _GAP)
        put_caption(svg, x, y, str(k + 1), caption_lines(caption, cell))
        top = y + caption_height + 8
        height = place(svg, picture, x, top, cell)
        width_there = float(picture.get("width", 0))
        svg.rect(x, top, width_there, height, rx=8, fill="none", stroke=palette.LINE)
        below = max(below, top + height + _GAP)
    legend = next(filter(None, map(legend_of, pictures)), "")
    for line in wrap(legend, width - 2 * _MARGIN, 12):
        svg.text(_MARGIN, below, line, size=12, fill=palette.MUTED)
        below += _LINE
    described = " ".join(f"{k}. {caption}" for k, caption in enumerate(captions, 1))
    return svg.document(width, below - _GAP + _MARGIN, title, described)


def cell_width(width: float, columns: int) -> float:
    """The width of a picture in a strip of this width."""
    return (width - 2 * _MARGIN - (columns - 1) * _GAP) / columns


def caption_lines(caption: str, width: float) -> list[str]:
    """The caption in lines that fit beside its badge; what is refused (✗) begins a line."""
    parts = re.split(r" (?=✗ )", caption)
    return [line for part in parts for line in wrap(part, width - 34, 13)] or [""]


def put_caption(svg: Svg, x: float, y: float, number: str, lines: list[str]) -> None:
    """A badge with the number, and the lines of a caption beside it."""
    badge = max(22.0, text_width(number, 12, bold=True) + 10)
    svg.rect(x, y, badge, 20, rx=10, fill=palette.ACCENT)
    svg.text(x + badge / 2, y + 14.5, number, bold=True, fill=palette.PAPER, text_anchor="middle")
    for k, line in enumerate(lines):
        svg.text(x + badge + 8, y + 15 + k * _LINE, line, size=13)


def place(svg: Svg, picture: ElementTree.Element, x: float, y: float, most: float) -> float:
    """Put a picture into another, at most this wide and without enlarging it; returns its height.

    The picture's own `x`, `y`, `width` and `height` are set to its place there.
    """
    own_width, own_height = (float(part) for part in picture.get("viewBox", "").split()[2:])
    scale = min(1.0, most / own_width)
    places = {"x": x, "y": y, "width": own_width * scale, "height": own_height * scale}
    for name, value in places.items():
        picture.set(name, f"{value:g}")
    for name in ("style", "role", "font-family", "data-legend"):  # as the picture around it has
        picture.attrib.pop(name, None)
    ElementTree.register_namespace("", _NAMESPACE)
    text = ElementTree.tostring(picture, encoding="unicode")
    svg.raw(text.replace(f' xmlns="{_NAMESPACE}"', "", 1))
    return own_height * scale


# --- Pictures -------------------------------------------------------------------------------------


READING_WIDTH = 890
"""Pixels of an output in JupyterLab on a screen of 1280, with its file browser open."""

_SMALLEST = 12
"""Pixels: smaller type can't be read; a strip rather has fewer columns."""

_AS_IT_IS = " " + punctuation.translate(dict.fromkeys(map(ord, "%#&'")))
"""The characters that need no escape in an address between single quotes."""


def picture(model: Model, row: bytes, previous: bytes | None = None) -> str:
    """A state as SVG text, with the differences to a previous state marked.

    Raises LabError if the spec's drawing fails.
    """
    if model.spec.draw is None:
        return draw_state_table(model, row, previous)
    try:
        return model.spec.draw(model, row, previous=previous)
    except Exception as error:
        raise LabError(
            f"{model.spec.name}: drawing this state failed with {type(error).__name__}: {error}."
        ) from error


def picture_strip(walk: Walk, columns: int = 1, moments: Sequence[Moment] | None = None) -> str:
    """Every state of the current branch, or only the given moments, with captions, as one SVG
    text.

    columns: at most so many; fewer if the type would be too small.
    """
    moments = walk.path if moments is None else moments
    return strip_of(
        _drawing(walk.model, moments),
        [caption(walk.model, moment) for moment in moments],
        columns,
        spec_title(walk.model.spec.name),
    )


Draw = Callable[[], str]


def strip_of(draws: Sequence[Draw], captions: Sequence[str], columns: int, title: str) -> str:
    """What these functions draw, with captions, as one SVG text; columns as for `picture_strip`."""
    while True:
        cell = cell_width(READING_WIDTH, columns)
        pictures = fitted(draws, cell)
        if columns == 1 or _widest(pictures) * _SMALLEST <= cell * LEAST_ON_SCREEN:
            break
        columns -= 1
    return film_strip(pictures, captions, columns=columns, width=READING_WIDTH, title=title)


def stills(model: Model, moments: Sequence[Moment], width: float, alone: bool = False) -> list[str]:
    """Pictures of these moments, as `fitted` draws them."""
    return fitted(_drawing(model, moments), width, alone)


def _drawing(model: Model, moments: Sequence[Moment]) -> list[Draw]:
    return [partial(moment_picture, model, moment) for moment in moments]


def fitted(draws: Sequence[Draw], width: float, alone: bool = False) -> list[str]:
    """Pictures in one arrangement, at most as wide as this if the type can be read then. alone:
    they fill that width, and what stands around them says which promises are broken."""
    if not draws:
        return []
    with keeping_results():  # the same states are drawn in every arrangement
        with arranged(FILE):
            sizes = [size_of(draw()) for draw in draws]
        largest = [max(zip(sizes, draws), key=lambda each: each[0][side])[1] for side in (0, 1)]
        shape = replace(FILE, alarms=not alone)
        arrangement = best(lambda: [size_of(draw()) for draw in largest], (width, inf), shape)
        with arranged(replace(arrangement, width=width) if alone else arrangement):
            return [draw() for draw in draws]


_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')


def size_of(svg: str) -> tuple[int, int]:
    """The width and height of a picture."""
    width, height = _SIZE.search(svg).groups()
    return int(width), int(height)


def _widest(pictures: Sequence[str]) -> int:
    return max((size_of(each)[0] for each in pictures), default=0)


def moment_picture(model: Model, moment: Moment) -> str:
    """A moment of a walk, with the differences to the one before it."""
    return picture(model, moment.row, moment.previous and moment.previous.row)


def caption(model: Model, moment: Moment) -> str:
    """What has just happened: the scenario's caption, else the sentence of the choice that was
    made, else the action's own description.

    What is refused there is said in words. At the end of a lasso also how the run goes on.
    """
    parts = re.split(r" (?=✗ )", happened(model, moment))
    told = " ".join(_in_words(model, moment, part) for part in parts)
    return f"{told} {moment.going_on and f'↻ {moment.going_on}'}".rstrip()


def _in_words(model: Model, moment: Moment, part: str) -> str:
    """What a caption says of a refused step, with the scenario's own reason if there is one."""
    step, refuses, told = part.removeprefix("✗ ").partition(" is refused: ")
    try:
        refused = find_step(model, moment.row, step) if refuses else None
    except LabError:
        refused = None  # a long step is shortened there
    if refused is None:
        return part
    sentence = choice_sentence(model, moment.row, refused.action, refused.args)
    own = told.removeprefix(refused.reason).strip()
    why = own[1:-1] if own else refused.reason
    return f"✗ Refused: {sentence}. {why[:1].upper()}{why[1:]}"


def image_html(svg: str, alternative: str) -> str:
    """A picture as an HTML image with its data in the address, and its text alternative."""
    return _image(svg, alternative, "max-width: 100%; height: auto; display: block")


def wide_image_html(svg: str, alternative: str) -> str:
    """The same for a picture that would be too small to read if it had to fit: it can be
    scrolled."""
    image = _image(svg, alternative, "max-width: none; display: block")
    return f'<div style="overflow-x: auto">{image}</div>'


def _image(svg: str, alternative: str, style: str) -> str:
    # Nearly the picture's own text, which takes less than base64 would.
    source = f"data:image/svg+xml,{quote(svg, safe=_AS_IT_IS)}"
    return f"""<img src='{source}' alt="{escape(alternative)}" style="{style}" />"""


def happened(model: Model, moment: Moment) -> str:
    """The scenario's caption, or what the step did, without what is refused and how a run goes on
    in other words than the scenario's."""
    if moment.caption:
        return moment.caption
    if moment.step is None:
        return first_line(model.spec.inits[0].doc) or "The initial state."
    if moment.step.action in model.spec.choices:
        taken = find_step(model, moment.previous.row, moment.step.text)
        return f"{choice_sentence(model, moment.previous.row, taken.action, taken.args)}."
    return first_line(model.action(moment.step.action).doc) or moment.step.text


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
