"""A run that breaks a temporal property: the steps to its loop as a list, the loop as a ring of
pictures, and a thick arrow where it closes."""

from collections.abc import Sequence
from xml.etree import ElementTree

from protocol_lab.drawing import palette
from protocol_lab.drawing.pictures import READING_WIDTH, happened, place, size_of, stills
from protocol_lab.drawing.svg import Svg, wrap
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import spec_title
from protocol_lab.quantities import counted
from protocol_lab.traces.walk import Moment, Walk

_MARGIN, _BETWEEN, _LINE, _SIZE = 14, 46, 18, 13
_FRAME = (READING_WIDTH - 2 * _MARGIN - _BETWEEN) / 2
_HEAD = 24  # above a frame's picture: which state it is
_OUTSIDE = 30  # above the ring, for the arrow that closes it
_THICK, _THIN = 5, 2


def lasso_picture(walk: Walk) -> str:
    """The run as SVG text. Raises LabError if a walk has no loop, or its states can't be drawn."""
    if walk.loop_from is None:
        raise LabError("This run ends: it has no loop that could be drawn.")
    path = walk.path
    stays = walk.loop_from == path[-1].depth
    loop = path[-1:] if stays else path[walk.loop_from - 1 : -1]
    svg, y = Svg(_SIZE), float(_MARGIN)
    title = f"{spec_title(walk.model.spec.name)}: one run"
    y = _heading(svg, y, f"How it comes to the loop, in {counted(walk.loop_from - 1, 'step')}:")
    for moment in path[1 : walk.loop_from]:
        y = _listed(svg, y, moment, happened(walk.model, moment))
    y = _heading(svg, y + 8, f"The loop, in {counted(len(loop), 'step')}, for ever:") + _OUTSIDE
    y = _ring(svg, walk, loop, y)
    told = f"{title}. {happened(walk.model, path[-1])} {path[-1].going_on}"
    return svg.document(READING_WIDTH, y + _MARGIN, title, told)


def _heading(svg: Svg, y: float, text: str) -> float:
    svg.text(_MARGIN, y + 14, text, size=15, bold=True)
    return y + 24


def _listed(svg: Svg, y: float, moment: Moment, told: str) -> float:
    svg.text(_MARGIN + 22, y + 13, str(moment.depth), bold=True, text_anchor="end")
    for line in wrap(told, READING_WIDTH - 2 * _MARGIN - 30, _SIZE):
        svg.text(_MARGIN + 30, y + 13, line)
        y += _LINE
    return y


def _ring(svg: Svg, walk: Walk, loop: Sequence[Moment], top: float) -> float:
    """The states of the loop, down on the left and up on the right; returns where it ends."""
    pictures = stills(walk.model, loop, _FRAME - 2 * 6)
    rows = (len(loop) + 1) // 2
    heights = [_HEAD + 6 + _height(each) for each in pictures]
    spots = [(0, k) for k in range(rows)] + [(1, k) for k in reversed(range(len(loop) - rows))]
    shift = rows - (len(loop) - rows)  # an odd one leaves the place at the upper right free
    spots = [(column, row + shift * column) for column, row in spots]
    row_heights = [
        max(height for height, (_, at) in zip(heights, spots) if at == row) for row in range(rows)
    ]
    tops = [top + sum(row_heights[:row]) + row * _gap(walk, loop) for row in range(rows)]
    boxes = []
    for moment, picture, height, (column, row) in zip(loop, pictures, heights, spots):
        x = _MARGIN + column * (_FRAME + _BETWEEN)
        boxes.append((x, tops[row], height))
        _frame(svg, moment, picture, boxes[-1])
    for k in range(1, len(loop)):
        _arrow(svg, boxes[k - 1], boxes[k], happened(walk.model, loop[k]))
    bottom = max(y + height for _, y, height in boxes)
    return _closing(svg, walk, boxes, top, bottom)


def _height(picture: str) -> float:
    width, height = size_of(picture)
    return height * min(1, (_FRAME - 12) / width)


def _gap(walk: Walk, loop: Sequence[Moment]) -> float:
    """Between two rows: as high as what is written beside an arrow."""
    lines = [len(wrap(happened(walk.model, each), _FRAME - 40, _SIZE)) for each in loop]
    return 16 + _LINE * max(2, *lines)


