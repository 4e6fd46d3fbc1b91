"""Places everything in a `Cluster`, and draws it as SVG.

From the top: title, information bars, the axis of offsets, one lane for each node (name, log,
notes) with clients beside them, alarms, messages, legend. In a narrow picture a lane's name and
notes stand above its log. Lanes do not move when messages come and go, and widths are measured
first, so that nothing overlaps, with any number of nodes.
"""

from dataclasses import dataclass, replace

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, lane_gap, line_pitch, sized, small, tag
from protocol_lab.drawing.cluster import (
    Bar,
    Card,
    Cluster,
    Entry,
    Flag,
    Lane,
    Message,
    Messages,
    Text,
    Value,
)
from protocol_lab.drawing.describe import describe, entry_text
from protocol_lab.drawing.svg import Svg, text_width, total_width, wrap
from protocol_lab.drawing.traffic import ROOM, Tracks, draw_tracks, tracks_of

MARGIN = 14
BOX_HEIGHT, BOX_GAP = 42, 8
HEAD_GAP = 14
WIDE_BOX, NARROW_BOX = 74, 54
MOST_WIDE_BOXES = 6
NARROWEST = 720
CROPPED = 8  # of the margin on every side, where the page has one


def badge_room() -> float:
    """The width that the crown takes before the name of a lane."""
    return sized(46, 38)


def box_top() -> float:
    """How far below the top of a lane its records begin; tags stand on their upper edges."""
    return 10 if current().dense else sized(15, 11)


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


def draw_cluster(cluster: Cluster) -> str:
    """The picture as SVG text, with a title and a text alternative."""
    told = describe(cluster)
    if current().dense:
        cluster = _dense(cluster)
    svg, grid = Svg(), _grid(cluster)
    if current().few_arrows:
        cluster = _with_undrawn_links(cluster, grid.tracks)
    y: float = MARGIN
    if cluster.show_title and cluster.title:
        for line in wrap(cluster.title, grid.width - 2 * MARGIN, 15, bold=True):
            svg.text(MARGIN, y + 13, line, size=15, bold=True)
            y += 21
        y += 5
    for bar in cluster.bars:
        y = _draw_bar(svg, grid, bar, y) + sized(8, 4)
    y += sized(4, 1)
    top, y = y, _draw_lanes(svg, grid, cluster, y)
    if current().live:  # the page has the alarms and the legend
        if cluster.cards and current().below:
            y = _draw_cards_below(svg, grid, cluster, y) + 8
        if grid.aside:
            y = max(y, _draw_messages_aside(svg, grid, cluster.messages, top))
        else:
            y = _draw_all_messages(svg, grid, cluster.messages, y)
        return svg.document(
            grid.width,
            y + (0 if current().dense else 4),
            cluster.title,
            told,
            inset=CROPPED,
            legend=cluster.legend,
        )
    for alarm in cluster.alarms:
        y = _draw_alarm(svg, grid, alarm, y) + 6
    for group in cluster.messages:
        y = _draw_messages(svg, grid, group, y) + 6
    if cluster.legend:
        for line in wrap(cluster.legend, grid.width - 2 * MARGIN, small()):
            svg.text(MARGIN, y + 11, line, size=small(), fill=palette.MUTED)
            y += 14
    return svg.document(grid.width, y + 10, cluster.title, told)


def _grid(cluster: Cluster) -> Grid:
    if current().stacked:
        return _stacked_grid(cluster)
    columns = _columns(cluster)
    is_narrow = columns > MOST_WIDE_BOXES or current().narrow
    box = NARROW_BOX if is_narrow else WIDE_BOX
    names = max([cluster.lane_width, *map(_lane_text_width, cluster.lanes)])
    logs = MARGIN + badge_room() + names + sized(18, 8)
    # A flag after the last column still has its label inside the lane.
    tail = max([sized(24, 12), cluster.note_width, *(_flag_width(lane) for lane in cluster.lanes)])
    beside = bool(cluster.cards) and not current().below
    cards = cluster.card_width + 12 if beside else 0
    traffic = logs + columns * (box + BOX_GAP) + tail
    list_width = 0.0
    if current().aside and cluster.messages:
        list_width = max(map(_narrowest_group, cluster.messages)) + 6
    narrowest = _narrowest_live(cluster) if current().live else NARROWEST
    narrowest = max(narrowest, current().width + 2 * CROPPED - list_width)
    left = narrowest - cards - MARGIN - traffic
    tracks = tracks_of(cluster, min(left, ROOM)) if current().few_arrows else tracks_of(cluster)
    arrows = tracks.width if current().few_arrows else max(cluster.traffic_width, tracks.width)
    right = max(traffic + arrows, narrowest - cards - MARGIN)
    heights = _lane_heights(cluster)
    width = right + cards + MARGIN
    aside = width - 2 if list_width else 0
    return Grid(
        columns, box, logs, right - arrows, right, width + list_width, heights, 0, tracks, aside
    )


