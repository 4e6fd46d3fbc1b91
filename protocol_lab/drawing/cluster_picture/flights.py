"""Messages on their way, where they are: between a client and a node as pills on arrows, and those
from node to node as cards in the lane of the receiver.

Where a lane is too low for all of them, those that are new come first, then those that have an
effect; the others are counted. A new message flies from its sender to its place, and one that has
arrived flies on (`js/moves.js`).
"""

from dataclasses import dataclass, replace

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, kept_width, measures
from protocol_lab.drawing.cluster import Cluster, Lane, Message
from protocol_lab.drawing.cluster_picture.grid import Band, Grid, close_part, words_width
from protocol_lab.drawing.svg import Svg, total_width

ON_ITS_WAY = "on its way here"
_GAP = 6
_PAD = 8  # beside the words of a pill or card
_COUNT = 28  # the width of the number of those that are not shown


@dataclass(frozen=True)
class Flights:
    """Where the messages of a picture are, by lane: on their way to it from another lane, or
    between it and the clients on its left and on its right (empty without such clients)."""

    here: list[list[Message]]
    left: list[list[Message]]
    right: list[list[Message]]
    placed: frozenset[Message]


def flights_of(cluster: Cluster) -> Flights:
    """The messages that have a place in the current arrangement: where lanes are stacked none, and
    where clients stand below them only those between lanes."""
    nodes = [] if current().stacked else [lane.name for lane in cluster.lanes]
    beside = [] if current().below or current().stacked else cluster.cards
    messages = [each for group in cluster.messages for each in group.items if each.ends]

    def of_clients(is_left: bool) -> list[list[Message]]:
        clients = {card.node for card in beside if card.is_left is is_left}
        return [
            [each for each in messages if lane.name in each.ends and clients & {*each.ends}]
            for lane in cluster.lanes
            if clients
        ]

    here = [
        [each for each in messages if each.ends[1] == lane.name and each.ends[0] in nodes]
        for lane in cluster.lanes
    ]
    left, right = of_clients(True), of_clients(False)
    placed = (each for lanes in (here, left, right) for lane in lanes for each in lane)
    return Flights(here, left, right, frozenset(placed))


def without_flights(cluster: Cluster, flights: Flights) -> Cluster:
    """The cluster with only those messages that have no place in its picture, in their groups."""
    groups = [
        replace(group, items=[each for each in group.items if each not in flights.placed])
        for group in cluster.messages
    ]
    return replace(cluster, messages=[each for each in groups if each.items or not each.flies])


# --- Between a client and a node -------------------------------------------------------------


def channel_width(cluster: Cluster, lanes: list[list[Message]], side: str) -> float:
    """The width between the lanes and the clients on one side; 0 without clients there, or if
    messages are no part of the picture."""
    if not lanes or not any(group.flies for group in cluster.messages):
        return 0
    pills = [_width([_of_client(each, cluster)]) for lane in lanes for each in lane]
    stubs = 2 * (9 if current().large else 14)  # of an arrow, on both sides of the widest pill
    return kept_width(f"channel {side}", max(pills, default=40) + stubs)


