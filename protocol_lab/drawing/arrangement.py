"""Arrangements of a picture: for a file, for a screen, or for an audience.

Their measures are in one table. How a picture uses its room is found by trying: `best` for a file
and a screen, `best_for_audience` where pictures are enlarged. Specs' drawings need not know of it:
a picture is drawn inside `arranged(...)`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import product


@dataclass(frozen=True)
class Measures:
    """The sizes of a picture's parts, in its own pixels."""

    type: float  # the smallest
    name: float  # the type of a node's name
    label: float  # the type of a record's label, which is larger in a wide box
    line: float  # from one line of text to the next
    narrow: float  # the width of a narrow record
    record: float  # the height of a record, or of a message in a list
    above: float  # from the top of a lane to its records
    gap: float  # between two lanes
    bar: float  # the height of a row of values
    tag: float  # the height of a tag
    pill: float  # the height of a line in a message on its way


_ON_SCREEN = Measures(13, 16, 14, 16, 60, 44, 11, 4, 26, 16, 16)
_DENSE = replace(_ON_SCREEN, line=15, record=38, above=10, gap=2, bar=20)
_ENLARGED = Measures(12, 14, 12.5, 15, 54, 34, 9, 2, 20, 14, 14)


@dataclass(frozen=True)
class Arrangement:
    """What a picture is drawn for, and how it uses its room.

    `purpose`: in a "file" nothing moves; on a "screen" the parts have names by which the next
    picture finds them; for an "audience" the picture is enlarged, and so dense. `alarms`: the
    picture says which promises are broken; otherwise what is around it does.

    The others are found by trying. `below`: clients stand under the lanes, not beside them.
    `narrow`: records are narrow boxes. `few_messages`: of those on their way only as many are shown
    as fit the width. `stacked`: a lane's lines stand above its log, not beside it, as on a phone.
    `width`: the least width, in pixels. `dense`: short lines of nodes and clients share a line.
    `listed`: of a group of messages at most so many are listed, the others are counted; 0 leaves it
    to the specification. `box`: the width of a record, in pixels; 0 leaves it to the picture.
    `taller`: pixels by which lanes are higher than their content needs. `bars`: values stand above
    the lanes.
    """

    purpose: str = "file"
    below: bool = False
    narrow: bool = False
    few_messages: bool = False
    stacked: bool = False
    width: float = 0
    dense: bool = False
    listed: int = 0
    box: float = 0
    taller: float = 0
    bars: bool = True
    alarms: bool = True

    @property
    def moves(self) -> bool:
        """Have the parts names by which they can be found in the next picture?"""
        return self.purpose != "file"

    @property
    def large(self) -> bool:
        """Is the picture enlarged?"""
        return self.purpose == "audience"


FILE = Arrangement()
SCREEN = Arrangement("screen", alarms=False)
AUDIENCE = Arrangement("audience", few_messages=True, dense=True, alarms=False)

_CURRENT = ContextVar("arrangement", default=FILE)


def current() -> Arrangement:
    """The current arrangement."""
    return _CURRENT.get()


@contextmanager
def arranged(arrangement: Arrangement) -> Iterator[None]:
    """A context in which everything is drawn in this arrangement."""
    token = _CURRENT.set(arrangement)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def measures() -> Measures:
    """Those of the current arrangement."""
    return _ENLARGED if current().large else _DENSE if current().dense else _ON_SCREEN


LEAST = _ENLARGED.type
"""The smallest type for an audience, in a picture that is enlarged."""

LEAST_ON_SCREEN = _ON_SCREEN.type
"""The smallest type on a screen, where there is room."""


def type_size() -> float:
    """The size of all words that are not set off: the smallest that can be read there."""
    return measures().type


@dataclass
class Places:
    """The room that each part of a walk's pictures has: as much as the largest of its kind has
    needed so far, so that no part moves from picture to picture.

    down: not only widths, but heights too, which takes more room.
    """

    down: bool = True
    rooms: dict[tuple, float] = field(default_factory=dict)

    def room(self, part: str, size: float) -> float:
        """The room of a part that needs this size now."""
        at = current()
        key = at.dense, at.large, at.stacked, part
        self.rooms[key] = max(size, self.rooms.get(key, 0))
        return self.rooms[key]

    def copy(self) -> "Places":
        """The same rooms, for pictures that are only tried."""
        return Places(self.down, dict(self.rooms))


_PLACES: ContextVar[Places | None] = ContextVar("places", default=None)


@contextmanager
def keeping(places: Places | None) -> Iterator[None]:
    """A context in which the parts of all pictures keep these places; None: they don't."""
    token = _PLACES.set(places)
    try:
        yield
    finally:
        _PLACES.reset(token)


def kept_width(part: str, width: float) -> float:
    """The width of a part that needs this much, or of its place."""
    places = _PLACES.get()
    return width if places is None else places.room(part, width)


def kept_height(part: str, height: float) -> float:
    """The height of a part that needs this much (or its number of lines), or of its place."""
    places = _PLACES.get()
    return height if places is None or not places.down else places.room(part, height)