def _stacked_grid(cluster: Cluster) -> Grid:
    """The columns where what lanes say stands above their logs. Messages have no arrows then."""
    columns = _columns(cluster)
    logs = MARGIN + BOX_GAP
    last = [
        _flag_width(replace(lane, flags=[each]))
        for lane in cluster.lanes
        for each in lane.flags
        if each.offset == columns
    ]
    needed = [
        current().width + 2 * CROPPED,
        logs + columns * (NARROW_BOX + BOX_GAP) + max([0.0, *last]) + MARGIN,
        *(_message_width(item) + 2 * MARGIN for group in cluster.messages for item in group.items),
        *(_value_width(value) + 2 * MARGIN + 24 for bar in cluster.bars for value in bar.values),
    ]
    width = max(needed)
    right = width - MARGIN
    rows = [len(each) for each in _heads(cluster, right - MARGIN)]
    head = line_pitch() * max(rows, default=1) + 6
    log = box_top() + BOX_HEIGHT + (17 if any(lane.flags for lane in cluster.lanes) else 6)
    heights = [head + log] * len(cluster.lanes)
    return Grid(columns, NARROW_BOX, logs, right, right, width, heights, head, Tracks([]))


def _columns(cluster: Cluster) -> int:
    """How many offsets have a place."""
    offsets = [entry.offset + 1 for lane in cluster.lanes for entry in lane.entries]
    offsets += [flag.offset for lane in cluster.lanes for flag in lane.flags]
    offsets += [cluster.line.offset] if cluster.line else []
    return max([cluster.columns, *offsets])


def _lane_heights(cluster: Cluster) -> list[float]:
    """All lanes are equally high; on a screen those without words below their records are lower."""
    lines = max([len(lane.lines) for lane in cluster.lanes], default=1)
    names = line_pitch() * lines + sized(12, 6)
    alone = 3 if current().dense else 8
    below = [sized(20, 17) if lane.flags else sized(20, alone) for lane in cluster.lanes]
    return [max(box_top() + BOX_HEIGHT + each, names) for each in below]


def _narrowest_live(cluster: Cluster) -> float:
    """The width of a bar's longest value beside its name."""
    widest = [
        text_width(f"{bar.name} {value.label} {value.value.text}", 12, bold=True) + 80
        for bar in cluster.bars
        for value in bar.values
    ]
    return min(NARROWEST, max([460.0, *widest]))


# --- The dense arrangement: what can share a line does -------------------------------------------


def _dense(cluster: Cluster) -> Cluster:
    """The cluster with short lines joined, without groups that have no message, and with as many
    messages as the arrangement lists."""
    room = max([cluster.lane_width, *map(_lane_text_width, cluster.lanes)])
    most = current().listed
    return replace(
        cluster,
        lanes=[_dense_lane(lane, room) for lane in cluster.lanes],
        cards=[_dense_card(card, cluster.card_width) for card in cluster.cards],
        messages=[
            replace(each, limit=min(each.limit, most or each.limit))
            for each in cluster.messages
            if each.items
        ],
    )


def _dense_lane(lane: Lane, room: float) -> Lane:
    lines = [lane.lines[0]]
    for line in lane.lines[1:]:
        both = [*lines[-1], *line]
        if _line_width(lane, both) <= room:
            lines[-1] = both
        else:
            lines.append(line)
    return replace(lane, lines=lines)