Box = tuple[float, float, float]


def _frame(svg: Svg, moment: Moment, picture: str, box: Box) -> None:
    x, y, height = box
    look = {"fill": palette.PAPER, "stroke": palette.MUTED, "stroke_width": 1.4}
    svg.rect(x, y, _FRAME, height, rx=10, **look)
    svg.text(x + 12, y + 17, f"state {moment.depth}", bold=True)
    place(svg, ElementTree.fromstring(picture), x + 6, y + _HEAD, _FRAME - 12)


def _arrow(svg: Svg, start: Box, end: Box, told: str) -> None:
    """From a state to the next one: down, across at the bottom, or up."""
    (x, y, height), (to_x, to_y, to_height) = start, end
    if x != to_x:
        at = min(y + height, to_y + to_height) - 30
        _line(svg, [(x + _FRAME, at), (to_x - 2, at)], _THIN, palette.INK)
        below = max(y + height, to_y + to_height) + 4
        lines = wrap(told, 2 * _FRAME, _SIZE)
        for k, line in enumerate(lines):
            middle = x + _FRAME + _BETWEEN / 2
            svg.text(middle, below + 12 + k * _LINE, line, text_anchor="middle")
        return
    goes_up = to_y < y
    first, last = (y, to_y + to_height + 2) if goes_up else (y + height, to_y - 2)
    _line(svg, [(x + 20, first), (x + 20, last)], _THIN, palette.INK)
    lines = wrap(told, _FRAME - 40, _SIZE)
    middle = (first + last) / 2 - _LINE * (len(lines) - 1) / 2 + 5
    for k, line in enumerate(lines):
        svg.text(x + 34, middle + k * _LINE, line)


def _closing(svg: Svg, walk: Walk, boxes: list[Box], top: float, bottom: float) -> float:
    """The step that closes the loop, as the strongest line; returns where the drawing ends."""
    x, y, _ = boxes[-1]
    first = walk.loop_from
    if len(boxes) == 1:
        edge = x + _FRAME
        points = [(edge, y + 40), (edge + 28, y + 40), (edge + 28, y + 12), (edge + 4, y + 12)]
        stays = walk.loop_from == walk.path[-1].depth
        told = "The run stays here for ever." if stays else happened(walk.model, walk.path[-1])
        where = (edge + 38, y + 30)
        room = READING_WIDTH - _MARGIN - where[0]
    else:
        up = top - 14
        start, end = x + _FRAME / 2, _MARGIN + _FRAME / 2
        points = [(start, y), (start, up), (end, up), (end, top - 4)]
        last = happened(walk.model, walk.path[-1]).removesuffix(".")
        told = f"{last}. This is state {first} again."
        where = (READING_WIDTH - _MARGIN - _FRAME, top + 12)
        room = _FRAME / 2 - 20
        if y == top:  # the ring has a frame there: what is written has a place below it all
            where = (_MARGIN, bottom + 44)
            room = READING_WIDTH - 2 * _MARGIN
    _line(svg, points, _THICK, palette.ACCENT)
    for k, line in enumerate(lines := wrap(f"↻ {told}", room, 14, bold=True)):
        svg.text(where[0], where[1] + k * _LINE, line, size=14, bold=True, fill=palette.ACCENT)
    return max(bottom + 30, where[1] + _LINE * len(lines))


def _line(svg: Svg, points: list[tuple[float, float]], width: float, color: str) -> None:
    """A line through these points, with an arrowhead at its end."""
    (before, at), (x, y) = points[-2:]
    size = 5 + 2 * width
    way = (x > before) - (x < before), (y > at) - (y < at)
    base = x - size * way[0], y - size * way[1]
    side = size / 2 * way[1], size / 2 * way[0]
    through = " ".join(f"L{px:g} {py:g}" for px, py in [*points[1:-1], base])
    look = {"stroke": color, "stroke_width": width, "stroke_linejoin": "round"}
    svg.path(f"M{points[0][0]:g} {points[0][1]:g}{through}", fill="none", **look)
    corners = [(base[0] + side[0], base[1] + side[1]), (base[0] - side[0], base[1] - side[1])]
    svg.path(f"M{x:g} {y:g}" + "".join(f"L{px:g} {py:g}" for px, py in corners) + "Z", fill=color)
