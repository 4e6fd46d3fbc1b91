"""The rows of the table, the search of one cell, why a record is lost, and what would keep it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from kafka_spec import settings as model
from kafka_spec.settings import RELEASES
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError, quoted, unknown
from protocol_lab.explain.choices import choice_sentence
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import find_step
from protocol_lab.traces.walk import Walk
from real_systems.kafka.promise.cluster_settings import Settings, phrase

Faults = Mapping[str, int]
WITH_ELR = ("4.0", "4.1", "4.3")
NO_FAULTS = dict.fromkeys(model.Happened.__annotations__, 0)


@dataclass(frozen=True, eq=False)
class Row:
    """Faults that happen together, in a sentence. `stories`: recorded runs with these faults."""

    name: str
    text: str
    faults: Faults
    stories: tuple[str, ...] = ()


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


PROMISES = {
    "acknowledged_is_readable": "acknowledged records can be read",
    "acknowledged_is_on_a_disk": "acknowledged records are on some disk",
    "read_stays_readable": "what consumers read stays readable",
}
PRICE = {
    "needs_no_operator": "may need an operator",
    "is_online": "may be offline",
    "takes_writes": "may take no writes",
}
"""What a partition may come to, the worst first."""


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
    def lost(self) -> list[str]:
        """The promises that are broken."""
        return [name for name in self.broken if name in PROMISES]

    @property
    def is_kept(self) -> bool:
        """Is every promise kept, in all states within these faults?"""
        return not self.lost and not self.bound

    @property
    def shortest(self) -> Story:
        """The shortest story of a broken promise. Raises ValueError if all are kept."""
        return min((story(self, name) for name in self.lost), key=lambda each: len(each.steps))

    @property
    def price(self) -> str:
        """The worst that the partition may come to meanwhile; "" if it takes writes always."""
        return next((text for name, text in PRICE.items() if name in self.broken), "")


def _model(settings: Settings, row: Row) -> Model:
    return model.spec.bind(**NO_FAULTS | dict(row.faults) | settings.constants)


@cache
def searched(settings: Settings, row: Row) -> Cell:
    """Search all states of one cell."""
    names = [*PROMISES, *PRICE]
    found = explore(_model(settings, row), invariants=names, to_the_end=True, progress=False)
    broken = tuple(name for name in names if found.violating[name])
    return Cell(settings, row, found.distinct, broken, found.undecided_reason or "")


@cache
def story(cell: Cell, name: str) -> Story:
    """The shortest story of a broken promise, or of a part of the price."""
    return _story(explore(_model(cell.settings, cell.row), invariants=[name], progress=False))


def _story(found: Result) -> Story:
    """The trace of a violation in words."""
    walk = Walk.along(found)
    moments = walk.path
    sentences = []
    for before, after in pairwise(moments):
        taken = find_step(found.model, before.row, after.step.text)
        sentences.append(choice_sentence(found.model, before.row, taken.action, taken.args))
    walk.last()
    return Story(
        found.violated,
        [each.step.text for each in moments[1:]],
        sentences,
        found.violation_reason,
        bool(model.acknowledged_is_on_a_disk(walk.state, found.model.constants)),
    )


def what_keeps(cell: Cell) -> list[str]:
    """The single changes of a setting that keep, within the same faults, what this cell loses."""
    kept = []
    for name, value in _changes(cell.settings):
        changed = cell.settings.with_one(**{name: value})
        if name == "elr" and changed.release not in WITH_ELR:
            changed = changed.with_one(release=WITH_ELR[-1])
        if searched(changed, cell.row).is_kept:
            more = "" if changed.release == cell.settings.release else f" with {RELEASES[-1]}"
            kept.append(phrase(name, value) + more)
    return kept


def _changes(now: Settings) -> Iterator[tuple[str, Any]]:
    """Each single change of a setting that promises more, or might."""
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
