"""Several pictures with captions as one: a film strip, for readers of a saved notebook."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, legend_of, text_width, wrap
from protocol_lab.errors import LabError

_NAMESPACE = "http://www.w3.org/2000/svg"
_MARGIN, _GAP, _LINE = 14, 22, 18


def film_strip(
    pictures: Sequence[str],
    captions: Sequence[str],
    *,
    columns: int = 1,
    width: float = 900,
    title: str = "A scenario, step by step",
) -> str:
    """Numbered pictures (SVG texts) below their captions, row by row, as one SVG of this width.

    Raises LabError if there is not one caption for each picture.
    """
    if len(pictures) != len(captions):
        raise LabError(
            f"A film strip needs one caption a picture; there are {len(pictures)} pictures and"
            f" {len(captions)} captions."
        )
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
        height = _place(svg, picture, x, y + caption_height + 8, cell)
        below = max(below, y + caption_height + 8 + height + _GAP)
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


def _place(svg: Svg, picture: ElementTree.Element, x: float, y: float, cell: float) -> float:
    """Put a picture into the strip without enlarging it; returns its height there."""
    height = place(svg, picture, x, y, cell)
    width = float(picture.get("width", 0))
    svg.rect(x, y, width, height, rx=8, fill="none", stroke=palette.LINE)
    return height


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
