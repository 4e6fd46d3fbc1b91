"""Who has said what: the claims of a spec in one state, and where two of them contradict."""

import importlib
import importlib.util
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from protocol_lab.model.declarations import (
    NO,
    NO_LONGER,
    ON_ITS_WAY,
    SILENT,
    YES,
    Cell,
    Claim,
    lifeline,
)
from protocol_lab.model.layout import Node, Per
from protocol_lab.model.spec import Model, Spec
from protocol_lab.model.state_view import view

_SIGNS = {YES: "✓", NO: "✗", ON_ITS_WAY: "…", NO_LONGER: "⊘", SILENT: "–"}


def said(cell: Cell) -> str:
    """What a node has said, with its sign."""
    return f"{_SIGNS[cell.kind]} {cell.word}".rstrip()


@dataclass(frozen=True)
class Row:
    """A claim in one state: a cell for each node, and how many of them have to say yes."""

    claim: Claim
    cells: list[Cell]
    goal: int

    @property
    def nodes(self) -> list[int]:
        """Who has said yes."""
        return [k for k, each in enumerate(self.cells, 1) if each.kind == YES]

    @property
    def is_full(self) -> bool:
        return 0 < self.goal <= len(self.nodes)

    @property
    def can_be_filled(self) -> bool:
        """May enough nodes still say yes?"""
        return len(self.cells) - sum(each.kind == NO_LONGER for each in self.cells) >= self.goal


@dataclass(frozen=True)
class Mark:
    """Two rows that contradict each other, by their places, in a column, or in none; and why."""

    rows: tuple[int, int]
    node: int
    why: str


@dataclass(frozen=True)
class Tally:
    """The board of one state."""

    columns: list[str]
    rows: list[Row]
    marks: list[Mark]

    def values(self) -> dict[str, Any]:
        """The board as plain values."""
        return {
            "columns": self.columns,
            "rows": [
                {
                    "name": each.claim.name,
                    "title": each.claim.title,
                    "cells": [{"kind": cell.kind, "text": said(cell)} for cell in each.cells],
                    "count": len(each.nodes),
                    "goal": each.goal,
                    "full": each.is_full,
                    "open": each.can_be_filled,
                }
                for each in self.rows
            ],
            "marks": [vars(each) for each in self.marks],
        }


def claims_of(spec: Spec) -> list[Claim]:
    """The claims of a spec: its own, and those in the module `claims` of its package."""
    package = f"{spec.name.partition('.')[0]}_spec"
    if importlib.util.find_spec(package) and importlib.util.find_spec(f"{package}.claims"):
        importlib.import_module(f"{package}.claims")
    return spec.claims


def tally(model: Model, row: bytes) -> Tally:
    """The claims in a state."""
    s, c = view(model.layout, row), model.constants
    columns = node_names(model)
    rows = [
        Row(
            each,
            [each.function(s, c, node) for node in range(1, len(columns) + 1)],
            each.goal(s, c),
        )
        for each in claims_of(model.spec)
    ]
    return Tally(columns, rows, list(_marks(columns, rows)))


def node_names(model: Model) -> list[str]:
    """The names of the nodes of the kind that the state has most about, such as "replica 1", or
    "b1" if the spec's diagrams name bookies so."""
    declared = model.layout.declared.field_types.values()
    about = [each.node if isinstance(each, Per) else getattr(each, "of", None) for each in declared]
    kinds = Counter(each for each in about if isinstance(each, Node)).most_common(1)
    if not kinds:
        return []
    node = kinds[0][0]
    names = [lifeline(node, k) for k in range(1, node.number(model.constants) + 1)]
    given = [
        name for each in model.spec.lifelines if callable(each) for name in each(model.constants)
    ]
    short = [f"{name[0]}{k}" for k, name in enumerate(names, 1)]
    return short if set(short) <= set(given) else names


def _marks(columns: list[str], rows: list[Row]) -> Iterator[Mark]:
    for (j, one), (k, other) in combinations(enumerate(rows), 2):
        both = [node for node in one.nodes if node in other.nodes]
        are_full = one.is_full and other.is_full
        if _names("excludes", one.claim, other.claim):
            for node in both:
                told = f"{_words(one, node)}, and {_words(other, node)}"
                full = " Both rows are full." if are_full else ""
                why = f"{_opening(columns[node - 1])} is in both rows: {told}.{full}"
                yield Mark((j, k), node, why)
        if _names("meets", one.claim, other.claim) and are_full and not both:
            told = f"{one.claim.title}; {other.claim.title}"
            yield Mark((j, k), 0, f"Both rows are full, and no column is in both: {told}.")


def _names(relation: str, one: Claim, other: Claim) -> bool:
    """Does one of the claims name the other in this relation?"""
    return getattr(one, relation) == other.name or getattr(other, relation) == one.name


def _words(row: Row, node: int) -> str:
    return f"“{row.cells[node - 1].word}” ({row.claim.title})"


def _opening(name: str) -> str:
    """With a capital, unless it is a short name as b1."""
    return name[:1].upper() + name[1:] if len(name.split()[0]) > 2 else name