def _dense_card(card: Card, width: float) -> Card:
    lines: list[Text] = []
    for line in card.lines:
        both = f"{lines[-1].text} · {line.text}" if lines else ""
        alike = lines and lines[-1].tone == line.tone and lines[-1].was is line.was is None
        if alike and text_width(both, 11.5) <= width - 20:
            lines[-1] = replace(line, text=both)
        else:
            lines.append(line)
    return replace(card, lines=lines)


# --- Parts that can be followed from picture to picture ----------------------------------------


def _open_part(svg: Svg, name: str, **about: str) -> None:
    """Start a part that has a name, by which it is followed while it moves: on a page, and in
    films."""
    if current().has_names:
        svg.open_part(name, **about)


def _close_part(svg: Svg) -> None:
    if current().has_names:
        svg.close_group()


# --- Text ------------------------------------------------------------------------------------


def _pieces(text: Text, size: float) -> tuple[float, float]:
    """The widths of a text (with its highlight) and of what it was."""
    own = text_width(text.text, size, text.bold) + (8 if text.was is not None else 0)
    return own, 0 if text.was is None else text_width(f"was {text.was}", small()) + 5


def _lane_text_width(lane: Lane) -> float:
    return max(_line_width(lane, line) for line in lane.lines)


def _line_width(lane: Lane, line: list[Text]) -> float:
    return total_width((sum(_pieces(piece, _size(lane, piece))) for piece in line), 8)


def _size(lane: Lane, piece: Text) -> float:
    return 14 if piece is lane.lines[0][0] else 12


def _value_width(value: Value) -> float:
    """The width of a labelled value in a bar, or of what it was, which stands below it."""
    label = text_width(value.label, 12) + 6 if value.label else 0
    return label + max(_pieces(replace(value.value, bold=True), 12))


def _flag_width(lane: Lane) -> float:
    return max((sum(_pieces(flag.label, small())) + 10 for flag in lane.flags), default=0)


def _draw_text(svg: Svg, x: float, y: float, text: Text, size: float = 12) -> float:
    """Draw a text, highlighted with what it was if it changed; returns where it ends."""
    own, was = _pieces(text, size)
    if text.was is not None:
        _highlight(svg, x, y - size, own, size + 4)
        svg.text(x + own + 5, y, f"was {text.was}", size=small(), fill=palette.MUTED)
    inset = 0 if text.was is None else 4
    svg.text(x + inset, y, text.text, size=size, bold=text.bold, fill=palette.TONES[text.tone])
    return x + own + was


def _highlight(svg: Svg, x: float, y: float, width: float, height: float) -> None:
    """What lies under a text that has changed."""
    svg.rect(x, y, width, height, rx=4, fill=palette.CHANGED, stroke=palette.CHANGED_LINE)


# --- Bars ------------------------------------------------------------------------------------


def _draw_bar(svg: Svg, grid: Grid, bar: Bar, y: float) -> float:
    """Labelled values from left to right; a value's previous text is below it."""
    start = MARGIN + 12 + text_width(bar.name, 12, bold=True) + 16
    rows: list[list] = [[]]
    x = start
    for value in bar.values:
        label = text_width(value.label, 12) + 6 if value.label else 0
        width = _value_width(value) + 16
        if (rows[-1] or current().stacked) and x + width - 16 > grid.width - MARGIN - 8:
            x = MARGIN + 12 if current().stacked else start
            rows.append([])
        rows[-1].append((x, label, value))
        x += width
    pitch = sized(36, 30)
    height = pitch * len(rows) + sized(0, 2)
    svg.rect(
        MARGIN, y, grid.width - 2 * MARGIN, height, rx=6, fill=palette.PANEL, stroke=palette.LINE
    )
    svg.text(MARGIN + 12, y + sized(20, 15), bar.name, bold=True)
    for k, row in enumerate(rows):
        for x, label, value in row:
            _draw_value(svg, x, y + pitch * k + sized(20, 15), label, value.label, value.value)
    return y + height


def _draw_value(svg: Svg, x: float, y: float, label: float, name: str, value: Text) -> None:
    svg.text(x, y, name, fill=palette.MUTED)
    unchanged = Text(value.text, value.tone, bold=True)
    if value.was is not None:
        own = text_width(value.text, 12, bold=True) + 8
        _highlight(svg, x + label - 4, y - 13, own, 18)
        svg.text(x + label, y + sized(12.5, 14), f"was {value.was}", size=tag(), fill=palette.MUTED)
    _draw_text(svg, x + label, y, unchanged)


