"""What moves between two pictures of a walk: the difference of their named parts.

`js/moves.js` of the stepper does the same with what is on a page; here it is for films.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from xml.etree.ElementTree import Element

SECONDS = 0.3
"""How long a move takes."""

FALL, DROP = 70.0, -14.0
"""How far a truncated record falls, and from where a new message comes, in the picture's pixels."""

SLIDE, FALLING, APPEARING = "slide", "fall", "appear"

_START = re.compile(r"M(-?[\d.]+) (-?[\d.]+)")


@dataclass(frozen=True)
class Move:
    """A part that comes from (x, y), relative to where it stands, or falls and is gone."""

    element: Element
    kind: str
    x: float = 0
    y: float = 0

    def at(self, done: float) -> None:
        """Put the part where it is when this share of the move is done, from 0 to 1."""
        left, fading = 1 - done, self.kind != SLIDE
        x, y = (0, FALL * done) if self.kind == FALLING else (self.x * left, self.y * left)
        self.element.set("transform", f"translate({x:.1f} {y:.1f})")
        if fading:
            self.element.set("opacity", f"{left if self.kind == FALLING else done:.2f}")


def moves(before: Element, after: Element) -> list[Move]:
    """What moves when one picture follows another; what falls is added to the second one."""
    then, found = _parts(before), []
    for name, now in _parts(after).items():
        was, kind = then.get(name), now.get("data-kind")
        if kind == "gap" and was is not None and was.get("data-kind") == "record":
            gone = deepcopy(was)
            gone.set("opacity", "0")  # where nothing moves it is gone
            for each in gone.iter():
                each.attrib.pop("data-part", None)  # it is no part of this picture
            now.append(gone)
            found.append(Move(gone, FALLING))
        elif was is not None and was.get("data-kind") == kind:
            found += _slide(was, now)
        elif kind == "record":
            found += [move for source in _sources(now, then) for move in _slide(source, now)][:1]
        elif kind == "message":
            found.append(Move(now, APPEARING, 0, DROP))
        elif kind == "flight":
            found.append(Move(now, APPEARING, 0, float(now.get("data-from", 0))))
    return found


def _slide(was: Element, now: Element) -> Iterator[Move]:
    start, end = _place(was), _place(now)
    if start and end and max(abs(start[0] - end[0]), abs(start[1] - end[1])) >= 1:
        yield Move(now, SLIDE, start[0] - end[0], start[1] - end[1])


def _sources(now: Element, then: dict[str, Element]) -> Iterator[Element]:
    """Equal records at the same offset of other nodes, from which a new one was fetched."""
    for each in then.values():
        is_equal = each.get("data-kind") == "record" and each.get("data-same") == now.get(
            "data-same"
        )
        if is_equal and each.get("data-lane") != now.get("data-lane"):
            yield each


def _parts(picture: Element) -> dict[str, Element]:
    """The named parts of a picture; a name that stands twice names nothing."""
    named: dict[str, list[Element]] = {}
    for each in picture.iter():
        if name := each.get("data-part"):
            named.setdefault(name, []).append(each)
    return {name: each[0] for name, each in named.items() if len(each) == 1}


def _place(part: Element) -> tuple[float, float] | None:
    """Where the first shape of a part begins."""
    for each in part.iter():
        for x, y in (("x", "y"), ("x1", "y1"), ("cx", "cy")):
            if each.get(x) is not None:
                return float(each.get(x)), float(each.get(y))
        if start := _START.match(each.get("d", "")):
            return float(start[1]), float(start[2])
    return None
