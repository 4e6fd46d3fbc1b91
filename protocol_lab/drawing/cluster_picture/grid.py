"""The grid of a cluster's picture: where its lanes and columns are, and the sizes of its parts."""

from dataclasses import dataclass

from protocol_lab.drawing.arrangement import current, sized
from protocol_lab.drawing.traffic import Tracks

MARGIN = 14
BOX_GAP = 8
WIDE_BOX, NARROW_BOX = 74, 54
CROPPED = 8  # of the margin on every side, where the page has one


def badge_room() -> float:
    """The width that the crown takes before what a lane says; for an audience only before its
    name."""
    return 8 if current().large and not current().stacked else sized(46, 38)


def box_height() -> float:
    """The height of the box of a record, or of a message."""
    return 34 if current().large else 38 if current().dense else 42


def box_top() -> float:
    """How far below the top of a lane its records begin; tags stand on their upper edges."""
    return 9 if current().large else 10 if current().dense else sized(15, 11)


@dataclass(frozen=True)
class Band:
    """The vertical place of a lane; its log is below the head, if that is not beside it."""

    top: float
    height: float
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
    logs: float  # where the first box begins
    traffic: float  # where the logs and notes end, and the arrows of messages begin
    right: float  # where the lanes end
    width: float  # of the whole picture
    lane_heights: list[float]
    head: float  # of each lane's height, what stands above its log
    tracks: Tracks
    aside: float = 0  # where messages are listed beside the lanes; 0 where they are under them

    def column(self, offset: int) -> float:
        """Where the box at an offset begins."""
        return self.logs + offset * (self.box + BOX_GAP)

    def boundary(self, offset: int) -> float:
        """The middle between the box before an offset and the box at it."""
        return self.column(offset) - BOX_GAP / 2
