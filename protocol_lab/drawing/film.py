"""Several pictures with captions as one: a film strip, for readers of a saved notebook, or an
animated SVG.

The animation needs no script and no player: CSS inside it shows the frames, in a browser and where
a page or a slide includes it as an image. It pauses under the pointer. Where reduced motion is
preferred, and in programs that don't support CSS, only the last frame is shown.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from zlib import crc32

from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, legend_of, text_width, wrap
from protocol_lab.errors import LabError

_NAMESPACE = "http://www.w3.org/2000/svg"
_MARGIN, _GAP, _LINE = 14, 22, 18
_NUMBER = 60  # the width of "12 of 16" before a caption

SECONDS = 4.0
"""How long a frame is shown, in seconds."""

MOST_FRAMES = 100
"""Longer animations are not worth watching, and take long to make."""


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
    for name in (
        "style",
        "role",
        "font-family",
        "data-legend",
    ):  # as the picture around it has them
        picture.attrib.pop(name, None)
    ElementTree.register_namespace("", _NAMESPACE)
    text = ElementTree.tostring(picture, encoding="unicode")
    svg.raw(text.replace(f' xmlns="{_NAMESPACE}"', "", 1))
    return own_height * scale


def animated_svg(
    pictures: Sequence[str], captions: Sequence[str], *, title: str = "A scenario, step by step"
) -> str:
    """The pictures (SVG texts), each SECONDS long, with number and caption, as one SVG.

    Raises LabError for more than MOST_FRAMES, or if there is not one caption for each picture.
    """
    count = len(pictures)
    if count != len(captions) or not count:
        raise LabError(
            f"An animation needs a caption for each picture; there are {count} pictures and"
            f" {len(captions)} captions."
        )
    if count > MOST_FRAMES:
        raise LabError(
            f"An animation shows up to {MOST_FRAMES} moments, but there are {count}: go back to an"
            " earlier one."
        )
    frames = [ElementTree.fromstring(each) for each in pictures]
    sizes = [list(map(float, each.get("viewBox").split()))[2:] for each in frames]
    width, height = (max(each[side] for each in sizes) for side in (0, 1))
    told = [caption_lines(each, width - _NUMBER) for each in captions]
    top = _MARGIN + _LINE * max(2, *map(len, told))
    shown = "".join([*pictures, *captions])
    name = f"lab-film-{crc32(shown.encode(errors='replace')):08x}"
    svg = Svg()
    svg.raw(f"<style>{_css(name, count)}</style>")
    for k, (picture, lines) in enumerate(zip(frames, told)):
        hidden = "" if k == count - 1 else ' visibility="hidden"'
        delay = f"animation-delay: {(k - count) * SECONDS:g}s"
        svg.raw(f'<g class="{name}" style="{delay}"{hidden}>')
        put_caption(svg, _MARGIN, _MARGIN - 4, f"{k + 1} of {count}", lines)
        place(svg, picture, _MARGIN, top, width)
        svg.raw("</g>")
    described = " ".join(f"{k}. {caption}" for k, caption in enumerate(captions, 1))
    return svg.document(width + 2 * _MARGIN, top + height + _MARGIN, title, described)


def _css(name: str, count: int) -> str:
    """Every frame is visible in one part of the film's time, which its delay chooses."""
    return (
        f"@keyframes {name}{{0%{{visibility:visible}}{100 / count:.4f}%,100%"
        f"{{visibility:{'visible' if count == 1 else 'hidden'}}}}}"
        f".{name}{{animation:{name} {count * SECONDS:g}s step-end infinite}}"
        f"svg:hover .{name}{{animation-play-state:paused}}"
        f"@media (prefers-reduced-motion:reduce){{.{name}{{animation:none}}}}"
    )