Size = tuple[float, float]

_ENOUGH = 1.1
"""The scale from which a plainer picture is better than larger type."""

_NEARLY = 0.85
"""Of the room's width, what a picture that is too wide may have to be made narrower."""


def best(sizes: Callable[[], Iterable[Size]], room: Size, of: Arrangement) -> Arrangement:
    """The plainest shape of an arrangement in which pictures have type that is large enough within
    a width and height, or else the largest.

    If none fits at its own size, below which type can't be read, those that leave room beside them
    are tried as wide as the room, so that bars have fewer lines; then those with fewer messages;
    then, in a room that is only too low, or nearly wide enough, dense ones, and those that count
    most messages; then the stacked one. One that fits the width is better than one that has to be
    scrolled sideways. `sizes()` gives the pictures' sizes in the current arrangement.
    """
    found: list[_Measured] = []
    shapes = [
        replace(of, below=below, narrow=narrow)
        for below, narrow in product((False, True), repeat=2)
    ]

    def try_out(arrangements: Iterable[Arrangement]) -> bool:
        found.extend([_Measured.of(each, sizes, room) for each in arrangements])
        return any(each.fits for each in found)

    def chosen() -> Arrangement:
        return max(found, key=lambda each: each.rank).arrangement

    if try_out(shapes):
        return chosen()
    whole = [replace(each, width=room[0]) for each in shapes]
    few = [replace(each, few_messages=True) for each in whole]
    wider = [each for each, tried in zip(whole, found) if tried.across > 1]
    if try_out(wider) or try_out(each for each in few if not each.below):
        return chosen()
    dense = [replace(each, dense=True) for each in few if each.narrow]
    is_nearly_wide = any(each.across >= _NEARLY for each in found)
    for listed in (0, 3, 1) if is_nearly_wide else ():
        if try_out(replace(each, listed=listed) for each in dense):
            return chosen()
    try_out([replace(of, below=True, narrow=True, stacked=True, width=room[0])])
    return chosen()


FROM_THE_LAST_ROW = 0.035
"""The smallest type that can be read there, of the height of the picture's room: 20 px of 580."""

_STEP = 1.03

_SCALES = [_STEP**k for k in range(20, -28, -1)]
"""The scales that are tried, the largest first: 1 makes the smallest type just large enough."""

_LISTED = (8, 6, 4, 3, 2, 1)
"""How many messages of a group are listed if all of them would make the type too small."""

_ENLARGED_SHAPES = [
    replace(AUDIENCE, narrow=narrow, below=below)
    for narrow, below in product((False, True), repeat=2)
] + [replace(AUDIENCE, narrow=True, below=True, stacked=True)]
"""The plainest is the first."""


def best_for_audience(sizes: Callable[[], Iterable[Size]], room: Size) -> Arrangement:
    """The arrangement in which the type is largest when the pictures fill a width and height.

    An enlarged picture has fewer units in the room, so that it is arranged anew for each scale. If
    its type could not be read from the last row, messages are counted rather than listed, as few as
    needed. `sizes()` gives the pictures' sizes in the current arrangement.
    """
    enough = FROM_THE_LAST_ROW * room[1] / LEAST
    scales = [enough * each for each in _SCALES]
    chosen = replace(AUDIENCE, width=room[0] // scales[-1], listed=1)
    for listed in (0, *_LISTED):
        low, high = 0, len(scales)  # the largest scale at which something fits is one of these
        while low < high:
            middle = (low + high) // 2
            if fitting := _fitting(sizes, room, scales[middle], listed):
                chosen, high = fitting, middle
            else:
                low = middle + 1
        if scales[high:] and scales[high] >= enough:
            break
        scales = [each for each in scales[:high] if each < enough * _STEP]
    return chosen


def _fitting(
    sizes: Callable[[], Iterable[Size]], room: Size, scale: float, listed: int
) -> Arrangement | None:
    """The plainest arrangement in which all pictures fit a room at a scale, if there is one."""
    for shape in _ENLARGED_SHAPES:
        each = replace(shape, width=room[0] // scale, listed=listed)
        with arranged(each):
            if all(size[0] <= each.width and size[1] * scale <= room[1] for size in sizes()):
                return each
    return None


@dataclass(frozen=True)
class _Measured:
    """An arrangement, and how many times the largest picture in it fits the room."""

    arrangement: Arrangement
    across: float
    down: float

    @classmethod
    def of(
        cls, arrangement: Arrangement, sizes: Callable[[], Iterable[Size]], room: Size
    ) -> "_Measured":
        with arranged(arrangement):
            width, height = map(max, zip(*sizes()))
        return cls(arrangement, room[0] / width, room[1] / height)

    @property
    def fits(self) -> bool:
        return min(self.across, self.down) >= 1

    @property
    def rank(self) -> tuple:
        each, scale = self.arrangement, min(self.across, self.down)
        plainer = not each.few_messages, not each.below, not each.narrow
        if not self.fits:
            return min(self.across, 1) - 1, self.down, plainer
        return 1.0, min(scale, _ENOUGH), plainer, scale
