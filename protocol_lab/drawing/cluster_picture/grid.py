"""The grid of a cluster's picture: where its lanes and columns are, and the sizes of its parts."""

from dataclasses import dataclass, replace

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, measures, type_size
from protocol_lab.drawing.cluster import Lane, Text, Value
from protocol_lab.drawing.svg import Svg, text_width, total_width

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
    head: float = 0  # of each lane's height, what stands above its log

    def column(self, offset: int) -> float:
        """Where the box at an offset begins."""
        return self.logs + offset * (self.box + BOX_GAP)

    def boundary(self, offset: int) -> float:
        """The middle between the box before an offset and the box at it."""
        return self.column(offset) - BOX_GAP / 2


# --- Picture text ---------------------------------------------------------------------------------
#
# Text in a cluster's picture: how wide it is, and how it is drawn.
#
# Also the named parts of a picture, which are followed from one picture to the next.


def open_part(svg: Svg, name: str, **about: str) -> None:
    """Start a part that has a name, by which it is followed while it moves."""
    if current().moves:
        svg.open_part(name, **about)


def close_part(svg: Svg) -> None:
    """End the part."""
    if current().moves:
        svg.close_group()


def words_width(text: str, bold: bool = False) -> float:
    """The width of words that are not set off."""
    return text_width(text, type_size(), bold)


def text_room(text: Text, size: float) -> float:
    """The width of a text with its highlight."""
    return text_width(text.text, size, text.bold) + (8 if text.was is not None else 0)


def lane_text_width(lane: Lane) -> float:
    """The width of the longest line beside a log."""
    return max(line_width(lane, line) for line in lane.lines)


def line_width(lane: Lane, line: list[Text]) -> float:
    """The width of one of a lane's lines, with the badge that stands in it."""
    said = (piece for piece in line if piece.text)
    words = total_width((text_room(piece, size_of(lane, piece)) for piece in said), 8)
    return words + (badge_width(lane) if line and line[0] is lane.lines[0][0] else 0)


def badge_width(lane: Lane) -> float:
    """The width of the badge in a lane's first line, where it has no column of its own."""
    return 39 if lane.badge and current().large and not current().stacked else 0


def size_of(lane: Lane, piece: Text) -> float:
    """The size of the type: a lane's name is larger than the rest."""
    return measures().name if piece is lane.lines[0][0] else type_size()


def value_width(value: Value) -> float:
    """The width of a labelled value in a bar."""
    label = words_width(value.label) + 6 if value.label else 0
    return label + text_room(replace(value.value, bold=True), type_size())


def flag_width(lane: Lane) -> float:
    """The width of the longest label of a lane's flags; 0 without one."""
    return max((text_room(flag.label, type_size()) + 10 for flag in lane.flags), default=0)


def draw_text(svg: Svg, x: float, y: float, text: Text, size: float) -> float:
    """Draw a text, highlighted if it changed; returns where it ends."""
    room = text_room(text, size)
    if text.was is None:
        svg.text(x, y, text.text, size=size, bold=text.bold, fill=palette.TONES[text.tone])
    else:
        highlight(svg, x, y - size, room, size + (4 if current().large else 3), text)
        svg.text(x + 4, y, text.text, size=size, bold=text.bold)
    return x + room


def draw_tag(svg: Svg, left: float, top: float, text: str, fill: str) -> None:
    """A small label on the upper edge of a box; `tag_width` is its width."""
    width = tag_width(text)
    svg.rect(left, top, width, measures().tag, rx=7, fill=fill)
    middle, y = left + width / 2, top + measures().tag - 3.5
    svg.text(middle, y, text, bold=True, fill=palette.PAPER, text_anchor="middle")


def tag_width(text: str) -> float:
    """The width of a tag with this text."""
    return words_width(text, bold=True) + 8


def highlight(svg: Svg, x: float, y: float, width: float, height: float, text: Text) -> None:
    """What lies under a text that has changed, with what it was as the tooltip."""
    title = f"was {text.was}" if text.was else "changed just now"
    svg.open_group(title, **{"class": "lab-changed"})
    svg.rect(x, y, width, height, rx=5, fill=palette.CHANGED)
    svg.close_group()
