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
    """

    live: bool = False
    below: bool = False
    narrow: bool = False


_IN_FILES = Arrangement()
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

    `measure()` gives the width and height of what is drawn in the current arrangement.
    """
    found = []
    for below, narrow in product((False, True), repeat=2):
        arrangement = Arrangement(True, below, narrow)
        with arranged(arrangement):
            size = measure()
        scale = min(room[0] / size[0], room[1] / size[1])
        found.append((scale, not below, not narrow, arrangement, size))
    *_, arrangement, size = max(found, key=lambda each: each[:3])
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
    return sized(9, 5)