# --- Lanes -----------------------------------------------------------------------------------


def _draw_lanes(svg: Svg, grid: Grid, cluster: Cluster, y: float) -> float:
    """The axis, the lanes, the line across them, and the clients beside them."""
    for offset in range(grid.columns) if cluster.axis else ():
        number = cluster.first + offset
        name = f"{cluster.axis} {number}" if offset == 0 else str(number)
        middle = grid.column(offset) + grid.box / 2
        svg.text(middle, y + 9, name, size=11, fill=palette.MUTED, text_anchor="middle")
    top = y + (17 if cluster.axis or cluster.cards else 0)
    bands = []
    bottom = top - lane_gap()
    for height in grid.lane_heights:
        bands.append(Band(bottom + lane_gap(), height, grid.head))
        bottom = bands[-1].bottom
    for lane, band in zip(cluster.lanes if current().has_names else (), bands):
        _draw_lane_paper(svg, grid, lane, band)  # below all that moves between lanes
    heads = _heads(cluster, grid.right - MARGIN) if grid.head else [[] for _ in bands]
    for lane, band, head in zip(cluster.lanes, bands, heads):
        _draw_lane(svg, grid, cluster, lane, band, head)
    middles = [band.middle for band in bands]
    draw_tracks(svg, grid.tracks, grid.traffic, middles)
    if cluster.line:
        x = grid.boundary(cluster.line.offset)
        _open_part(svg, "line", kind="mark")
        parts = (
            [(each.log, each.bottom) for each in bands] if grid.head else [(top - 4, bottom + 8)]
        )
        for begin, end in parts:
            svg.line(x, begin, x, end, stroke=palette.INK, stroke_width=2.2)
        width = sum(_pieces(cluster.line.label, 11.5))
        left = x + 5 if x + 5 + width <= grid.right else max(MARGIN, x - 5 - width)
        _draw_text(svg, left, bottom + 15, cluster.line.label, 11.5)
        _close_part(svg)
    end = top if current().below else _draw_cards(svg, grid, cluster, top, bottom)
    return max(bottom + (sized(24, 20) if cluster.line else 10), end + 10)


def _draw_lane_paper(svg: Svg, grid: Grid, lane: Lane, band: Band) -> None:
    outline = {"stroke": palette.LINE, "stroke_width": 1}
    if lane.badge == "crown":
        outline = {"stroke": palette.ACCENT, "stroke_width": 1.8}
    if lane.badge == "ghost":
        outline = {"stroke": palette.WARNING, "stroke_width": 1.4, "stroke_dasharray": "6 4"}
    fill = palette.PANEL if lane.badge == "dead" else palette.PAPER
    svg.rect(MARGIN, band.top, grid.right - MARGIN, band.height, rx=6, fill=fill, **outline)


def _draw_lane(
    svg: Svg, grid: Grid, cluster: Cluster, lane: Lane, band: Band, head: list["_Row"]
) -> None:
    y = band.log
    if not current().has_names:
        _draw_lane_paper(svg, grid, lane, band)
    if lane.badge:
        x, middle = (
            (grid.right - 38, band.top + 14) if grid.head else (MARGIN + sized(9, 5), band.middle)
        )
        _open_part(svg, lane.badge if lane.badge == "crown" else f"{lane.name} {lane.badge}")
        _draw_badge(svg, lane.badge, x, middle)
        _close_part(svg)
    if grid.head:
        _draw_head(svg, lane, head, band.top + 16)
    else:
        _draw_lines(svg, lane, band)
    for offset in range(grid.columns + 1):
        x = grid.boundary(offset)
        svg.line(x, y + 1, x, band.bottom - 1, stroke=palette.GRID)
    for entry in lane.entries:
        kind = "record" if entry.is_here else "gap"
        same = f"{entry.offset} {entry.label} {entry.detail}"
        _open_part(svg, f"{lane.name} {entry.offset}", kind=kind, same=same, lane=lane.name)
        _draw_entry(svg, grid, entry, y + box_top(), cluster)
        _close_part(svg)
    used = max([entry.offset + 1 for entry in lane.entries], default=0)
    if not lane.entries and lane.empty:
        svg.text(grid.logs + 4, y + box_top() + 25, lane.empty, size=11, fill=palette.MUTED)
        used = 1
    for k, flag in enumerate(lane.flags):
        _open_part(svg, f"{lane.name} flag {k}", kind="mark")
        _draw_flag(svg, grid, flag, band)
        _close_part(svg)
    if not grid.head:
        _draw_notes(svg, grid, lane, grid.column(used) + 6, y)


