"""Arrangements of a picture: one for files, and several to fit a screen of any shape.

Specs' drawings need not know of it. A picture for a screen is drawn inside `arranged(...)`; `best`
tries the arrangements and finds the one with the largest type.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import product


@dataclass(frozen=True)
class Arrangement:
    """How a picture is arranged; the defaults are those for a file.

    `live`: for a screen: close together, its parts named for movement, the legend separate.
    `below`: clients stand under the lanes, not beside them. `narrow`: records are narrow boxes.
    `aside`: messages are listed beside the lanes, not under them. `few_messages`: of those on
    their way only as many are shown as fit the width. `stacked`: a lane's lines stand above its
    log, not beside it, as on a phone. `width`: the least width of the picture, in pixels. `dense`:
    short lines of nodes and clients share a line. `listed`: of a group of messages at most so many
    are listed, the others are counted; 0 leaves it to the specification. `large`: for an audience:
    dense, and no type is smaller than the words of a lane. `bars`: the bars of values above the
    lanes are drawn. `box`: the width of a record's box, in pixels; 0 leaves it to the picture.
    `cards` and `taller`: pixels by which clients' cards are wider, and lanes higher, than their
    content needs. `still`: the arrangement is that for a screen, and no part moves, as in a saved
    notebook. `alarms`: the picture says which promises are broken, though nothing around it does.
    """

    live: bool = False
    below: bool = False
    narrow: bool = False
    aside: bool = False
    few_messages: bool = False
    stacked: bool = False
    width: float = 0
    dense: bool = False
    listed: int = 0
    large: bool = False
    bars: bool = True
    box: float = 0
    cards: float = 0
    taller: float = 0
    still: bool = False
    alarms: bool = False

    @property
    def has_names(self) -> bool:
        """Is this one of a walk's pictures, which are seen one after the other?"""
        return self.live

    @property
    def moves(self) -> bool:
        """Have the parts names by which they can be found in the next picture?"""
        return self.has_names and not self.still


_IN_FILES = Arrangement()
_CURRENT = ContextVar("arrangement", default=_IN_FILES)


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


def best(measure: Callable[[], Size], room: Size) -> tuple[Arrangement, Size]:
    """The plainest live arrangement in which a picture has type that is large enough within a width
    and height, or else the largest; and its size there.

    If none fits at its own size, below which type can't be read, those that leave room beside them
    are tried as wide as the room, so that bars have fewer lines; then those with fewer messages;
    then, in a room that is only too low, or nearly wide enough, dense ones, and those that count
    most messages; then the stacked one. One that fits the width is better than one that has to be
    scrolled sideways.
    `measure()` gives the picture's width and height in the current arrangement.
    """
    found: list[_Measured] = []

    def try_out(arrangements: Iterable[Arrangement]) -> bool:
        found.extend([_measured(each, measure, room) for each in arrangements])
        return any(each.fits for each in found)

    shapes = [Arrangement(True, *shape) for shape in product((False, True), repeat=3)]
    dense = [
        Arrangement(True, below, True, aside, few_messages=True, width=room[0], dense=True)
        for below, aside in product((False, True), repeat=2)
    ]
    if not try_out(shapes):
        wider = [replace(each.arrangement, width=room[0]) for each in found if each.across > 1]
        few = [
            Arrangement(True, False, narrow, aside, few_messages=True, width=room[0])
            for narrow, aside in product((False, True), repeat=2)
        ]
        stacked = Arrangement(True, below=True, narrow=True, stacked=True, width=room[0])
        if not (try_out(wider) or try_out(few)):
            is_nearly_wide = any(each.across >= _NEARLY for each in found)
            lower = [[replace(each, listed=k) for each in dense] for k in (0, 3, 1)]
            any(map(try_out, lower if is_nearly_wide else [])) or try_out([stacked])
    chosen = max(found, key=lambda each: each.rank)
    return chosen.arrangement, chosen.size


