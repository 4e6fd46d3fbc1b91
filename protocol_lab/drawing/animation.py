"""A walk as an animated SVG: its pictures with captions, one after the other.

It needs no script and no player: CSS inside it shows the frames, in a browser and where a page or a
slide includes it as an image. It pauses under the pointer. Where reduced motion is preferred, and
in programs that don't support CSS, only the last frame is shown.
"""

from collections.abc import Sequence
from xml.etree import ElementTree
from zlib import crc32

from protocol_lab.drawing.film import caption_lines, place, put_caption
from protocol_lab.drawing.svg import Svg
from protocol_lab.errors import LabError

SECONDS = 4.0
"""How long a frame is shown, in seconds."""

MOST_FRAMES = 100
"""Longer animations are not worth watching, and take long to make."""

_MARGIN, _LINE, _BADGE = 14, 18, 60


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
    told = [caption_lines(each, width - _BADGE) for each in captions]
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
