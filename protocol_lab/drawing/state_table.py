"""A state as lines of names and values, with what differs marked.

This is the view of a state that needs no drawing code: the stepper's State tab, and the picture
of a spec that brings none of its own.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, text_width, wrap
from protocol_lab.explain.phrasing import number_text
from protocol_lab.explain.wording import spec_title
from protocol_lab.spec.channels import lifeline
from protocol_lab.spec.layout import ArrayLayout, IntegerLayout, Node, Per, StructLayout
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain_value

_WIDTH, _MARGIN, _LINE = 720, 12, 17
SAME, CHANGED, ADDED, REMOVED = "", "changed", "added", "removed"


@dataclass(frozen=True)
class MarkedText:
    """Part of a value; `mark` tells how it differs, `was` what stood there before it changed."""

    text: str
    mark: str = SAME
    was: str = ""

    @property
    def spoken(self) -> str:
        """The piece with its difference in words and signs, for where nothing is coloured."""
        if self.mark == CHANGED:
            return f"{self.was} → {self.text}"
        return {ADDED: f"+{self.text}", REMOVED: f"−{self.text}"}.get(self.mark, self.text)


@dataclass(frozen=True)
class Line:
    """A variable, or one node's part of it, as it is written in an action after `s.`."""

    name: str
    value: list[MarkedText]

    @property
    def differs(self) -> bool:
        return any(piece.mark for piece in self.value)


def state_table(model: Model, row: bytes, previous: bytes | None = None) -> list[Line]:
    """The lines of a state, with its differences to a previous state of the same model."""
    lines = []
    for name, layout in model.layout.fields.items():
        at = model.layout.offsets[name]
        value = plain_value(layout, row, at)
        old = value if previous is None else plain_value(layout, previous, at)
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
    """The variables that every node of one kind has: a row a variable, a cell a node."""

    heads: list[str]
    rows: list[tuple[str, list[list[MarkedText]]]]


def state_columns(
    model: Model, row: bytes, base: bytes | None = None
) -> tuple[list[Columns], list[Line]]:
    """A state as one table for each kind of node, and the lines of all that belongs to no node.

    Structures are split into their fields. `base` is any other state of the model, to mark the
    differences to it.
    """
    tables: dict[Node, list[tuple[str, list[list[MarkedText]]]]] = {}
    lines: list[Line] = []
    old = row if base is None else base
    for name, layout in model.layout.fields.items():
        declared, at = model.spec.state.field_types[name], model.layout.offsets[name]
        values = plain_value(layout, row, at), plain_value(layout, old, at)
        _split(model, name, declared, layout, *values, tables, lines)
    columns = [
        Columns(
            [lifeline(kind, node) for node in range(1, getattr(model.constants, kind.count) + 1)],
            rows,
        )
        for kind, rows in tables.items()
    ]
    return columns, lines


def _split(
    model: Model, name: str, declared: Any, layout: Any, value: Any, old: Any, tables: dict, lines
) -> None:
    """Put a variable into its table or among the lines, a structure field by field."""
    if isinstance(declared, Per):
        nodes = range(1, getattr(model.constants, declared.node.count) + 1)
        pairs = [(value[node], old[node]) for node in nodes]
        tables.setdefault(declared.node, []).extend(_cells(name, layout.item, pairs))
    elif isinstance(layout, StructLayout) and layout.kind == "struct":
        for key, part in layout.fields.items():
            field_type = declared.field_types[key]
            _split(model, f"{name}.{key}", field_type, part, value[key], old[key], tables, lines)
    else:
        lines.append(Line(name, _pieces(layout, value, old)))


def _cells(
    name: str, layout: Any, pairs: list[tuple[Any, Any]]
) -> list[tuple[str, list[list[MarkedText]]]]:
    if isinstance(layout, StructLayout) and layout.kind == "struct":
        return [
            row
            for key, part in layout.fields.items()
            for row in _cells(f"{name}.{key}", part, [(one[key], two[key]) for one, two in pairs])
        ]
    return [(name, [_pieces(layout, one, two) for one, two in pairs])]