def _draw_lines(svg: Svg, lane: Lane, band: Band) -> None:
    """What a lane says, beside its log."""
    first = band.middle - line_pitch() * len(lane.lines) / 2 + 13
    for k, pieces in enumerate(lane.lines):
        x: float = MARGIN + badge_room()
        for piece in pieces:
            x = _draw_text(svg, x, first + k * line_pitch(), piece, _size(lane, piece)) + 8


# --- What a lane says, above its log -----------------------------------------------------------

_Row = list[list[Text]]
"""The lines of a lane that stand side by side."""


def _heads(cluster: Cluster, width: float) -> list[list[_Row]]:
    """For each lane the rows of what it says, with its notes, and its links that are down."""
    lanes = _with_undrawn_links(cluster, Tracks([])).lanes
    return [_head(lane, lane.notes, width - 2 * BOX_GAP) for lane in lanes]


def _with_undrawn_links(cluster: Cluster, tracks: Tracks) -> Cluster:
    """The cluster with a note in both lanes of every link that is down and has no track."""
    drawn = [item for track in tracks.tracks for item in track.items]
    lanes = []
    for number, lane in enumerate(cluster.lanes):
        told = [
            Text(f"✗ link to {other} down{', new' if link.mark else ''}", "bad")
            for link in cluster.cut_links
            if number in link.lanes and link not in drawn
            for other in [cluster.lanes[sum(link.lanes) - number].name]
        ]
        lanes.append(replace(lane, notes=[*lane.notes, *told]))
    return replace(cluster, lanes=lanes)


def _head(lane: Lane, notes: list[Text], width: float) -> list[_Row]:
    """A lane's lines in rows, as many in each as there is room for. The first two leave room for
    the badge."""
    rows: list[_Row] = [[]]
    end = 0.0
    for line in [*lane.lines, *([note] for note in notes)]:
        parts = [[piece for piece in line if piece.text]]
        if _line_width(lane, parts[0]) > width - badge_room():
            parts = [
                part for piece in parts[0] for part in _apart(lane, piece, width - badge_room())
            ]
        for part in filter(None, parts):
            own = _line_width(lane, part)
            room = width - (badge_room() if len(rows) < 3 else 0)
            if rows[-1] and end + own > room:
                rows.append([])
                end = 0
            rows[-1].append(part)
            end += own + HEAD_GAP
    return rows


def _apart(lane: Lane, piece: Text, width: float) -> list[list[Text]]:
    """A text by itself, and what it was by itself if both are too wide for a row."""
    if piece.was is None or _line_width(lane, [piece]) <= width:
        return [[piece]]
    return [[replace(piece, was=None)], [Text(f"was {piece.was}", "muted")]]


def _draw_head(svg: Svg, lane: Lane, rows: list[_Row], y: float) -> None:
    for row in rows:
        x: float = MARGIN + BOX_GAP
        for pieces in row:
            for piece in pieces:
                x = _draw_text(svg, x, y, piece, _size(lane, piece)) + 8
            x += HEAD_GAP - 8
        y += line_pitch()


def _draw_notes(svg: Svg, grid: Grid, lane: Lane, x: float, y: float) -> None:
    lines = [
        (line, note.tone)
        for note in lane.notes
        for line in wrap(note.text, grid.traffic - x - 8, 11.5)
    ]
    first = y + box_top() + BOX_HEIGHT / 2 + 4 - 7.5 * (len(lines) - 1)
    for k, (line, tone) in enumerate(lines):
        svg.text(x, first + 15 * k, line, size=11.5, fill=palette.TONES[tone])


