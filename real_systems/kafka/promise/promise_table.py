"""The rows of the table, the search of one cell, why a record is lost, and what would keep it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from kafka_spec import settings as model
from kafka_spec.settings import RELEASES
from protocol_lab.errors import LabError, quoted, unknown
from protocol_lab.explain.choices import choice_sentence
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import evaluate
from protocol_lab.traces.walk import Walk
from real_systems.kafka.promise.cluster_settings import WITH_ELR, Settings, phrase

Faults = Mapping[str, int]
NO_FAULTS = dict.fromkeys(model.Happened.__annotations__, 0)


PROMISES = ("acknowledged_is_readable", "acknowledged_is_on_a_disk", "read_stays_readable")
PRICE = {
    "needs_no_operator": "may need an operator",
    "is_online": "may be offline",
    "takes_writes": "may take no writes",
}
"""What a partition may come to, the worst first."""


@dataclass(frozen=True, eq=False)
class Row:
    """Faults that happen together, in a sentence.

    stories: recorded runs with these faults. promises: those that the row is about.
    """

    name: str
    text: str
    faults: Faults
    stories: tuple[str, ...] = ()
    promises: tuple[str, ...] = PROMISES

    @property
    def judged(self) -> list[str]:
        """What is judged in each state: the promises, and the parts of PRICE."""
        return [*self.promises, *PRICE]


ROWS = (
    Row("kill", "A broker is killed", {"kills": 1}),
    Row("pause", "A broker pauses, or is cut off", {"pauses": 1}),
    Row("power_cut", "A broker loses power", {"power_cuts": 1}),
    Row("machine", "A machine is lost for good", {"machines": 1}),
    Row("rack", "A power supply fails, with all its brokers", {"rack_cuts": 1}),
    Row(
        "restart_and_power_cut",
        "One stops, one pauses, one loses power",
        {"stops": 1, "pauses": 1, "power_cuts": 1},
        ("last_replica",),
    ),
    Row(
        "kill_and_power_cut",
        "One pauses, one is killed, one loses power",
        {"pauses": 1, "kills": 1, "power_cuts": 1},
        ("two_power_cuts",),
    ),
    Row("two_power_cuts", "Two brokers lose power, one by one", {"power_cuts": 2}),
    Row(
        "new_disk",
        "Followers fall behind; a broker gets a new disk",
        {"lags": 2, "stops": 1, "new_disks": 1},
        ("empty_disk",),
    ),
    Row(
        "offline",
        "Two pause, one is killed",
        {"pauses": 2, "kills": 1},
        ("offline_partition",),
    ),
    Row("three_pauses", "Three pause", {"pauses": 3}, ("fenced_elr",)),
    Row("two_machines", "Two machines are lost for good", {"machines": 2}),
    Row(
        "told_failed",
        "A producer gives up, and tells its caller that the record failed",
        {"lags": 2, "give_ups": 1},
        ("told_failed",),
        ("told_failed_is_not_written",),
    ),
)


def row_of(text: str) -> Row:
    """The row of faults such as "kills=1,power_cuts=1". Raises LabError."""
    faults = {}
    for each in text.split(","):
        name, _, many = each.strip().partition("=")
        if name not in NO_FAULTS:
            raise unknown("fault", name, NO_FAULTS)
        if not many.isdecimal() or int(many) > 9:
            raise LabError(f"{quoted(each.strip())}: write how often, from 0 to 9: {name}=1.")
        faults[name] = int(many)
    said = ", ".join(f"{name.replace('_', ' ')}: {many}" for name, many in faults.items())
    return Row(text, f"Within {said}", faults)


def golden_cells() -> Iterator[tuple[Settings, Row, list[Any]]]:
    """Cells whose figures are kept in `cells.json`, which `tests.kafka_spec.settings_cells` writes:
    distinct and generated states, the depth, the length of the shortest path to each broken
    promise, and whether the shortest loss destroys every copy."""
    rows = {each.name: each for each in ROWS}
    text = Path(__file__).with_name("cells.json").read_text(encoding="utf-8")
    for line in json.loads(text):
        settings = Settings(**{"min_isr": 2, **line["settings"]})
        for name, figures in line["cells"].items():
            yield settings, rows[name], figures


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

    states: how many they lead to. broken: the promises, and the parts of PRICE, that some of these
    states break. bound: what ended the search early, if anything did.
    """

    settings: Settings
    row: Row
    states: int
    broken: tuple[str, ...]
    bound: str = ""

    @property
    def rules(self) -> tuple[str, bool]:
        """The release, and whether ELR is on."""
        return self.settings.release, self.settings.elr

    @property
    def lost(self) -> list[str]:
        """The promises that are broken."""
        return [name for name in self.broken if name in self.row.promises]

    @property
    def loses(self) -> bool:
        """Can a record be lost? Not if the row is about another promise."""
        return bool(self.lost) and self.row.promises == PROMISES

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
        """The worst that the partition may come to meanwhile; "" if it takes writes always."""
        return next((text for name, text in PRICE.items() if name in self.broken), "")


