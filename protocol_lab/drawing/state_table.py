"""A state as tables and lines of names and values, with differences marked.

It needs no drawing code: it is the stepper's State tab, and the picture of a spec without a drawing
of its own (`table_picture`). Every kind of node has a table with a column for each node, and every
sequence or bag of structs has one with a column for each field and a row for each item.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

from protocol_lab.drawing import palette
from protocol_lab.drawing.arrangement import current
from protocol_lab.drawing.svg import Svg, text_width, wrap
from protocol_lab.explain.phrasing import number_text
from protocol_lab.explain.wording import spec_title
from protocol_lab.model.declarations import lifeline
from protocol_lab.model.evaluation import kept
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, Node, Per, StructLayout
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain_value
from protocol_lab.model.step_text import told_fields

SAME, CHANGED, ADDED, REMOVED = "", "changed", "added", "removed"


@dataclass(frozen=True)
class MarkedText:
    """Part of a value; `mark` says how it differs, `was` is the previous text."""

    text: str
    mark: str = SAME
    was: str = ""

    @property
    def spoken(self) -> str:
        """The piece with its difference in words and signs, for output without colours."""
        if self.mark == CHANGED:
            return f"{self.was} → {self.text}"
        return {ADDED: f"+{self.text}", REMOVED: f"−{self.text}"}.get(self.mark, self.text)


@dataclass(frozen=True)
class Line:
    """A variable, or one node's part of it, written as in an action after `s.`."""

    name: str
    value: list[MarkedText]

    @property
    def differs(self) -> bool:
        return any(piece.mark for piece in self.value)


def state_table(model: Model, row: bytes, previous: bytes | None = None) -> list[Line]:
    """The lines of a state, with its differences to a previous state of the same model."""
    lines = []
    values, before = (_values(model, each) for each in (row, previous or row))
    for name, layout in model.layout.fields.items():
        value, old = values[name], before[name]
        if isinstance(layout, ArrayLayout) and layout.per_node:
            lines += [
                Line(f"{name}[{node}]", _pieces(layout.item, value[node], old[node]))
                for node in value
            ]
        else:
            lines.append(Line(name, _pieces(layout, value, old)))
    return lines


@dataclass(frozen=True)
class Columns:
    """The variables that every node of one kind has: a row for each variable, a cell for each node.

    Or, with a `name`, the items of one variable: a row for each item, a cell for each field.
    """

    heads: list[str]
    rows: list[tuple[str, list[list[MarkedText]]]]
    name: str = ""


def state_columns(
    model: Model, row: bytes, base: bytes | None = None
) -> tuple[list[Columns], list[Line]]:
    """A state as tables (see `Columns`), and lines for the variables that belong to no node.

    Structures are split into their fields. `base` is any other state of the model, from which
    differences are marked.
    """
    tables: dict[Node, list[tuple[str, list[list[MarkedText]]]]] = {}
    lines: list[Line | Columns] = []
    now, old = (_values(model, each) for each in (row, row if base is None else base))
    for name, layout in model.layout.fields.items():
        declared = model.spec.state.field_types[name]
        _split(model, name, declared, layout, now[name], old[name], tables, lines)
    columns = [
        Columns(
            [lifeline(kind, node) for node in range(1, kind.number(model.constants) + 1)],
            rows,
        )
        for kind, rows in tables.items()
    ]
    columns += [each for each in lines if isinstance(each, Columns)]
    return columns, [each for each in lines if isinstance(each, Line)]


def _values(model: Model, row: bytes) -> dict[str, Any]:
    """Every variable of a state, as plain Python values."""
    whole = model.layout

    def compute() -> dict[str, Any]:
        offsets = whole.offsets
        return {name: plain_value(part, row, offsets[name]) for name, part in whole.fields.items()}

    return kept((_values, model.constants, row), compute)


def _split(
    model: Model, name: str, declared: Any, layout: Any, value: Any, old: Any, tables: dict, lines
) -> None:
    """Put a variable into its table or among the lines, a structure field by field."""
    if isinstance(declared, Per):
        nodes = range(1, declared.node.number(model.constants) + 1)
        pairs = [(value[node], old[node]) for node in nodes]
        tables.setdefault(declared.node, []).extend(_cells(name, layout.item, pairs))
    elif isinstance(layout, StructLayout) and layout.kind == "struct":
        for key, part in layout.fields.items():
            field_type = declared.field_types[key]
            _split(model, f"{name}.{key}", field_type, part, value[key], old[key], tables, lines)
    elif (value or old) and _holds_structs(layout):
        lines.append(_items_table(name, layout, value, old))
    else:
        lines.append(Line(name, _pieces(layout, value, old)))


def _holds_structs(layout: Any) -> bool:
    """Is this the layout of a sequence or bag of structs?"""
    if not isinstance(layout, StructLayout) or layout.kind == "struct":
        return False
    item = layout.fields["items"].item
    return isinstance(item, StructLayout) and item.kind == "struct"


def _items_table(name: str, layout: StructLayout, value: list, old: list) -> Columns:
    """A sequence or bag of structs: a row for each item, and columns for the fields that any item
    uses."""
    item = layout.fields["items"].item
    every = value + old
    told = {field for each in every for field in told_fields(item, each, every)}
    heads = [field for field in item.fields if field in told]
    rows = []
    for number, new, was in matched_items(layout.kind, value, old):
        mark = ADDED if was is None else REMOVED if new is None else SAME
        shown = new or was
        fields = told_fields(item, shown, every)
        cells = []
        for field in heads:
            part = item.fields[field]
            if mark == SAME:
                pieces = _pieces(part, shown[field], was[field])
            else:
                pieces = [MarkedText(value_text(part, shown[field]), mark)]
            used = field in fields or any(piece.mark == CHANGED for piece in pieces)
            cells.append(pieces if used else [MarkedText("")])
        rows.append((number, cells))
    return Columns(heads, rows, name)