def _pieces(layout: Any, value: Any, old: Any) -> list[MarkedText]:
    match layout:
        case IntegerLayout():
            text, was = number_text(layout, value), number_text(layout, old)
            return [MarkedText(text) if text == was else MarkedText(text, CHANGED, was)]
        case ArrayLayout(item, _, per_node):
            keys = list(value) if per_node else range(_in_use(item, value, old))
            parts = [
                ([MarkedText(f"{key}: ")] if per_node else []) + _item(item, value[key], old[key])
                for key in keys
            ]
            if len(keys) < len(value):
                parts.append([MarkedText("zeros" if not keys else "then zeros")])
            return _enclosed("[", parts, "]")
    if layout.kind == "struct":
        return _enclosed(
            "",
            [
                [MarkedText(f"{name} "), *_pieces(part, value[name], old[name])]
                for name, part in layout.fields.items()
            ],
            "",
        )
    item = layout.fields["items"].item
    listed = _sequence if layout.kind == "seq" else _bag
    return _enclosed("[", listed(item, value, old), "]") if value or old else [MarkedText("empty")]


def _in_use(item: Any, value: list, old: list) -> int:
    """How many slots to write out: two or more zero ones at the end are not in use."""
    zero = plain_value(item, bytes(item.size))
    count = len(value)
    while count and value[count - 1] == old[count - 1] == zero:
        count -= 1
    return count if len(value) - count > 1 else len(value)


def _sequence(item: Any, value: list, old: list) -> list[list[MarkedText]]:
    common = min(len(value), len(old))
    return [
        *(_item(item, value[k], old[k]) for k in range(common)),
        *(_whole(item, each, ADDED) for each in value[common:]),
        *(_whole(item, each, REMOVED) for each in old[common:]),
    ]


def _bag(item: Any, value: list, old: list) -> list[list[MarkedText]]:
    texts = [_text(item, each) for each in value]
    left = Counter(_text(item, each) for each in old)
    parts = []
    for text in texts:
        known = left[text] > 0
        left[text] -= known
        parts.append([MarkedText(text, SAME if known else ADDED)])
    return parts + [[MarkedText(text, REMOVED)] for text in left.elements()]


def _item(layout: Any, value: Any, old: Any) -> list[MarkedText]:
    pieces = _pieces(layout, value, old)
    return [MarkedText("("), *pieces, MarkedText(")")] if isinstance(value, dict) else pieces


def _whole(layout: Any, value: Any, mark: str) -> list[MarkedText]:
    return [MarkedText(_text(layout, value), mark)]


def _text(layout: Any, value: Any) -> str:
    return "".join(piece.text for piece in _item(layout, value, value))


def _enclosed(left: str, parts: list[list[MarkedText]], right: str) -> list[MarkedText]:
    joined: list[MarkedText] = [MarkedText(left)] if left else []
    for k, part in enumerate(parts):
        joined += ([MarkedText(", ")] if k else []) + part
    return _merged([*joined, MarkedText(right)] if right else joined)


def _merged(pieces: list[MarkedText]) -> list[MarkedText]:
    """The same with neighbouring unmarked pieces made one."""
    merged: list[MarkedText] = []
    for piece in pieces:
        if merged and not merged[-1].mark and not piece.mark:
            merged[-1] = MarkedText(merged[-1].text + piece.text)
        else:
            merged.append(piece)
    return merged


def draw_state_table(model: Model, row: bytes, previous: bytes | None = None) -> str:
    """The table as SVG; changed lines carry a bar, and say what was there before."""
    lines = state_table(model, row, previous)
    names = max(text_width(line.name, 12, bold=True) for line in lines) + 34
    svg, y = Svg(), _MARGIN
    for line in lines:
        text = "".join(piece.spoken for piece in line.value)
        wrapped = wrap(text, _WIDTH - names - _MARGIN)
        height = _LINE * len(wrapped) + 6
        if line.differs:
            svg.rect(8, y, _WIDTH - 16, height, rx=4, fill=palette.CHANGED)
            svg.rect(8, y, 4, height, fill=palette.CHANGED_LINE)
        svg.text(22, y + _LINE - 1, line.name, bold=True)
        for k, part in enumerate(wrapped, 1):
            svg.text(names, y + k * _LINE - 1, part)
        y += height + 2
    described = ". ".join(
        f"{line.name}: {''.join(piece.spoken for piece in line.value)}" for line in lines
    )
    return svg.document(_WIDTH, y + _MARGIN, spec_title(model.spec.name), described)