def _draw_badge(svg: Svg, badge: str, x: float, y: float) -> None:
    crown = f"M{x} {y + 9}l3 -14 6.5 7.5 5.5 -11.5 5.5 11.5 6.5 -7.5 3 14z"
    if badge == "crown":
        svg.path(crown, fill=palette.ACCENT)
    elif badge == "ghost":
        svg.path(
            crown, fill="none", stroke=palette.WARNING, stroke_width=1.6, stroke_linejoin="round"
        )
    elif badge == "dead":
        svg.path(
            f"M{x + 6} {y - 9}l18 18m0 -18l-18 18",
            stroke=palette.MUTED,
            stroke_width=3.5,
            stroke_linecap="round",
        )


def _draw_flag(svg: Svg, grid: Grid, flag: Flag, band: Band) -> None:
    x, foot = grid.boundary(flag.offset), band.bottom - 4
    svg.line(x, band.log + 6, x, foot, stroke=palette.INK, stroke_width=2.2)
    _draw_text(svg, x + 4, foot - 2, flag.label, small())


# --- Records ---------------------------------------------------------------------------------


def _draw_entry(svg: Svg, grid: Grid, entry: Entry, y: float, cluster: Cluster) -> None:
    x = grid.column(entry.offset)
    svg.open_group(entry_text(entry, cluster))
    if entry.is_here:
        _draw_record(svg, grid, entry, x, y, cluster.ticked)
    else:
        _draw_gap(svg, grid, entry, x, y, cluster.removed)
    svg.close_group()


def _draw_record(svg: Svg, grid: Grid, entry: Entry, x: float, y: float, ticked: str) -> None:
    border = {"stroke": palette.MUTED, "stroke_width": 1.2, "stroke_dasharray": "4 3"}
    if entry.committed:
        border = {"stroke": palette.INK, "stroke_width": 2}
    is_wrong = bool(entry.gone) and entry.mark != "changed"
    if is_wrong:
        border |= {"stroke": palette.BAD, "stroke_width": 2.4}
    svg.rect(x, y, grid.box, BOX_HEIGHT, rx=5, fill=palette.shade(entry.shade), **border)
    middle = x + grid.box / 2
    detail = _detail(grid, entry)
    if entry.committed:
        detail = f"{detail} ✓".strip()
    fits = text_width(entry.label, 12.5, bold=True) <= grid.box - 6
    size = 12.5 if fits else sized(12.5, small())
    svg.text(
        middle, y + (19 if detail else 26), entry.label, size=size, bold=True, text_anchor="middle"
    )
    svg.text(middle, y + 34, detail, size=11, text_anchor="middle")
    if is_wrong:
        _draw_tag(svg, grid, x, y, f"lost {entry.gone}", "lost", palette.BAD)
    elif entry.mark == "changed":
        _draw_tag(svg, grid, x, y, f"was {entry.gone}", "changed", palette.ACCENT)
    elif entry.mark == "committed":
        _draw_tag(svg, grid, x, y, ticked, "now ✓")
    elif entry.mark:
        _draw_tag(svg, grid, x, y, entry.mark, entry.mark)


def _draw_gap(svg: Svg, grid: Grid, entry: Entry, x: float, y: float, removed: str) -> None:
    """A record that is not here any more: a hatched box with the word for that and the record's
    text."""
    word = f"✗ {entry.mark}" if entry.mark == "lost" else removed
    if entry.mark == "truncated" and grid.box < WIDE_BOX:
        word = "gone"
    svg.rect(
        x,
        y,
        grid.box,
        BOX_HEIGHT,
        rx=5,
        fill=palette.BAD_PAPER if entry.mark == "lost" else palette.PAPER,
        stroke=palette.BAD,
        **(
            {"stroke_width": 2.4}
            if entry.mark == "lost"
            else {"stroke_width": 1.5, "stroke_dasharray": "2 3"}
        ),
    )
    paper = palette.BAD_PAPER
    if entry.mark == "truncated":
        paper = palette.PAPER
        svg.hatch(x + 1, y + 1, grid.box - 2, BOX_HEIGHT - 2)
    middle = x + grid.box / 2
    lines = [
        (word, 11, True, palette.BAD, None),
        (f"{entry.label} {entry.short}".strip(), small(), False, palette.INK, "line-through"),
    ]
    for k, (text, size, bold, fill, decoration) in enumerate(lines):
        width = min(grid.box - 4, text_width(text, size, bold) + 4)
        svg.rect(middle - width / 2, y + 7 + 15 * k, width, 14, rx=3, fill=paper)
        svg.text(
            middle,
            y + 18 + 15 * k,
            text,
            size=size,
            bold=bold,
            fill=fill,
            text_anchor="middle",
            text_decoration=decoration,
        )