def matched_items(kind: str, value: list, old: list) -> list[tuple[str, Any, Any]]:
    """Each item's place, the item in this state and in the other; None where it does not exist.

    Items of a sequence are matched by their place, those of a bag, which have none, by content.
    """
    if kind == "seq":
        count = max(len(value), len(old))
        here, before = ([*items, *[None] * (count - len(items))] for items in (value, old))
        return [(f"[{k}]", here[k], before[k]) for k in range(count)]
    left = list(old)
    found = []
    for each in value:
        known = each in left
        if known:
            left.remove(each)
        found.append(("", each, each if known else None))
    return found + [("", None, each) for each in left]


def _cells(
    name: str, layout: Any, pairs: list[tuple[Any, Any]]
) -> list[tuple[str, list[list[MarkedText]]]]:
    if isinstance(layout, StructLayout) and layout.kind == "struct":
        parts = [(f"{name}.{key}", key, part) for key, part in layout.fields.items()]
    elif isinstance(layout, ArrayLayout) and layout.per_node:  # a pair of nodes: column, row
        nodes = pairs[0][0] if pairs else ()
        parts = [(f"{name}[·][{node}]", node, layout.item) for node in nodes]
    else:
        return [(name, [_pieces(layout, one, two) for one, two in pairs])]
    rows = []
    for inner, key, part in parts:
        rows += _cells(inner, part, [(one[key], two[key]) for one, two in pairs])
    return rows


def _pieces(layout: Any, value: Any, old: Any) -> list[MarkedText]:
    match layout:
        case IntegerLayout():
            text, was = number_text(layout, value), number_text(layout, old)
            return [MarkedText(text) if text == was else MarkedText(text, CHANGED, was)]
        case ArrayLayout(item, _, per_node):
            keys = list(value) if per_node else range(_in_use(item, value, old))
            every = [each[key] for each in (value, old) for key in keys]
            parts = [
                ([MarkedText(f"{key}: ")] if per_node else [])
                + _item(item, value[key], old[key], every)
                for key in keys
            ]
            if len(keys) < len(value):
                parts.append([MarkedText("zeros" if not keys else "then zeros")])
            return _enclosed("[", parts, "]")
    if layout.kind == "struct":
        return _enclosed("", _fields(layout, value, old, layout.fields), "")
    item = layout.fields["items"].item
    if not value and not old:
        return [MarkedText("empty")]
    return _enclosed("[", _listed(layout.kind, item, value, old), "]")


def _in_use(item: Any, value: list, old: list) -> int:
    """How many slots to write: two or more zero ones at the end count as unused."""
    zero = plain_value(item, bytes(item.size))
    count = len(value)
    while count and value[count - 1] == old[count - 1] == zero:
        count -= 1
    return count if len(value) - count > 1 else len(value)


def _listed(kind: str, item: Any, value: list, old: list) -> list[list[MarkedText]]:
    """The items of a sequence or bag, each as a text."""
    every, parts = value + old, []
    for _, new, was in matched_items(kind, value, old):
        if was is None or new is None:
            whole = value_text(item, new if was is None else was, every)
            parts.append([MarkedText(whole, ADDED if was is None else REMOVED)])
        else:
            parts.append(_item(item, new, was, every))
    return parts


def _item(layout: Any, value: Any, old: Any, every: list) -> list[MarkedText]:
    """An item of an array, sequence or bag whose items, here and before, are these."""
    if not isinstance(layout, StructLayout) or layout.kind != "struct":
        return _pieces(layout, value, old)
    told = {*told_fields(layout, value, every), *told_fields(layout, old, every)}
    return _enclosed("(", _fields(layout, value, old, told), ")")


def _fields(
    layout: StructLayout, value: Any, old: Any, told: Collection[str]
) -> list[list[MarkedText]]:
    """Those fields of a structure that are told, each after its name."""
    return [
        [MarkedText(f"{name} "), *_pieces(part, value[name], old[name])]
        for name, part in layout.fields.items()
        if name in told
    ]


def value_text(layout: Any, value: Any, every: list | None = None) -> str:
    """A value without differences, as text among others such as these."""
    return "".join(piece.text for piece in _item(layout, value, value, every or [value]))


def _enclosed(left: str, parts: list[list[MarkedText]], right: str) -> list[MarkedText]:
    joined: list[MarkedText] = [MarkedText(left)] if left else []
    for k, part in enumerate(parts):
        joined += ([MarkedText(", ")] if k else []) + part
    return _merged([*joined, MarkedText(right)] if right else joined)


def _merged(pieces: list[MarkedText]) -> list[MarkedText]:
    """The pieces with neighbouring unmarked ones joined."""
    merged: list[MarkedText] = []
    for piece in pieces:
        if merged and not merged[-1].mark and not piece.mark:
            merged[-1] = MarkedText(merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return merged


# --- Table picture --------------------------------------------------------------------------------
#
# The picture of a state whose spec has no drawing: its tables and lines as SVG.


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
