"""The records of a log: a box for each that is here, or that was, with tags on its edge."""

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current, measures, type_size
from protocol_lab.drawing.cluster import Cluster, Entry
from protocol_lab.drawing.cluster_picture.grid import BOX_GAP, ROOMY, WIDE_BOX, Grid, record_height
from protocol_lab.drawing.describe import entry_text
from protocol_lab.drawing.svg import Svg, text_width

_RING = 2.4  # from the middle of its line to the box


def draw_entry(svg: Svg, grid: Grid, entry: Entry, y: float, cluster: Cluster) -> None:
    """A record at its place, or what is left of one that is gone."""
    x = grid.column(entry.offset)
    svg.open_group(entry_text(entry, cluster))
    if entry.is_here:
        _draw_record(svg, grid, entry, x, y)
    else:
        _draw_gap(svg, grid, entry, x, y, cluster.removed)
    svg.close_group()


def _draw_record(svg: Svg, grid: Grid, entry: Entry, x: float, y: float) -> None:
    border = {"stroke": palette.MUTED, "stroke_width": 1.2, "stroke_dasharray": "4 3"}
    if entry.committed:
        border = {"stroke": palette.INK, "stroke_width": 2}
    is_wrong = bool(entry.gone) and entry.mark != "changed"
    if is_wrong:
        border |= {"stroke": palette.BAD, "stroke_width": 2.4}
    svg.rect(x, y, grid.box, record_height(), rx=7, fill=palette.shade(entry.shade), **border)
    middle = x + grid.box / 2
    detail = _detail(grid, entry)
    if entry.is_ticked and not is_wrong:
        detail = f"{detail} ✓".strip()
    size = measures().label + (2 if grid.box >= ROOMY and not current().large else 0)
    if text_width(entry.label, size, bold=True) > grid.box - 6:
        size = type_size()
    centre = y + record_height() / 2
    name_at = centre - 2 if detail else centre + 5
    svg.text(middle, name_at, entry.label, size=size, bold=True, text_anchor="middle")
    svg.text(middle, centre + 13, detail, size=type_size(), text_anchor="middle")
    if is_wrong:
        _draw_tag(svg, grid, x, y, f"{entry.word} {entry.gone}", entry.word)
    elif entry.mark:
        _draw_ring(svg, grid, x, y, is_late=entry.mark in ("committed", "known"))


def _draw_ring(svg: Svg, grid: Grid, x: float, y: float, is_late: bool) -> None:
    """Around what has changed just now. is_late: it appears once the watermark has moved."""
    if is_late:
        svg.raw('<g class="lab-late">')
    size = grid.box + 2 * _RING, record_height() + 2 * _RING
    svg.rect(x - _RING, y - _RING, *size, rx=9, fill="none", stroke=palette.CHANGED, stroke_width=3)
    if is_late:
        svg.raw("</g>")


def _draw_gap(svg: Svg, grid: Grid, entry: Entry, x: float, y: float, removed: str) -> None:
    """A record that is not here any more: a hatched box with the word for that and the record's
    text."""
    word = f"✗ {entry.word}" if entry.mark == "lost" else removed
    if entry.mark == "truncated" and grid.box < WIDE_BOX:
        word = "gone"
    tone = palette.BAD if entry.mark == "lost" else palette.MUTED
    svg.rect(
        x,
        y,
        grid.box,
        record_height(),
        rx=7,
        fill=palette.BAD_PAPER if entry.mark == "lost" else palette.PAPER,
        stroke=tone,
        **(
            {"stroke_width": 2.4}
            if entry.mark == "lost"
            else {"stroke_width": 1.5, "stroke_dasharray": "2 3"}
        ),
    )
    paper = palette.BAD_PAPER
    if entry.mark == "truncated":
        paper = palette.PAPER
        svg.hatch(x + 1, y + 1, grid.box - 2, record_height() - 2)
    middle = x + grid.box / 2
    lines = [
        (word, type_size(), True, tone, None),
        (f"{entry.label} {entry.short}".strip(), type_size(), False, palette.INK, "line-through"),
    ]
    for k, (text, size, bold, fill, decoration) in enumerate(lines):
        width = min(grid.box - 4, text_width(text, size, bold) + 4)
        pitch = 15 if current().large else 16
        top = y + record_height() / 2 + 1 - pitch * (1 - k)
        svg.rect(middle - width / 2, top, width, pitch - 1, rx=3, fill=paper)
        svg.text(
            middle,
            top + pitch - 4,
            text,
            size=size,
            bold=bold,
            fill=fill,
            text_anchor="middle",
            text_decoration=decoration,
        )


def _detail(grid: Grid, entry: Entry) -> str:
    room = grid.box - 8 - (14 if entry.is_ticked else 0)
    return entry.detail if text_width(entry.detail, type_size()) <= room else entry.short


def _draw_tag(svg: Svg, grid: Grid, x: float, y: float, text: str, short: str) -> None:
    """A small red label on the upper edge of a box."""
    if text_width(text, type_size(), bold=True) + 8 > grid.box + BOX_GAP:
        text = short
    width = text_width(text, type_size(), bold=True) + 8
    left = x + grid.box + 3 - width if width < grid.box else x + (grid.box - width) / 2
    # Higher where the record's name is close below it.
    top = y - (10 if current().large else 11)
    svg.rect(left, top, width, measures().tag, rx=7, fill=palette.BAD)
    svg.text(
        left + width / 2,
        top + measures().tag - 3.5,
        text,
        size=type_size(),
        bold=True,
        fill=palette.PAPER,
        text_anchor="middle",
    )
