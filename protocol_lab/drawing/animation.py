"""Animates pictures with captions, as an animated SVG or a GIF.

The SVG needs no script and no player: CSS inside it shows one frame after the other, in a browser
and where a page or a slide includes it as an image. What a step changes moves for a moment. It
pauses under the pointer. Where reduced motion is preferred, and in programs that don't support CSS,
only the last frame is shown.
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree
from zlib import crc32

from protocol_lab.drawing.film import caption_lines, place, put_caption
from protocol_lab.drawing.svg import Svg
from protocol_lab.errors import LabError

SECONDS = 4.0
"""How long a frame is shown, in seconds."""

MOST_FRAMES = 100
"""Longer animations are not worth watching, and take long to make."""

_MARGIN, _LINE, _BADGE, _GIF_COLORS = 14, 18, 60, 128
_BETWEEN = 5  # pictures for each move in a GIF


def animated_svg(
    pictures: Sequence[str], captions: Sequence[str], *, title: str = "A scenario, step by step"
) -> str:
    """The pictures (SVG texts), each SECONDS long, with number and caption, as one SVG.

    Raises LabError for more than MOST_FRAMES, or if there is not one caption for each picture.
    """
    film = _Film.of(pictures, captions)
    shown = "".join([*pictures, *captions, str(SECONDS)])
    name = f"lab-film-{crc32(shown.encode(errors='replace')):08x}"
    count = len(pictures)
    svg = Svg()
    svg.raw(f"<style>{_css(name, count, SECONDS)}</style>")
    for k in range(count):
        hidden = "" if k == count - 1 else ' visibility="hidden"'
        delay = f"animation-delay: {(k - count) * SECONDS:g}s"
        for each in film.moves[k]:
            kept = each.element.get("class", "")
            each.element.set("class", f"{kept} {name}-{each.kind}".strip())
            each.element.set("style", f"--x: {each.x:g}px; --y: {each.y:g}px; {delay}")
        svg.raw(f'<g class="{name}" style="{delay}"{hidden}>')
        film.put(svg, k)
        svg.raw("</g>")
    described = " ".join(f"{k}. {caption}" for k, caption in enumerate(captions, 1))
    return svg.document(film.width, film.height, title, described)


def animated_gif(pictures: Sequence[str], captions: Sequence[str]) -> bytes:
    """The same as a GIF that repeats, for slides that can't include SVG.

    Raises LabError as `animated_svg` does.
    """
    # Imported here, so that only making a GIF waits for them to load.
    import resvg_py
    from matplotlib import get_data_path
    from PIL import Image

    fonts = Path(get_data_path()) / "fonts" / "ttf"
    film = _Film.of(pictures, captions)
    frames, durations = [], []

    def add(k: int, shown: float) -> None:
        svg = Svg()
        film.put(svg, k)
        png = resvg_py.svg_to_bytes(
            svg_string=svg.document(film.width, film.height, "", "").replace(
                'font-weight="650"',
                'font-weight="700"',  # the format has only whole hundreds
            ),
            background="white",  # the background behind the paper's round corners
            skip_system_fonts=True,  # the same picture on every machine
            font_files=[str(fonts / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")],
            sans_serif_family="DejaVu Sans",
        )
        frame = Image.open(BytesIO(png)).convert("RGB")
        method = Image.Quantize.MAXCOVERAGE  # keeps rare colours
        frames.append(frame.quantize(_GIF_COLORS, method, dither=Image.Dither.NONE))
        durations.append(round(shown * 1000))

    for k, moving in enumerate(film.moves):
        for step in range(_BETWEEN) if moving else ():
            for each in moving:
                each.at(step / _BETWEEN)
            add(k, MOVE_SECONDS / _BETWEEN)
        for each in moving:
            each.at(1)
        add(k, SECONDS - (MOVE_SECONDS if moving else 0))
    data = BytesIO()
    first, *others = frames
    first.save(
        data,
        format="GIF",
        save_all=True,
        append_images=others,
        duration=durations,
        loop=0,
    )
    return data.getvalue()


# --- What moves -----------------------------------------------------------------------------

# As in `js/moves.js`, which moves what is on a page.
MOVE_SECONDS = 0.3
"""How long a move takes."""

FALL, DROP = 70.0, -14.0
"""How far a truncated record falls, and how far away a new message starts, in the picture's
pixels."""

SLIDE, FALLING, APPEARING, ARRIVING = "slide", "fall", "appear", "arrive"

_START = re.compile(r"M(-?[\d.]+) (-?[\d.]+)")


@dataclass(frozen=True)
class Move:
    """A part that comes from (x, y), relative to its place, or that disappears there: it falls, or
    arrives."""

    element: ElementTree.Element
    kind: str
    x: float = 0
    y: float = 0

    def at(self, done: float) -> None:
        """Put the part where it is after this share of the move, from 0 to 1."""
        disappears = self.kind in (FALLING, ARRIVING)
        share = done if disappears else 1 - done
        self.element.set("transform", f"translate({self.x * share:.1f} {self.y * share:.1f})")
        if self.kind != SLIDE:
            self.element.set("opacity", f"{1 - share if disappears else done:.2f}")


def moves(before: ElementTree.Element, after: ElementTree.Element) -> list[Move]:
    """The moves when one picture follows another; parts that disappear are added to the second."""
    then, parts, found = _parts(before), _parts(after), []
    shift = _shift(then, parts)
    for name, now in parts.items():
        was, kind = then.get(name), now.get("data-kind")
        if kind == "gap" and was is not None and was.get("data-kind") == "record":
            found.append(Move(_gone(was, now), FALLING, 0, FALL))
        elif was is not None and was.get("data-kind") == kind:
            if kind != "record":  # which stays at its offset
                found += _slide(was, now, shift if kind == "mark" else 0)
        elif kind == "record":
            sources = _sources(now, then)
            found += [move for source in sources for move in _slide(source, now, shift)][:1]
        elif kind in ("message", "badge"):
            found.append(Move(now, APPEARING, 0, DROP))
        elif kind == "flight":
            found.append(Move(now, APPEARING, *map(float, now.get("data-from").split())))
    for name, was in then.items():
        if was.get("data-kind") == "flight" and name not in parts:
            to = map(float, was.get("data-to").split())
            found.append(Move(_gone(was, after), ARRIVING, *to))
    return found


def _gone(was: ElementTree.Element, parent: ElementTree.Element) -> ElementTree.Element:
    """A copy of what was in the picture before, in this one: not shown where nothing moves."""
    gone = deepcopy(was)
    gone.set("opacity", "0")
    for each in gone.iter():
        each.attrib.pop("data-part", None)  # it does not belong to this picture
    parent.append(gone)
    return gone


def _slide(was: ElementTree.Element, now: ElementTree.Element, shift: float = 0) -> Iterator[Move]:
    """The way from one place to the other; `shift` is that of the columns on which they stand."""
    start, end = _place(was), _place(now)
    if not start or not end:
        return
    x, y = start[0] + shift - end[0], start[1] - end[1]
    if max(abs(x), abs(y)) >= 1:
        yield Move(now, SLIDE, x, y)


def _shift(then: dict[str, ElementTree.Element], now: dict[str, ElementTree.Element]) -> float:
    """How far the columns of the records have moved, as where longer names are beside them."""
    for name, each in now.items():
        was = then.get(name)
        if was is not None and each.get("data-kind") == was.get("data-kind") == "record":
            return _place(each)[0] - _place(was)[0]
    return 0


def _sources(
    now: ElementTree.Element, then: dict[str, ElementTree.Element]
) -> Iterator[ElementTree.Element]:
    """Equal records at the same offset of other nodes, from which a new one was fetched."""
    kind, same = "record", now.get("data-same")
    for each in then.values():
        if (each.get("data-kind"), each.get("data-same")) != (kind, same):
            continue
        if each.get("data-lane") != now.get("data-lane"):
            yield each


def _parts(picture: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """The named parts of a picture; a name that occurs twice is left out."""
    named: dict[str, list[ElementTree.Element]] = {}
    for each in picture.iter():
        if name := each.get("data-part"):
            named.setdefault(name, []).append(each)
    return {name: each[0] for name, each in named.items() if len(each) == 1}


def _place(part: ElementTree.Element) -> tuple[float, float] | None:
    """The position of a part's first shape."""
    for each in part.iter():
        for x, y in (("x", "y"), ("x1", "y1"), ("cx", "cy")):
            if each.get(x) is not None:
                return float(each.get(x)), float(each.get(y))
        if start := _START.match(each.get("d", "")):
            return float(start[1]), float(start[2])
    return None