def _detail(grid: Grid, entry: Entry) -> str:
    room = grid.box - 8 - (14 if entry.committed else 0)
    return entry.detail if text_width(entry.detail, 11) <= room else entry.short


def _draw_tag(
    svg: Svg, grid: Grid, x: float, y: float, text: str, short: str, fill: str = palette.ACCENT
) -> None:
    """A small label on the upper edge of a box."""
    if text_width(text, tag(), bold=True) + 8 > grid.box + BOX_GAP:
        text = short
    width = text_width(text, tag(), bold=True) + 8
    left = x + grid.box + 3 - width if width < grid.box else x + (grid.box - width) / 2
    svg.rect(left, y - 8, width, 14, rx=7, fill=fill)
    svg.text(
        left + width / 2,
        y + 2.5,
        text,
        size=tag(),
        bold=True,
        fill=palette.PAPER,
        text_anchor="middle",
    )


# --- Clients, alarms, messages ---------------------------------------------------------------


def _draw_cards(svg: Svg, grid: Grid, cluster: Cluster, top: float, bottom: float) -> float:
    """The clients, beside the lanes; each as high as its text. Returns where they end."""
    if not cluster.cards:
        return top
    x, y = grid.right + 12, top
    svg.text(x + 2, top - 8, cluster.cards_name, size=11, fill=palette.MUTED)
    room = (bottom - top + lane_gap()) / len(cluster.cards)
    for card in cluster.cards:
        height = _draw_card(svg, x, y, card, cluster.card_width)
        y += max(height + lane_gap(), min(room, max(grid.lane_heights, default=room) + lane_gap()))
    return y - lane_gap()


