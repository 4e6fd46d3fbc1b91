"""The grid of a cluster's picture: where its lanes and columns are, and the sizes of its parts."""

from dataclasses import dataclass

from protocol_lab.drawing.arrangement import current, measures

MARGIN = 14
BOX_GAP = 8
WIDE_BOX = 74
NARROWEST_NOTE = 96
ROOMY = 100  # from this width on a record's name is larger
CROPPED = 8  # of the margin on every side, where the page has one


def badge_room(has_badges: bool = True) -> float:
    """The width that the crown takes before what a lane says; for an audience only before its
    name."""
    if not has_badges:
        return 12
    return 8 if current().large and not current().stacked else 38


def box_width(is_narrow: bool) -> float:
    """The width of a record's box."""
    return current().box or (measures().narrow if is_narrow else WIDE_BOX)


def record_height() -> float:
    """The height of a record's box: it grows with its lane."""
    return measures().record + min(current().taller / 2, 18)


@dataclass(frozen=True)
class Band:
    """The vertical place of a lane; its log is below the head, if that is not beside it.

    `records`: where the boxes of its records begin."""

    top: float
    height: float
    records: float
    head: float = 0

    @property
    def log(self) -> float:
        return self.top + self.head

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(frozen=True)
class Grid:
    """The horizontal places of the picture's columns."""

    columns: int
    box: float  # the width of a record's box
    left: float  # where the lanes begin
    words: float  # where what they say begins
    logs: float  # where the first box begins
    inbox: float  # where the logs and notes end, and messages that are on their way begin
    right: float  # where these end, and the lanes
    cards: float  # where the clients on the right begin
    width: float  # of the whole picture
    lane_heights: list[float]
    record_tops: list[float]  # how far below the top of each lane its records begin
    head: float  # of each lane's height, what stands above its log
    aside: float = 0  # where messages are listed beside the lanes; 0 where they are under them

    def column(self, offset: int) -> float:
        """Where the box at an offset begins."""
        return self.logs + offset * (self.box + BOX_GAP)

    def boundary(self, offset: int) -> float:
        """The middle between the box before an offset and the box at it."""
        return self.column(offset) - BOX_GAP / 2