# --- Frames ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Film:
    """All frames, the moves at the beginning of each, and a size that fits all of them."""

    pictures: list[ElementTree.Element]
    captions: list[str]
    width: float
    height: float
    top: float
    moves: list[list[Move]]

    @classmethod
    def of(cls, pictures: Sequence[str], captions: Sequence[str]) -> "_Film":
        if len(pictures) != len(captions) or not pictures:
            raise LabError(
                f"An animation needs a caption for each picture; there are {len(pictures)} pictures"
                f" and {len(captions)} captions."
            )
        if len(pictures) > MOST_FRAMES:
            raise LabError(
                f"An animation shows up to {MOST_FRAMES} moments, but there are {len(pictures)}: go"
                " back to an earlier one."
            )
        drawn = [ElementTree.fromstring(each) for each in pictures]
        moving = [[], *(moves(before, after) for before, after in pairwise(drawn))]
        boxes = [each.get("viewBox", "").split() for each in drawn]
        width = max(float(box[2]) for box in boxes)
        lines = max(len(caption_lines(each, width - _BADGE)) for each in captions)
        top = _MARGIN + _LINE * max(lines, 2)
        height = top + max(float(box[3]) for box in boxes) + _MARGIN
        return cls(drawn, list(captions), width + 2 * _MARGIN, height, top, moving)

    def put(self, svg: Svg, k: int) -> None:
        """Draw the frame of this number, counted from 0."""
        most = self.width - 2 * _MARGIN
        lines = caption_lines(self.captions[k], most - _BADGE)
        put_caption(svg, _MARGIN, _MARGIN - 4, f"{k + 1} of {len(self.pictures)}", lines)
        place(svg, self.pictures[k], _MARGIN, self.top, most)


