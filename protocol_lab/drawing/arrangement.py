"""How a picture uses its room: as in a file, or arranged anew for a screen of a given shape.

Specs' drawings know nothing of it. Who wants a picture for a screen draws inside `arranged(...)`;
`best` tries the arrangements and says which makes the type largest.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Arrangement:
    """`live`: close together, with names of its parts for movement, the legend apart.

    `below`: clients stand under the lanes, not beside them. `narrow`: records are narrow boxes.
    `aside`: messages are listed beside the lanes, not under them. `named`: the parts have names for
    movement also where the picture is not live, in a film.
    """

    live: bool = False
    below: bool = False
    narrow: bool = False
    aside: bool = False
    named: bool = False

    @property
    def has_names(self) -> bool:
        """Can the parts of the picture be followed from one to the next?"""
        return self.live or self.named


_IN_FILES = Arrangement()
IN_FILMS = Arrangement(named=True)
_CURRENT = ContextVar("arrangement", default=_IN_FILES)


def current() -> Arrangement:
    """The arrangement to draw in."""
    return _CURRENT.get()


@contextmanager
def arranged(arrangement: Arrangement) -> Iterator[None]:
    """Draw in this arrangement what is drawn meanwhile."""
    token = _CURRENT.set(arrangement)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def best(
    measure: Callable[[], tuple[float, float]], room: tuple[float, float]
) -> tuple[Arrangement, tuple[float, float]]:
    """The live arrangement in which a picture is largest in a room, and its size there.

    Where none fits at its own size, below which type can't be read, one that is as wide as the room
    is better than one that would have to be scrolled sideways. `measure()` gives the width and
    height of what is drawn in the current arrangement.
    """
    found = []
    for below, narrow, aside in product((False, True), repeat=3):
        arrangement = Arrangement(True, below, narrow, aside)
        with arranged(arrangement):
            size = measure()
        across, down = room[0] / size[0], room[1] / size[1]
        fits = min(across, down)
        rank = (1.0, fits) if fits >= 1 else (min(across, 1) - 1, down)
        found.append((rank, not aside, not below, not narrow, arrangement, size))
    *_, arrangement, size = max(found, key=lambda each: each[:4])
    return arrangement, size


def sized(in_files: float, on_screen: float) -> float:
    """A size that depends on where the picture stands: a screen's are closer together."""
    return on_screen if current().live else in_files


def small() -> float:
    """The size of the smallest words."""
    return sized(10, 11)


def tag() -> float:
    """The size of the type on tags."""
    return sized(9.5, 11)


def line_pitch() -> float:
    """The distance of two lines of text in a lane."""
    return sized(17, 16)


def lane_gap() -> float:
    """The distance of two lanes."""
    return sized(9, 4)
