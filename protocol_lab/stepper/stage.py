"""The cluster's picture, as large as its space allows, arranged for a whole walk."""

from bisect import bisect_left
from dataclasses import replace
from functools import partial

from protocol_lab.drawing.arrangement import (
    FROM_THE_LAST_ROW,
    LEAST,
    SCREEN,
    Arrangement,
    Places,
    arranged,
    best,
    best_for_audience,
    keeping,
)
from protocol_lab.drawing.pictures import moment_picture, size_of
from protocol_lab.model.evaluation import keeping_results
from protocol_lab.traces.walk import Moment, Walk

_MEASURED = 60
"""How many moments are drawn to find a walk's largest pictures, by which the arrangement is chosen;
a larger one makes the stage grow."""

_SHORT = 20
"""Up to so many moments an arrangement is looked for in which all parts keep their places."""

_WIDE, _LARGEST = 1000, 1.5
"""The width of a room from which type grows with it, and the scale at which it is large enough:
otherwise the records and lanes grow alone."""

_BOXES = range(160, 60, -1)
_TALLER = range(200, -1, -1)
"""In pixels, the widths of records, and what is added to the heights of lanes."""

Size = tuple[float, float]


class Stage:
    """Draws the moments of one walk for a space of this width and height, in pixels of the page.

    A picture that has outgrown the space is arranged anew. for_audience: they are enlarged to fill
    the space.
    """

    def __init__(self, room: Size, for_audience: bool = False):
        self.room, self._for_audience = room, for_audience
        self._arrangement: Arrangement | None = None
        self._places: Places | None = None
        self._size: Size = (1, 1)

    def draw(self, walk: Walk) -> dict[str, object]:
        """The picture, and the width and height that fit every picture of the walk."""
        with keeping_results():  # the same states are drawn in every arrangement
            if self._arrangement is None:
                self._arrange(walk)
            svg = self._picture(walk)
            outgrown = self._fits(self._size) and not self._fits(size_of(svg))
            if outgrown:
                self._arrange(walk)
                svg = self._picture(walk)
        self._size = _around(self._size, size_of(svg))
        return {"svg": svg, "width": self._size[0], "height": self._size[1]}

    def _arrange(self, walk: Walk) -> None:
        """Choose an arrangement for the walk, in which its parts keep their places if they can, and
        fill the room that it leaves."""
        every = _sample(walk, _MEASURED)
        self._places = None
        few = self._choose(walk, every)
        if self._can_be_read():
            self._keep_places(walk, every)
        self._fill_room(walk, list(dict.fromkeys([*reversed(few), *every])))

    def _keep_places(self, walk: Walk, every: list[Moment]) -> None:
        """Let the parts keep their places for the whole walk, or else their widths, if the pictures
        still fit and can be read then."""
        chosen = self._arrangement, self._size
        for self._places in (Places(), Places(down=False)):
            self._arrangement, self._size = chosen
            self._measure_twice(walk, every)
            if not self._can_be_read() and len(every) <= _SHORT:
                with keeping(self._places):
                    self._choose(walk, every)
            if self._can_be_read():
                return
        self._places = None
        self._arrangement, self._size = chosen

    def _can_be_read(self) -> bool:
        """Is no type too small, and nothing left out?"""
        if self._arrangement.listed:
            return False
        if not self._for_audience:
            return self._fits(self._size)
        scale = min(room / own for room, own in zip(self.room, self._size))
        return LEAST * scale >= FROM_THE_LAST_ROW * self.room[1]

    def _choose(self, walk: Walk, every: list[Moment]) -> list[Moment]:
        """Choose by the moments that turn out to be the largest, which are returned; the size is
        that of all, so that there is one scale for the walk as far as it goes."""
        few = _largest_of(every, _measured(walk, every, SCREEN))
        while True:
            sizes_of_few = partial(self._tried_sizes, walk, few)
            if self._for_audience:
                self._arrangement = best_for_audience(sizes_of_few, self.room)
            else:  # for type of full size; if none fits the space, it is scrolled
                self._arrangement = best(sizes_of_few, self.room, SCREEN)
            sizes = _measured(walk, every, self._arrangement)
            self._size = _around(*sizes.values())
            outgrown = [each for each in _largest_of(every, sizes) if each not in few]
            if self._fits(self._size) or not outgrown:
                return few + _largest_of(every, sizes)
            few += outgrown

    def _tried_sizes(self, walk: Walk, few: list[Moment]) -> list[Size]:
        """The sizes in an arrangement that is only tried, which leaves no rooms behind; those of
        the moments that were added last come first: they are the largest."""
        with keeping(self._places and self._places.copy()):
            return [size_of(moment_picture(walk.model, each)) for each in reversed(few)]

    def _units(self, scale: float) -> Size:
        """The room in the picture's own pixels at a scale."""
        return self.room[0] / scale, self.room[1] / scale

    def _fill_room(self, walk: Walk, moments: list[Moment]) -> None:
        """Make records wider and lanes higher, as far as all pictures still fit at their scale."""
        at = self._arrangement
        if self._for_audience:
            scale = self.room[0] / at.width
        else:
            most = min(_LARGEST, max(1, self.room[0] / _WIDE))
            scale = max(1, min(most, *(room / own for room, own in zip(self.room, self._size))))
        width, height = self._units(scale)

        def fits(each: Arrangement) -> bool:
            with arranged(each), keeping(self._places and self._places.copy()):
                # The largest again, in the rooms that the others need.
                drawn = (moment_picture(walk.model, at) for at in [*moments, *moments[:2]])
                return all(size[0] <= width and size[1] <= height for size in map(size_of, drawn))

        def largest(at: Arrangement, part: str, sizes: range) -> Arrangement:
            """The first of some sizes at which all pictures fit, or the arrangement as it is."""
            ordered = [replace(at, **{part: each}) for each in sizes]
            first = bisect_left(ordered, True, key=fits)
            return ordered[first] if first < len(ordered) else at

        if fits(wide := replace(at, width=width // 1)):
            at = wide
        if not at.stacked:  # first, since in higher lanes more messages have room
            shown = largest(replace(at, few_messages=False), "taller", _TALLER)
            at = shown if not at.few_messages or fits(shown) else largest(at, "taller", _TALLER)
        at = largest(at, "box", _BOXES)
        self._arrangement = at
        self._measure_twice(walk, moments)

    def _measure_twice(self, walk: Walk, moments: list[Moment]) -> None:
        """Take the size that all these moments need; the first time notes the parts' rooms."""
        with keeping(self._places):
            for _ in range(2):
                sizes = _measured(walk, moments, self._arrangement)
        self._size = _around(*sizes.values())

    def _picture(self, walk: Walk) -> str:
        with arranged(self._arrangement), keeping(self._places):
            return moment_picture(walk.model, walk.moment)

    def _fits(self, size: Size) -> bool:
        """Does a picture of this size fit the space, at an audience's scale or at its own?"""
        if self._for_audience:
            width, height = self._units(self.room[0] / self._arrangement.width)
        else:
            width, height = self.room
        return size[0] <= width and size[1] <= height


def _sample(walk: Walk, about: int) -> list[Moment]:
    """The moment shown, the last one, and some in between, about so many in all."""
    path = walk.path
    every = max(1, len(path) // (about - 2))
    return list(dict.fromkeys([walk.moment, path[-1], *path[::every]]))


def _measured(walk: Walk, moments: list[Moment], at: Arrangement) -> dict[Moment, Size]:
    with arranged(at):
        return {each: size_of(moment_picture(walk.model, each)) for each in moments}


def _largest_of(moments: list[Moment], sizes: dict[Moment, Size]) -> list[Moment]:
    """The widest and the highest of them."""
    return list(dict.fromkeys(max(moments, key=lambda each: sizes[each][k]) for k in (0, 1)))


def _around(*sizes: Size) -> Size:
    width, height = map(max, zip(*sizes))
    return width, height
