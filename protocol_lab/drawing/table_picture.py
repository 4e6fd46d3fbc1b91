"""The picture of a state whose spec has no drawing: its tables and lines as SVG."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current
from protocol_lab.drawing.state_table import Columns, Line, MarkedText, state_columns
from protocol_lab.drawing.svg import Svg, text_width, wrap
from protocol_lab.explain.wording import spec_title
from protocol_lab.model.spec import Model

_WIDTH, _MARGIN, _LINE, _GAP, _INDENT = 720, 12, 17, 18, 10
_WIDEST = 260
"""A cell of a table wraps its text beyond this width."""


@dataclass(frozen=True)
class _Cell:
    text: str
    bold: bool = False
    differs: bool = False

    def wrapped(self, width: float) -> list[str]:
        return wrap(self.text, width, bold=self.bold) or [""]


_Row = list[_Cell]


def draw_state_table(model: Model, row: bytes, previous: bytes | None = None) -> str:
    """The tables of a state as SVG.

    A row with differences has a bar, and what differs shows its previous text.
    """
    tables, lines = state_columns(model, row, previous)
    blocks = [_of_lines(lines)] if lines else []
    blocks += [_of_table(table) for table in tables]
    widths = [_widths(block) for block in blocks]
    width = max([_page(), *(ceil(sum(each)) + 2 * _MARGIN for each in widths)])
    svg, y = Svg(), _MARGIN
    for block, columns in zip(blocks, widths, strict=True):
        for cells in block:
            y = _draw_row(svg, cells, columns, y, width)
        y += _MARGIN
    described = ". ".join(_spoken(block) for block in blocks)
    return svg.document(width, y, spec_title(model.spec.name), described)


def _of_lines(lines: Iterable[Line]) -> list[_Row]:
    return [[_Cell(line.name, bold=True), _cell(line.value)] for line in lines]


def _of_table(table: Columns) -> list[_Row]:
    head = [_Cell(text, bold=True) for text in [table.name, *table.heads]]
    return [head, *([_Cell(name, bold=True), *map(_cell, cells)] for name, cells in table.rows)]


def _cell(value: list[MarkedText]) -> _Cell:
    text = "".join(piece.spoken for piece in value)
    return _Cell(text, differs=any(piece.mark for piece in value))


def _page() -> float:
    """The width of the picture, unless a table needs more."""
    return current().width or _WIDTH


def _widths(block: list[_Row]) -> list[float]:
    """The width of each column; a single column beside the names takes all the rest."""
    natural = [
        max(text_width(cell.text, bold=cell.bold) for cell in column) + _GAP
        for column in zip(*block, strict=True)
    ]
    if len(natural) == 2:
        return [natural[0], _page() - 2 * _MARGIN - natural[0]]
    return [natural[0], *(min(each, _WIDEST) for each in natural[1:])]


def _draw_row(svg: Svg, cells: _Row, widths: list[float], y: float, width: float) -> float:
    """Draw one row from this height on; returns where the next one begins."""
    texts = [cell.wrapped(column - _GAP) for cell, column in zip(cells, widths, strict=True)]
    height = _LINE * max(map(len, texts)) + 6
    if any(cell.differs for cell in cells):
        svg.rect(8, y, width - 16, height, rx=4, fill=palette.CHANGED)
    x = _MARGIN + _INDENT
    for cell, lines, column in zip(cells, texts, widths, strict=True):
        for k, text in enumerate(lines, 1):
            svg.text(x, y + k * _LINE - 1, text, bold=cell.bold)
        x += column
    return y + height + 2


def _spoken(block: list[_Row]) -> str:
    """A block in words, for screen readers."""
    return ". ".join(
        f"{row[0].text}: {', '.join(cell.text for cell in row[1:] if cell.text)}" for row in block
    )
