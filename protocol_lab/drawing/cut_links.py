"""Draws links between nodes that are down, as dashed lines between their lanes.

Each is on a vertical track, from the middle of one lane to the middle of the other. Two share a
track if one ends at the lane where the other begins.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import measures, type_size
from protocol_lab.drawing.cluster import Cluster, CutLink
from protocol_lab.drawing.svg import Svg, text_width

_PAD = 7
_FROM_MIDDLE = 12  # so that lines which share a track do not touch


@dataclass
class Track:
    """Links that are drawn above each other, since they have no stretch in common."""

    links: list[CutLink] = field(default_factory=list)

    def has_room(self, link: CutLink) -> bool:
        """Does everything here begin where the link ends or later, or the other way round?"""
        low, high = sorted(link.lanes)
        return all(high <= min(each.lanes) or max(each.lanes) <= low for each in self.links)


def tracks_of(cluster: Cluster) -> list[Track]:
    """The tracks of all links that are down."""
    tracks: list[Track] = []
    for link in cluster.cut_links:
        free = next((each for each in tracks if each.has_room(link)), None)
        if free is None:
            free = Track()
            tracks.append(free)
        free.links.append(link)
    return tracks


def track_width() -> float:
    """The width of a track, in pixels."""
    return (
        max(text_width(line, type_size(), bold=True) for line in _label(CutLink((0, 0), "new")))
        + 2 * _PAD
    )


def draw_links(svg: Svg, tracks: list[Track], left: float, middles: list[float]) -> None:
    """Draw them from `left` on; `middles` are the heights of the lanes' middles."""
    for track in tracks:
        for link in track.links:
            top, bottom = sorted(middles[lane] for lane in link.lanes)
            _draw_link(
                svg, link, left + track_width() / 2, top + _FROM_MIDDLE, bottom - _FROM_MIDDLE
            )
        left += track_width()


def _label(link: CutLink) -> list[str]:
    return ["link", "down", *([link.mark] if link.mark else [])]


def _draw_link(svg: Svg, link: CutLink, x: float, top: float, bottom: float) -> None:
    tone = palette.MUTED
    svg.open_group(f"this link is down {link.mark}".strip())
    svg.line(x, top, x, bottom, stroke=tone, stroke_width=1.8, stroke_dasharray="5 4")
    for y in _crosses(top, bottom):
        svg.path(f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8", stroke=tone, stroke_width=2)
    _draw_label(svg, link, x, (top + bottom) / 2)
    svg.close_group()


def _crosses(top: float, bottom: float) -> Iterator[float]:
    """Halfway between each end and the label."""
    middle = (top + bottom) / 2
    yield (top + middle - _line_height()) / 2
    yield (bottom + middle + _line_height()) / 2


def _line_height() -> float:
    return measures().tag - 1


def _draw_label(svg: Svg, link: CutLink, x: float, y: float) -> None:
    """The label on paper; what is new is highlighted."""
    lines = _label(link)
    width, height = track_width() - 4, _line_height() * len(lines) + 4
    paper = {"fill": palette.PAPER, "stroke": palette.GRID}
    if link.mark:
        paper = {"fill": palette.CHANGED}
    svg.rect(x - width / 2, y - height / 2, width, height, rx=4, **paper)
    for k, text in enumerate(lines, 1):
        svg.text(
            x,
            y - height / 2 + _line_height() * k - 1,
            text,
            size=type_size(),
            bold=True,
            fill=palette.MUTED if not link.mark else palette.INK,
            text_anchor="middle",
        )