def model_of(settings: Settings, row: Row) -> Model:
    """The model of a cell."""
    return model.spec.bind(**NO_FAULTS | dict(row.faults) | settings.constants)


@cache
def searched(settings: Settings, row: Row) -> Cell:
    """Search all states of one cell."""
    asked = model_of(settings, row)
    found = explore(asked, invariants=row.judged, to_the_end=True, progress=False)
    broken = tuple(name for name in row.judged if found.violating[name])
    return Cell(settings, row, found.distinct, broken, found.undecided_reason or "")


@cache
def story(cell: Cell, name: str) -> Story:
    """The shortest story of a broken promise, or of a part of the price."""
    bound = model_of(cell.settings, cell.row)
    found = explore(bound, invariants=[name], progress=False)
    return story_along(bound, name, [each.text for each in found.trace])


def story_along(bound: Model, name: str, steps: list[str]) -> Story:
    """The story of these steps, after which a promise is broken. Raises LabError if one of them
    can't be taken."""
    walk, sentences = Walk.begin(bound), []
    for step in steps:
        taken = find_step(bound, walk.row, step)
        sentences.append(choice_sentence(bound, walk.row, taken.action, taken.args))
        walk.take(taken)
    [broken] = [each for each in bound.spec.invariants if each.name == name]
    reason = evaluate(bound, walk.row, broken.function)
    is_destroyed = bool(evaluate(bound, walk.row, model.acknowledged_is_on_a_disk))
    return Story(name, steps, sentences, reason, is_destroyed)


@dataclass(frozen=True)
class Change:
    """A single change of a setting, in words, and the settings after it."""

    text: str
    settings: Settings


def what_keeps(cell: Cell) -> list[str]:
    """The single changes of a setting that keep, within the same faults, what this cell loses."""
    found = changes(cell.settings)
    return [each.text for each in found if searched(each.settings, cell.row).is_kept]


def changes(now: Settings) -> list[Change]:
    """Each single change of a setting that promises more, or might."""
    return [_changed(now, name, value) for name, value in _better(now)]


def _changed(now: Settings, name: str, value: Any) -> Change:
    changed, more = replace(now, **{name: value}), ""
    if name == "elr" and now.release not in WITH_ELR:
        changed, more = replace(changed, release=RELEASES[-1]), f" with {RELEASES[-1]}"
    return Change(phrase(name, value) + more, changed)


def _better(now: Settings) -> Iterator[tuple[str, Any]]:
    if now.acks != "all":
        yield "acks", "all"
    if now.unclean:
        yield "unclean", False
    if not now.elr:
        yield "elr", True
    if now.release != RELEASES[-1]:
        yield "release", RELEASES[-1]
    for many in range(now.min_isr + 1, now.replicas + 1):
        yield "min_isr", many
    if now.replicas < 5:
        yield "replicas", now.replicas + 1
    if now.racks < now.replicas:
        yield "racks", now.replicas