def draw_channel(
    svg: Svg,
    cluster: Cluster,
    lanes: list[list[Message]],
    bands: list[Band],
    at: tuple[float, float],
) -> None:
    """Arrows between the edge of the clients and that of the lanes."""
    pitch = _height(1) + 4
    for lane, items, band in zip(cluster.lanes, lanes, bands):
        most = int((band.height - 2) // pitch)
        shown, others = _chosen(items, most if len(items) <= most else most - 1)
        y = band.middle - pitch * (len(shown) + bool(others) - 1) / 2
        for item in shown:
            _draw_arrow(svg, item, _of_client(item, cluster), lane, at, y)
            y += pitch
        if others:
            _draw_count(svg, sum(at) / 2, y, others)


def _draw_arrow(
    svg: Svg, item: Message, label: str, lane: Lane, at: tuple[float, float], y: float
) -> None:
    start, stop = at if item.ends[1] == lane.name else at[::-1]
    ahead = 1 if stop > start else -1
    middle, half = (start + stop) / 2, _width([label]) / 2
    style = {"stroke": _tone(item), "stroke_width": 1.4, "fill": "none", **_dashes(item)}
    _open_flight(svg, item, (start - middle + ahead * half, 0), (stop - middle - ahead * half, 0))
    svg.line(start + 3 * ahead, y, middle - ahead * half, y, **style)
    if item.faded:  # it has stopped half way
        x = middle + ahead * (half + 9)
        svg.path(f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8", stroke=_tone(item), stroke_width=1.8)
    else:
        tip = stop - 3 * ahead
        svg.line(middle + ahead * half, y, tip, y, **style)
        svg.path(f"M{tip - 6 * ahead:.1f} {y - 5:.1f}l{6 * ahead} 5l{-6 * ahead} 5", **style)
    _draw_words(svg, item, [label], middle - half, y - _height(1) / 2, rx=_height(1) / 2)
    _close_flight(svg)


def _of_client(item: Message, cluster: Cluster) -> str:
    """A message's label, which names its client if others stand on the same side."""
    own = next(card for card in cluster.cards if card.node in item.ends)
    is_alone = sum(card.is_left is own.is_left for card in cluster.cards) == 1
    return _label(item) if is_alone else f"{own.node}: {_label(item)}"


# --- From node to node -------------------------------------------------------------------------


def inbox_width(lanes: list[list[Message]], heights: list[float], room: float) -> float:
    """The width in which each lane shows what is on its way to it, or if there is less room than
    that, the width of the widest message; 0 if there has been none."""
    widths = [_width(_of_node(each)) for lane in lanes for each in lane]
    needed = max(map(_least_width, lanes, heights), default=0)
    if widths:
        needed = max(needed, words_width(ON_ITS_WAY)) + 2 * _GAP
    one = kept_width("message", max(widths, default=-2 * _GAP) + 2 * _GAP)
    inbox = kept_width(f"inbox of lanes {current().taller} taller", needed)
    return max(one, min(inbox, room))


def _least_width(items: list[Message], height: float) -> float:
    """The least width at which all messages have room in a lane."""
    width = max([_width(_of_node(each)) for each in items], default=0)
    while len(_rows(items, width)) > _rows_in(height):
        width += 20
    return width


def _rows(items: list[Message], width: float) -> list[list[Message]]:
    """The messages in rows, as many in each as there is room for."""
    rows: list[list[Message]] = []
    for item in items:
        both = [*rows[-1], item] if rows else []
        if both and total_width([_width(_of_node(each)) for each in both], _GAP) <= width:
            rows[-1] = both
        else:
            rows.append([item])
    return rows


def _rows_in(height: float) -> int:
    return max(1, int((height - 2) // (_height(2) + 4)))


def draw_inboxes(
    svg: Svg, cluster: Cluster, lanes: list[list[Message]], bands: list[Band], grid: Grid
) -> None:
    """What is on its way to each lane, as cards. A new one comes from the lane of its sender, and
    goes on to what its receiver says."""
    middles = {lane.name: band.middle for lane, band in zip(cluster.lanes, bands)}
    width, pitch = grid.right - grid.inbox, _height(2) + 4
    for items, band in zip(lanes, bands):
        rows, others = _rows_that_fit(items, width - 2 * _GAP, _rows_in(band.height))
        y = band.middle - (pitch * len(rows) - 4) / 2
        for row in rows:
            x = grid.inbox + _GAP
            for item in row:
                start = 0, middles[item.ends[0]] - band.middle
                _open_flight(svg, item, start, (grid.words - x, 0))
                _draw_words(svg, item, _of_node(item), x, y, rx=7)
                _close_flight(svg)
                x += _width(_of_node(item)) + _GAP
            y += pitch
        if others:
            _draw_count(svg, grid.right - _COUNT / 2, band.middle, others)


def _rows_that_fit(
    items: list[Message], width: float, most: int
) -> tuple[list[list[Message]], int]:
    """As many messages as there is room for, in rows, and the number of the others."""
    for count in range(len(items), 0, -1):
        shown, others = _chosen(items, count)
        rows = _rows(shown, width - (_COUNT if others else 0))
        if len(rows) <= most:
            return rows, others
    return [], len(items)


def _of_node(item: Message) -> list[str]:
    return [_label(item), f"from {item.ends[0][0].lower()}{item.ends[0][1:]}"]


# --- Both ----------------------------------------------------------------------------------------


def _chosen(items: list[Message], most: int) -> tuple[list[Message], int]:
    """At most so many messages, in their order, and the number of the others."""
    best = sorted(items, key=lambda each: (each.mark != "new", each.faded))[: max(0, most)]
    return [each for each in items if each in best], len(items) - len(best)


def _label(item: Message) -> str:
    return item.short or item.name


def _width(words: list[str]) -> float:
    return max(words_width(each, bold=not k) for k, each in enumerate(words)) + 2 * _PAD


def _height(lines: int) -> float:
    return measures().pill * lines + 6


def _tone(item: Message) -> str:
    return palette.MUTED if item.faded else palette.ACCENT


def _dashes(item: Message) -> dict[str, str]:
    return {"stroke_dasharray": "3 3"} if item.faded else {}


def _draw_words(svg: Svg, item: Message, words: list[str], x: float, y: float, rx: float) -> None:
    """A pill or card; what is new is set off."""
    paper = palette.HERE if item.mark else palette.PAPER
    border = {"stroke": _tone(item) if item.mark or item.faded else palette.HATCH, **_dashes(item)}
    width = _width(words)
    svg.rect(x, y, width, _height(len(words)), rx=rx, fill=paper, stroke_width=1.2, **border)
    middle = x + width / 2
    for k, text in enumerate(words):
        line = y + _height(1) * (k + 1) - 7 - 5 * k
        tone = palette.MUTED if item.faded or k else palette.INK
        svg.text(middle, line, text, bold=not k, fill=tone, text_anchor="middle")


def _draw_count(svg: Svg, x: float, y: float, count: int) -> None:
    svg.text(x, y + 4, f"+{count}", fill=palette.MUTED, text_anchor="middle")


def _open_flight(
    svg: Svg, item: Message, start: tuple[float, float], end: tuple[float, float]
) -> None:
    """Begin the part of a message, with where it comes from and where it goes, from its place."""
    name = " ".join(filter(None, ["flight", item.name, item.detail]))
    svg.open_group(" · ".join(filter(None, [item.name, item.detail, item.mark])))
    if current().moves:
        ways = {"from": start, "to": (0, 0) if item.faded else end}  # a lost one never arrives
        said = {key: f"{x:.0f} {y:.0f}" for key, (x, y) in ways.items()}
        svg.open_part(name, kind="flight", **said)


def _close_flight(svg: Svg) -> None:
    close_part(svg)
    svg.close_group()