def _draw_cards_below(svg: Svg, grid: Grid, cluster: Cluster, y: float) -> float:
    """The clients under the lanes, from left to right. Returns where they end."""
    room = grid.width - 2 * MARGIN
    columns = min(len(cluster.cards), max(1, int((room + 8) // (cluster.card_width + 8))))
    width = (room + 8) / columns - 8
    for begin in range(0, len(cluster.cards), columns):
        row = cluster.cards[begin : begin + columns]
        y += 8 + max(
            _draw_card(svg, MARGIN + k * (width + 8), y, card, width) for k, card in enumerate(row)
        )
    return y - 8


def _draw_card(svg: Svg, x: float, y: float, card: Card, width: float) -> float:
    """One client; returns its height."""
    lines = _card_lines(card, width)
    height = 26 + 15 * len(lines)
    _open_part(svg, f"card {card.name}")
    svg.rect(x, y, width, height, rx=6, fill=palette.PAPER, stroke=palette.LINE)
    svg.text(x + 10, y + 18, card.name, bold=True)
    for k, (line, text) in enumerate(lines):
        if text.was is not None:
            _highlight(svg, x + 6, y + 24 + 15 * k, text_width(line, 11.5) + 8, 15)
        svg.text(x + 10, y + 35 + 15 * k, line, size=11.5, fill=palette.TONES[text.tone])
    _close_part(svg)
    return height


def _card_lines(card: Card, width: float) -> list[tuple[str, Text]]:
    """The card's text in lines that fit, each with the text that it is part of."""
    return [
        (line, text) for text in card.lines for line in wrap(_told(text, width), width - 20, 11.5)
    ]


def _told(text: Text, width: float) -> str:
    """A line of a card, with what it was; in a dense card only where that needs no second line."""
    both = text.text if text.was is None else f"{text.text} (was: {text.was})"
    is_wide = text_width(both, 11.5) > width - 20
    return text.text if current().dense and is_wide else both


def _draw_alarm(svg: Svg, grid: Grid, alarm: str, y: float) -> float:
    lines = wrap(f"✗ {alarm}", grid.width - 2 * MARGIN - 24)
    height = 12 + 17 * len(lines)
    svg.rect(
        MARGIN,
        y,
        grid.width - 2 * MARGIN,
        height,
        rx=6,
        fill=palette.BAD_PAPER,
        stroke=palette.BAD,
        stroke_width=1.4,
    )
    for k, line in enumerate(lines):
        svg.text(MARGIN + 12, y + 19 + 17 * k, line, fill=palette.BAD)
    return y + height


def _draw_all_messages(svg: Svg, grid: Grid, groups: list[Messages], y: float) -> float:
    """The groups in rows, as many in one as there is room for. Returns where they end."""
    x, below, room = float(MARGIN), y, grid.width - MARGIN
    for group in groups:
        width = _group_width(group)
        if x > MARGIN and x + width > room:
            x, y = float(MARGIN), below
        end = _draw_messages(svg, grid, group, y, x) + (0 if current().dense else 6)
        x, below = x + width + 24, max(below, end)
    return below


def _draw_messages_aside(svg: Svg, grid: Grid, groups: list[Messages], y: float) -> float:
    """The groups below each other, beside the lanes. Returns where they end."""
    for group in groups:
        y = _draw_messages(svg, grid, group, y, grid.aside) + 6
    return y


def _narrowest_group(group: Messages) -> float:
    """The width of a group whose messages stand below each other."""
    shown = group.items[-group.limit :]
    folded = len(group.items) - len(shown)
    words = f"{folded} {group.folded}, not shown" if folded else "" if shown else group.empty
    head = text_width(group.name, 11.5, bold=True) + text_width(words, 11.5) + 14
    return max([150.0, head, *map(_message_width, shown)])


def _group_width(group: Messages) -> float:
    """The width of a group whose messages stand in one row."""
    shown = group.items[-group.limit :]
    words = group.empty if not shown else "" if len(shown) == len(group.items) else group.folded
    head = text_width(group.name, 11.5, bold=True) + text_width(words, 11.5) + (90 if words else 10)
    return max(head, total_width(map(_message_width, shown), 8))


def _draw_messages(svg: Svg, grid: Grid, group: Messages, y: float, left: float = MARGIN) -> float:
    """Messages as boxes that flow from left to right; the first may be folded into a count."""
    svg.text(left, y + 13, group.name, bold=True, size=11.5)
    shown = group.items[-group.limit :]
    folded = len(group.items) - len(shown)
    beside = f"{folded} {group.folded}, not shown" if folded else "" if shown else group.empty
    x = left + text_width(group.name, 11.5, bold=True) + 10
    svg.text(x, y + 13, beside, size=11.5, fill=palette.MUTED)
    y += 20 if current().dense else 25
    if not shown:
        return y
    x = left
    for item in shown:
        width = _message_width(item)
        if x > left and x + width > grid.width - MARGIN:
            x, y = left, y + 50
        _open_part(svg, f"message {group.name} {item.name} {item.detail}", kind="message")
        _draw_message(svg, x, y, width, item)
        _close_part(svg)
        x += width + 8
    return y + 46


def _message_width(item: Message) -> float:
    mark = text_width(item.mark, tag(), bold=True) + 20 if item.mark else 0
    head = text_width(item.name, 12, bold=True) + mark
    return max(head, text_width(item.detail, 11.5)) + 20


def _draw_message(svg: Svg, x: float, y: float, width: float, item) -> None:
    tone = palette.MUTED if item.faded else palette.INK
    border = {"stroke_dasharray": "2 3"} if item.faded else {}
    svg.rect(x, y, width, 42, rx=6, fill=palette.PANEL, stroke=palette.LINE, **border)
    svg.text(x + 10, y + 18, item.name, bold=True, fill=tone)
    svg.text(x + 10, y + 34, item.detail, size=11.5, fill=palette.MUTED)
    if item.mark:
        room = text_width(item.mark, tag(), bold=True) + 8
        svg.rect(x + width - room - 6, y - 6, room, 14, rx=7, fill=palette.ACCENT)
        svg.text(
            x + width - room / 2 - 6,
            y + 4.5,
            item.mark,
            size=tag(),
            bold=True,
            fill=palette.PAPER,
            text_anchor="middle",
        )
