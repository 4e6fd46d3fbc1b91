"""The table in words, as `lab.py promise` prints it, and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from protocol_lab.errors import LabError, unknown
from protocol_lab.traces.walk import Walk
from real_systems.kafka.promise.cluster_settings import (
    WITH_ELR,
    Settings,
    phrase,
    release_of,
    rules_of,
)
from real_systems.kafka.promise.promise_table import (
    ROWS,
    Cell,
    Row,
    model_of,
    searched,
    story,
    what_keeps,
)
from real_systems.runner.stories import recorded, story_of
from real_systems.runner.story_views import StoryRun, command_of

LIMITS = (
    "Kept means: in every state that these faults lead to, by the rules of the release as the model"
    " kafka.settings has them. It does not mean safe."
)


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
        walk = Walk.begin(model_of(self.settings, self.shortest.row))
        for step in self.shortest.shortest.steps:
            walk.take(step)
        walk.first()
        return walk

    def cell(self, name: str) -> Cell:
        """The cell of a row, by the row's name. Raises LabError."""
        for each in self.cells:
            if each.row.name == name:
                return each
        raise unknown("row", name, [each.row.name for each in self.cells])

    def as_json(self) -> dict[str, Any]:
        """The settings, and each cell with its stories."""
        return {
            "settings": self.settings.constants,
            "assumed": assumed(self.settings),
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
        if assumed(self.settings):
            lines.append(f"Assumed, since nothing says it: {', '.join(assumed(self.settings))}.")
        lines.append("")
        width = max(len(cell.row.text) for cell in self.cells)
        lines += [f"  {cell.row.text:{width}}  {line_of(cell)}" for cell in self.cells]
        if self.shortest:
            lines += ["", *_story_lines(self.shortest)]
        return "\n".join([*lines, "", LIMITS])


def promise(settings: Settings, rows: tuple[Row, ...] = ROWS) -> Report:
    """Search each row's cell."""
    return Report(settings, [searched(settings, row) for row in rows])


def assumed(settings: Settings) -> list[str]:
    """The settings that nobody has said."""
    values = settings.constants
    return [phrase(name, values[name]) for name in values if name not in settings.said]


def line_of(cell: Cell) -> str:
    """One cell on a line, by its own stories."""
    shortest = cell.shortest
    if shortest is None:
        return in_short(cell, 0, False)
    return in_short(cell, len(shortest.steps), shortest.is_destroyed)


def in_short(cell: Cell, steps: int, is_destroyed: bool) -> str:
    """One cell on a line: lost or kept, in which way, and whether writes go on.

    steps, is_destroyed: of the shortest loss; 0 and False where nothing is lost.
    """
    if cell.bound:
        return f"undecided: {cell.bound}"
    said = f"kept in all {cell.states:,} states"
    if "told_failed_is_not_written" in cell.lost:
        said = f"WRITTEN all the same, in {steps} steps"
    elif cell.lost:
        way = "every copy is destroyed" if is_destroyed else "a copy is passed over"
        said = f"LOST in {steps} steps: {way}"
    return f"{said}; {cell.price or 'takes writes'}"


def recordings_of(cell: Cell) -> list[StoryRun]:
    """The recorded runs of real brokers with this row's faults, by the cell's rules and with its
    outcome. Their other settings are those of the story."""
    found = []
    for name in cell.row.stories:
        story = story_of(name)
        for case in story.cases:
            release = release_of(case.release)
            usual = "on" if release in WITH_ELR[1:] else "off"
            has_elr = story.chosen(case.settings).get("elr", usual) == "on"
            if rules_of(release, has_elr) != rules_of(*cell.rules):
                continue
            run = recorded(story, case.release, case.settings)
            came = run.outcome
            if bool(came.lost or {*came.failed} & {*came.readable}) == bool(cell.lost):
                found.append(StoryRun(story, run, is_live=False))
    return found


def recorded_runs(cell: Cell) -> list[str]:
    """The commands that show these runs."""
    return [f"lab.py real {command_of(each.recording)} --recorded" for each in recordings_of(cell)]


def in_a_sentence(text: str) -> str:
    """The text as it stands within a sentence."""
    return text[0].lower() + text[1:]


def _story_lines(cell: Cell) -> list[str]:
    """The shortest loss, what would keep the record, and the recorded run."""
    lines = [f"The shortest loss: {in_a_sentence(cell.row.text)}."]
    lines += [f"  {number}. {text}" for number, text in enumerate(cell.shortest.sentences, 1)]
    lines.append(f"  Then {cell.shortest.reason}.")
    kept = what_keeps(cell)
    lines.append(
        f"Within the same faults it is kept with: {'; '.join(kept)}."
        if kept
        else "No single change of a setting keeps it."
    )
    lines += [f"Seen on real brokers: {each}" for each in recorded_runs(cell)]
    return lines
