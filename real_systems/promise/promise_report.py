"""The table in words, as `lab.py promise` prints it, and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.traces.walk import Walk
from real_systems.promise.promise_table import Cell, Row, Settings, searched, story
from real_systems.runner.story_views import command_of


@dataclass
class Report:
    """The answer for some settings: a cell for each row."""

    settings: Settings
    cells: list[Cell]

    @property
    def verdict(self) -> str:
        """violated, undecided or holds, as for `check`."""
        if any(cell.loses for cell in self.cells):
            return "violated"
        return "undecided" if any(cell.bound for cell in self.cells) else "holds"

    @property
    def shortest(self) -> Cell | None:
        """The cell whose loss takes the fewest steps."""
        lost = [cell for cell in self.cells if cell.loses]
        return min(lost, key=lambda cell: len(cell.shortest.steps), default=None)

    @property
    def walk(self) -> Walk:
        """The shortest loss, to be stepped from its first state. Raises LabError if there is
        none."""
        if self.shortest is None:
            raise LabError("Nothing is lost within these faults, so there is no loss to step.")
        walk = Walk.begin(self.settings.model(self.shortest.row))
        for step in self.shortest.shortest.steps:
            walk.take(step)
        walk.first()
        return walk

    def cell(self, name: str) -> Cell:
        """The cell of a row, by the row's name. Raises LabError."""
        row = self.settings.row_named(name)
        return next(cell for cell in self.cells if cell.row is row)

    def as_json(self) -> dict[str, Any]:
        """The settings, and each cell with its stories."""
        return {
            "settings": self.settings.values,
            "assumed": self.settings.assumed,
            "verdict": self.verdict,
            "cells": [
                {
                    "row": cell.row.name,
                    "faults": dict(cell.row.faults),
                    "states": cell.states,
                    "stories": {name: asdict(story(cell, name)) for name in cell.broken},
                    "recorded": recorded_runs(cell),
                }
                for cell in self.cells
            ],
        }

    def __str__(self) -> str:
        lines = [f"What can be lost with {self.settings}?"]
        if self.settings.assumed:
            lines.append(f"Assumed, since nothing says it: {', '.join(self.settings.assumed)}.")
        lines.append("")
        width = max(len(cell.row.text) for cell in self.cells)
        lines += [f"  {cell.row.text:{width}}  {in_short(cell)}" for cell in self.cells]
        if self.shortest:
            lines += ["", *_story_lines(self.shortest)]
        return "\n".join([*lines, "", self.settings.limits])


def promise(settings: Settings, rows: tuple[Row, ...] = ()) -> Report:
    """Search the cell of each of these rows, by default of all."""
    return Report(settings, [searched(settings, row) for row in rows or settings.rows])


def in_short(cell: Cell) -> str:
    """One cell on a line: lost or kept, in which way, and what it costs meanwhile."""
    if cell.bound:
        return f"undecided: {cell.bound}"
    said, least = f"kept in all {cell.states:,} states", cell.shortest
    if least and cell.row.lost != "lost":
        said = f"{cell.row.lost.upper()} all the same, in {len(least.steps)} steps"
    elif least:
        way = "every copy is destroyed" if least.is_destroyed else "a copy is passed over"
        said = f"LOST in {len(least.steps)} steps: {way}"
    return f"{said}; {cell.price or 'takes writes'}" if cell.row.price else said


def recorded_runs(cell: Cell) -> list[str]:
    """The commands that show the recorded runs of a cell."""
    return [f"lab.py real {command_of(each.recording)} --recorded" for each in cell.recordings]


def in_a_sentence(text: str) -> str:
    """The text as it stands within a sentence."""
    return text[0].lower() + text[1:]


def _story_lines(cell: Cell) -> list[str]:
    """The shortest loss, what would keep the record, and the recorded run."""
    lines = [f"The shortest loss: {in_a_sentence(cell.row.text)}."]
    lines += [f"  {number}. {text}" for number, text in enumerate(cell.shortest.sentences, 1)]
    lines.append(f"  Then {cell.shortest.reason}.")
    kept = "; ".join(cell.what_keeps)
    lines.append(
        f"Within the same faults it is kept with: {kept}."
        if kept
        else "No single change of a setting keeps it."
    )
    lines += [f"Seen on a real cluster: {each}" for each in recorded_runs(cell)]
    return lines
