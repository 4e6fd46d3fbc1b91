"""Draws messages in flight as arrows between lanes, and links that are down.

Each is on a vertical track: an arrow from the middle of the sender's lane to the middle of the
receiver's, with its label halfway. Two share a track if one ends at the lane where the other
begins. Messages for which there is no room are not drawn here: the list of messages has all of
them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, sized, small, unscaled
from protocol_lab.drawing.cluster import Cluster, CutLink, Message
from protocol_lab.drawing.svg import Svg, text_width

ROOM = 400
"""The most that all tracks together may take; many messages are left to the list."""

ROOM_ON_SCREEN = 240
"""The same where the list is beside the picture or close below it."""

PAD = 7
FROM_MIDDLE = 12  # so that arrows which share a track do not touch


@dataclass
class Track:
    """Messages and links that are drawn above each other, since they have no stretch in common."""

    width: float
    items: list[Message | CutLink] = field(default_factory=list)

    def has_room(self, item: Message | CutLink) -> bool:
        """Does everything here begin where the item ends or later, or the other way round?"""
        low, high = sorted(_lanes(item))
        return all(high <= min(_lanes(each)) or max(_lanes(each)) <= low for each in self.items)


@dataclass(frozen=True)
class Tracks:
    """All tracks, from left to right."""

    tracks: list[Track]

    @property
    def width(self) -> float:
        return sum(track.width for track in self.tracks)


def tracks_of(cluster: Cluster, room: float = inf) -> Tracks:
    """The tracks of all broken links, and of as many messages as there is room for, in pixels.

    Messages that are new come before others, and those without an effect come last.
    """
    room = min(room, sized(ROOM, ROOM_ON_SCREEN))
    messages = [each for group in cluster.messages for each in group.items if each.ends]
    messages.sort(key=lambda each: (each.faded, each.mark != "new"))
    tracks: list[Track] = []
    for item in [*cluster.cut_links, *messages]:
        width = _width(item)
        free = next((each for each in tracks if each.has_room(item)), None)
        used = sum(each.width for each in tracks)
        if free is None and used + width <= room:
            free = Track(width)
            tracks.append(free)
        elif free is not None and used + width - free.width > room:
            continue
        if free is not None:
            free.items.append(item)
            free.width = max(free.width, width)
    return Tracks(tracks)


def draw_tracks(svg: Svg, tracks: Tracks, left: float, middles: list[float]) -> None:
    """Draw them from `left` on; `middles` are the heights of the lanes' middles."""
    for track in tracks.tracks:
        x = left + track.width / 2
        for item in track.items:
            start, stop = (middles[lane] for lane in _lanes(item))
            down = 1 if stop > start else -1
            start, stop = start + down * FROM_MIDDLE, stop - down * FROM_MIDDLE
            if isinstance(item, CutLink):
                _draw_cut_link(svg, item, x, start, stop)
            else:
                _draw_message(svg, item, x, start, stop)
        left += track.width


def _lanes(item: Message | CutLink) -> tuple[int, int]:
    return item.lanes if isinstance(item, CutLink) else item.ends or (0, 0)


def _width(item: Message | CutLink) -> float:
    return max(text_width(line, small(), bold=True) for line in _label(item)) + 2 * PAD


def _label(item: Message | CutLink) -> list[str]:
    if isinstance(item, CutLink):
        return ["link", "down"]
    return [item.short or item.name, *([item.mark] if item.mark else [])]


def _draw_message(svg: Svg, item: Message, x: float, start: float, stop: float) -> None:
    tone = palette.MUTED if item.faded else palette.ACCENT
    dashes = {"stroke_dasharray": "2 4"} if item.faded else {}
    down = 1 if stop > start else -1
    svg.open_group(" ".join(filter(None, [item.name, item.detail, item.mark])))
    svg.circle(x, start, 3.5, fill=tone)
    svg.line(x, start, x, stop - 8 * down, stroke=tone, stroke_width=1.8, **dashes)
    head = f"M{x:.1f} {stop:.1f}l-5 {-9 * down}h10z"
    svg.path(head, fill=tone)
    if current().has_names:  # in films its label moves from the sender to its place
        begin = f"{start - (start + stop) / 2:.1f}"
        name = f"flight {item.name} {item.detail} {item.ends}"
        svg.open_part(name, kind="flight", **{"from": begin})
    _draw_label(svg, item, x, (start + stop) / 2, tone)
    if current().has_names:
        svg.close_group()
    svg.close_group()


def _draw_cut_link(svg: Svg, item: CutLink, x: float, start: float, stop: float) -> None:
    ends = sorted((start, stop))
    tone = sized(palette.BAD, palette.MUTED)
    svg.open_group(f"this link is down {item.mark}".strip())
    svg.line(x, ends[0], x, ends[1], stroke=tone, stroke_width=1.8, stroke_dasharray="5 4")
    for y in _crosses(*ends):
        svg.path(f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8", stroke=tone, stroke_width=2)
    _draw_label(svg, item, x, sum(ends) / 2, tone)
    svg.close_group()


def _crosses(top: float, bottom: float) -> Iterator[float]:
    """Halfway between each end and the label."""
    middle = (top + bottom) / 2
    yield (top + middle - _line_height()) / 2
    yield (bottom + middle + _line_height()) / 2


def _line_height() -> float:
    return unscaled(13, 15)


def _draw_label(svg: Svg, item: Message | CutLink, x: float, y: float, tone: str) -> None:
    """The label on paper; what is new is highlighted."""
    lines = _label(item)
    width = _width(item) - 4
    line_height = _line_height()
    height = line_height * len(lines) + 4
    paper = {"fill": palette.PAPER, "stroke": palette.GRID}
    if item.mark:
        paper = {"fill": palette.CHANGED}
    svg.rect(x - width / 2, y - height / 2, width, height, rx=4, **paper)
    for k, text in enumerate(lines):
        svg.text(
            x,
            y - height / 2 + line_height - 1 + line_height * k,
            text,
            size=small(),
            bold=True,
            fill=tone,
            text_anchor="middle",
        )
