"""What is asked about a system, the search of a cell, why something is lost, what would keep it;
the table in words, as `lab.py promise` prints it, and as JSON."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from protocol_lab.errors import LabError, unknown
from protocol_lab.explain.wording import choice_sentence
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import evaluate
from protocol_lab.traces.walk import Walk
from real_systems.runner.recordings import Recording
from real_systems.runner.stories import story_of
from real_systems.runner.story_views import StoryRun, command_of


@dataclass(frozen=True, eq=False)
class Row:
    """Faults that happen together, in a sentence.

    faults: how often each, by name. promises: those that the row is about; price: what else is
    judged. stories: recorded runs with these faults. lost: in a word, what becomes of a record.
    """

    name: str
    text: str
    faults: Mapping[str, int]
    promises: tuple[str, ...]
    price: tuple[str, ...] = ()
    stories: tuple[str, ...] = ()
    lost: str = "lost"

    @property
    def judged(self) -> list[str]:
        """What is judged in each state."""
        return [*self.promises, *self.price]


class Choice(NamedTuple):
    """A setting. called: as in a form; values: those that a form offers; phrase(value): what an
    operator would say for such a value."""

    called: str
    values: Sequence[Any]
    phrase: Callable[[Any], str]


class Settings(ABC):
    """What is configured of a system, and what the table has to know of that system.

    A dataclass whose fields are the settings; `said` names those that somebody gave. rows: the
    table's. columns: its headings by name, and the settings of each, the others being those that
    are asked about. choices: each setting by its name. price: what may come of a cell besides a
    loss, the worst first. limits: what *kept* means. is_destroyed: the invariant that is broken
    once every copy of something promised is gone. golden: the file of the golden cells.
    """

    said: Mapping[str, str]
    rows: ClassVar[tuple[Row, ...]]
    columns: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]]
    choices: ClassVar[Mapping[str, Choice]]
    price: ClassVar[Mapping[str, str]]
    limits: ClassVar[str]
    is_destroyed: ClassVar[Callable[..., str]]
    golden: ClassVar[Path]

    @property
    def values(self) -> dict[str, Any]:
        """Each setting by its name."""
        return {name: getattr(self, name) for name in self.choices}

    @property
    @abstractmethod
    def column(self) -> str:
        """The name of the column with these settings."""

    @abstractmethod
    def model(self, row: Row) -> Model:
        """The model of a cell."""

    @abstractmethod
    def better(self) -> Iterator[tuple[str, Any]]:
        """Each setting and a value with which more is promised, or might be."""

    @abstractmethod
    def saw(self, run: Recording) -> bool:
        """Was this run of a story by the rules that these settings have?"""

    @classmethod
    def phrase(cls, name: str, value: Any) -> str:
        """One setting, as an operator would say it."""
        return cls.choices[name].phrase(value)

    @staticmethod
    @abstractmethod
    def todo(change: str) -> str:
        """What to do on Monday for a change that keeps something, as HTML."""

    def advice(self, lost: list[Row]) -> list[str]:
        """What else to do if these rows lose something, as HTML."""
        return []

    def changed(self, name: str, value: Any) -> tuple[str, Self]:
        """A change of one setting in words, and the settings after it."""
        return self.phrase(name, value), replace(self, **{name: value})

    def changes(self) -> list[tuple[str, Self]]:
        """Each single change that promises more, or might, in words; and the settings after it."""
        return [self.changed(name, value) for name, value in self.better()]

    @property
    def assumed(self) -> list[str]:
        """The settings that nobody has said."""
        return [self.phrase(*each) for each in self.values.items() if each[0] not in self.said]

    def row_named(self, name: str) -> Row:
        """The row of this name. Raises LabError."""
        for each in self.rows:
            if each.name == name:
                return each
        raise unknown("row", name, [each.name for each in self.rows])

    def golden_cells(self) -> Iterator[tuple[Self, Row, list[Any]]]:
        """Cells whose figures are kept in `golden`, which `tests.wasm.test_search_module` writes:
        distinct and generated states, the depth, the length of the shortest path to each broken
        promise, and whether the shortest loss destroys every copy. Settings that the file doesn't
        name are these."""
        for line in json.loads(self.golden.read_text(encoding="utf-8")):
            settings = replace(self, **line["settings"])
            for name, figures in line["cells"].items():
                yield settings, settings.row_named(name), figures

    def __str__(self) -> str:
        return ", ".join(self.phrase(name, value) for name, value in self.values.items())


@dataclass
class Story:
    """A shortest counterexample to a promise: its steps, as scenarios write them and in words.

    is_destroyed: was every copy gone when the promise broke? If not, a good one was passed over.
    """

    promise: str
    steps: list[str]
    sentences: list[str]
    reason: str
    is_destroyed: bool


@dataclass(frozen=True)
class Cell:
    """What these settings promise within these faults.

    states: how many they lead to. broken: the promises, and the parts of the price, that some of
    these states break. bound: what ended the search early, if anything did.
    """

    settings: Settings
    row: Row
    states: int = 0
    broken: tuple[str, ...] = ()
    bound: str = ""

    @property
    def lost(self) -> list[str]:
        """The promises that are broken."""
        return [name for name in self.broken if name in self.row.promises]

    @property
    def loses(self) -> bool:
        """Can a record be lost? Not if the row is about another promise."""
        return bool(self.lost) and self.row.lost == "lost"

    @property
    def is_kept(self) -> bool:
        """Is every promise kept, in all states within these faults?"""
        return not self.lost and not self.bound

    @property
    def shortest(self) -> Story | None:
        """The shortest story of a broken promise, if one is."""
        found = [story(self, name) for name in self.lost]
        return min(found, key=lambda each: len(each.steps), default=None)

    @property
    def price(self) -> str:
        """The worst that may come of it meanwhile; "" if that is nothing, or nobody asked."""
        prices = self.settings.price
        return next((text for name, text in prices.items() if name in self.broken), "")

    @property
    def recordings(self) -> list[StoryRun]:
        """The recorded runs with this row's faults, by the cell's rules and with its outcome. Their
        other settings are those of the story."""
        found = []
        for name in self.row.stories:
            story = story_of(name)
            for run in story.cases:
                if self.settings.saw(run) and is_lost(run) == bool(self.lost):
                    found.append(StoryRun(story, run, is_live=False))
        return found

    @property
    def what_keeps(self) -> list[str]:
        """The single changes that keep, within the same faults, what this cell loses."""
        changes = self.settings.changes()
        return [text for text, changed in changes if searched(changed, self.row).is_kept]


def is_lost(run: Recording) -> bool:
    """Was something lost, or read that was said to have failed?"""
    came = run.outcome
    return bool(came.lost or {*came.failed} & {*came.readable})


@cache
def searched(settings: Settings, row: Row) -> Cell:
    """Search all states of one cell."""
    asked = settings.model(row)
    found = explore(asked, invariants=row.judged, to_the_end=True, progress=False)
    broken = tuple(name for name in row.judged if found.violating[name])
    return Cell(settings, row, found.distinct, broken, found.undecided_reason or "")


@cache
def story(cell: Cell, name: str) -> Story:
    """The shortest story of a broken promise, or of a part of the price."""
    found = explore(cell.settings.model(cell.row), invariants=[name], progress=False)
    return story_along(cell, name, [each.text for each in found.trace])


def story_along(cell: Cell, name: str, steps: list[str]) -> Story:
    """The story of these steps, after which a promise is broken. Raises LabError if one of them
    can't be taken."""
    bound = cell.settings.model(cell.row)
    walk, sentences = Walk.begin(bound), []
    for step in steps:
        taken = find_step(bound, walk.row, step)
        sentences.append(choice_sentence(bound, walk.row, taken.action, taken.args))
        walk.take(taken)
    [broken] = [each for each in bound.spec.invariants if each.name == name]
    reason = evaluate(bound, walk.row, broken.function)
    is_destroyed = bool(evaluate(bound, walk.row, cell.settings.is_destroyed))
    return Story(name, steps, sentences, reason, is_destroyed)


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
        start = Walk.begin(self.settings.model(self.shortest.row))
        walk = start.after(*self.shortest.shortest.steps)
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