def _css(name: str, count: int, seconds: float) -> str:
    """Every frame is visible in one part of the film's time, which its delay chooses.

    Its moves happen at the beginning of that part, and have the same delay.
    """
    whole = count * seconds
    moved = f"{100 * MOVE_SECONDS / whole:.4f}%"
    away = "transform:translate(var(--x),var(--y))"
    frames = {
        SLIDE: f"0%{{{away}}}{moved},100%{{transform:none}}",
        APPEARING: f"0%{{opacity:0;{away}}}{moved},100%{{opacity:1;transform:none}}",
        FALLING: (gone := f"0%{{opacity:1;transform:none}}{moved},100%{{opacity:0;{away}}}"),
        ARRIVING: gone,
    }
    kinds = "".join(
        f"@keyframes {name}-{kind}{{{steps}}}"
        f".{name}-{kind}{{animation:{name}-{kind} {whole:g}s ease-in-out infinite}}"
        for kind, steps in frames.items()
    )
    every = ",".join([f".{name}", *(f".{name}-{kind}" for kind in frames)])
    return (
        f"@keyframes {name}{{0%{{visibility:visible}}{100 / count:.4f}%,100%"
        f"{{visibility:{'visible' if count == 1 else 'hidden'}}}}}"
        f".{name}{{animation:{name} {whole:g}s step-end infinite}}{kinds}"
        f"svg:hover :is({every}){{animation-play-state:paused}}"
        f"@media (prefers-reduced-motion:reduce){{{every}{{animation:none}}}}"
    )
