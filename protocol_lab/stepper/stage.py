"""The cluster's picture, as large as its space allows, arranged for a whole walk."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from math import inf

from protocol_lab.drawing.arrangement import Arrangement, arranged, best, best_for_audience
from protocol_lab.drawing.pictures import moment_picture
from protocol_lab.traces.walk import Moment, Walk

_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_SAMPLED = 6
"""How many moments are drawn in each arrangement to choose one."""

_MEASURED = 60
"""How many are drawn to find a walk's largest picture; a larger one makes the stage grow."""

_MARGINS, _GAP = 50, 10
"""Pixels of the space's width that are beside and between pictures that are compared: padding and a
scrollbar, and a gap."""

Size = tuple[float, float]


class Stage:
    """Draws the moments of one walk for a space of this width and height, in pixels of the page.

    can_rearrange: a picture that has outgrown the space is arranged anew. Otherwise all pictures
    have the arrangement of the first, as recorded ones need it. for_audience: they are enlarged to
    fill the space.
    """

    def __init__(self, room: Size, can_rearrange: bool = False, for_audience: bool = False):
        self._room, self._can_rearrange = room, can_rearrange
        self._for_audience = for_audience
        self._arrangement: Arrangement | None = None
        self._size: Size = (1, 1)

    def draw(self, walk: Walk) -> dict[str, object]:
        """The picture, and the width and height that fit every picture of the walk."""
        if self._arrangement is None:
            self._arrange(walk)
        svg = self._picture(walk)
        outgrown = self._fits(self._size) and not self._fits(_size(svg))
        if self._can_rearrange and outgrown:
            self._arrange(walk)
            svg = self._picture(walk)
        self._size = _around(self._size, _size(svg))
        return {"svg": svg, "width": self._size[0], "height": self._size[1]}

    def for_two(self, pictures: Callable[[], Iterable[str]]) -> Arrangement:
        """How two pictures are arranged that are compared: beside each other, or below each other
        if that is too narrow to be read. They may be higher than the space, which is scrolled.

        `pictures()` draws them in the current arrangement.
        """

        def measure() -> Size:
            return reduce(_around, map(_size, pictures()))

        whole = self._room[0] - _MARGINS
        for width in ((whole - _GAP) / 2, whole):
            arrangement, size = best(measure, (width, inf))
            if size[0] <= width:
                break
        return arrangement

    def _arrange(self, walk: Walk) -> None:
        """Choose by some moments, and by those that turn out to be the largest; the size is that of
        all, so that there is one scale for the walk as far as it goes."""
        few, every = _sample(walk, _SAMPLED), _sample(walk, _MEASURED)
        while True:
            if self._for_audience:
                self._arrangement = best_for_audience(partial(_sizes, walk, few), self._room)
            else:
                self._arrangement, _ = best(partial(_largest, walk, few), self._room)
            with arranged(self._arrangement):
                sizes = {each: _size(moment_picture(walk.model, each)) for each in every}
            self._size = reduce(_around, sizes.values())
            outgrown = {max(every, key=lambda each: sizes[each][k]) for k in (0, 1)} - {*few}
            if self._fits(self._size) or not outgrown:
                return
            few += outgrown

    def _picture(self, walk: Walk) -> str:
        with arranged(self._arrangement):
            return moment_picture(walk.model, walk.moment)

    def _fits(self, size: Size) -> bool:
        """Does a picture of this size fit the space, at the scale of an audience's?"""
        scale = self._room[0] / self._arrangement.width if self._for_audience else 1
        return size[0] * scale <= self._room[0] and size[1] * scale <= self._room[1]


def _sample(walk: Walk, about: int) -> list[Moment]:
    """The moment shown, the last one, and some in between, about so many in all."""
    path = walk.path
    every = max(1, len(path) // (about - 2))
    return list(dict.fromkeys([walk.moment, path[-1], *path[::every]]))


def _largest(walk: Walk, moments: list[Moment]) -> Size:
    return reduce(_around, _sizes(walk, moments))


def _sizes(walk: Walk, moments: list[Moment]) -> Iterator[Size]:
    """The sizes of the pictures, those that were added last first: they are the largest."""
    return (_size(moment_picture(walk.model, each)) for each in reversed(moments))


def _around(one: Size, other: Size) -> Size:
    return max(one[0], other[0]), max(one[1], other[1])


def _size(svg: str) -> Size:
    width, height = _SIZE.search(svg).groups()
    return int(width), int(height)