FROM_THE_LAST_ROW = 0.035
"""The smallest type that can be read there, of the height of the picture's room: 20 px of 580."""

_STEP = 1.03

_SCALES = [_STEP**k for k in range(20, -28, -1)]
"""The scales that are tried, the largest first: 1 makes the smallest type just large enough."""

_SHAPES = [(False, *each) for each in product((False, True), repeat=3)] + [
    (True, True, True, False)
]
"""Is it stacked, narrow, are clients below, messages aside? The plainest shape is the first."""

_LISTED = (8, 6, 4, 3, 2, 1)
"""How many messages of a group are listed if all of them would make the type too small."""


def best_for_audience(sizes: Callable[[], Iterable[Size]], room: Size) -> Arrangement:
    """The arrangement in which the type is largest when the pictures fill a width and height.

    An enlarged picture has fewer units in the room, so that it is arranged anew for each scale. If
    its type could not be read from the last row, messages are counted rather than listed, as few as
    needed. `sizes()` gives the pictures' sizes in the current arrangement.
    """
    enough = FROM_THE_LAST_ROW * room[1] / LEAST
    scales = [enough * each for each in _SCALES]
    chosen = _for_audience(room, scales[-1], 1, False, False, False, False)
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
    for stacked, narrow, below, aside in _SHAPES:
        each = _for_audience(room, scale, listed, stacked, narrow, below, aside)
        with arranged(each):
            if all(size[0] <= each.width and size[1] * scale <= room[1] for size in sizes()):
                return each
    return None


def _for_audience(
    room: Size, scale: float, listed: int, stacked: bool, narrow: bool, below: bool, aside: bool
) -> Arrangement:
    return Arrangement(
        True,
        below,
        narrow,
        aside,
        few_messages=True,
        stacked=stacked,
        width=room[0] // scale,
        dense=True,
        listed=listed,
        large=True,
    )


@dataclass(frozen=True)
class _Measured:
    """An arrangement, the size of the picture in it, and how many times that size fits the room."""

    arrangement: Arrangement
    size: tuple[float, float]
    across: float
    down: float

    @property
    def fits(self) -> bool:
        return min(self.across, self.down) >= 1

    @property
    def rank(self) -> tuple:
        each, scale = self.arrangement, min(self.across, self.down)
        plainer = not each.few_messages, not each.aside, not each.below, not each.narrow
        if not self.fits:
            return min(self.across, 1) - 1, self.down, plainer
        return 1.0, min(scale, _ENOUGH), plainer, scale


def _measured(
    arrangement: Arrangement, measure: Callable[[], tuple[float, float]], room: tuple[float, float]
) -> _Measured:
    with arranged(arrangement):
        width, height = measure()
    return _Measured(arrangement, (width, height), room[0] / width, room[1] / height)


def sized(in_files: float, on_screen: float) -> float:
    """One of two sizes: for a file, or the smaller one for a screen."""
    return on_screen if current().live else in_files


def unscaled(otherwise: float, on_screen: float) -> float:
    """One of two sizes: for a screen on which the picture is not enlarged, or otherwise."""
    return on_screen if current().live and not current().large else otherwise


LEAST = 12
"""The smallest type for an audience, whose picture is enlarged."""

LEAST_ON_SCREEN = 13
"""The smallest type on a screen, where there is room."""


def legible(size: float) -> float:
    """A size of type, or the smallest one where it is read if that is larger."""
    return max(size, unscaled(LEAST, LEAST_ON_SCREEN)) if current().live else size


def plain() -> float:
    """The size of what is not set off."""
    return legible(12)


def small() -> float:
    """The size of the smallest words."""
    return legible(10)


def tag() -> float:
    """The size of the type on tags."""
    return legible(9.5)


def line_pitch() -> float:
    """The distance of two lines of text in a lane."""
    on_screen = 15 if current().dense else 16
    return sized(17, on_screen + min(3, current().taller / 8))


def lane_gap() -> float:
    """The distance of two lanes."""
    return 2 if current().dense else sized(9, 4)
