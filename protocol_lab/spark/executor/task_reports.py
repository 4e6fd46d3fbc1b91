"""The reports of tasks: counts, findings, and what they spent their time on."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeVar

from protocol_lab.checker.request import SearchRequest

Item = TypeVar("Item")

DEADLOCK = -1
"""In place of an invariant's number in a finding: the state has no successor."""


class TaskRequest(NamedTuple):
    """The parts of a SearchRequest that tasks need: everything except its functions."""

    invariants: tuple[str, ...] = ()
    step_invariants: tuple[str, ...] = ()
    deadlock: bool = False

    @staticmethod
    def by(request: SearchRequest) -> "TaskRequest":
        """The parts of this request."""
        return TaskRequest(
            tuple(each.name for each in request.invariants),
            tuple(each.name for each in request.step_invariants),
            request.deadlock,
        )


class Finding(NamedTuple):
    """A violation. Of several the smallest is reported: a deadlock, whose trace is one step
    shorter than those of the states just generated, then the state with the smallest fingerprint.

    invariant: its number in the request's names, or DEADLOCK; row: the state in hex; parent: the
    fingerprint of the state before it (of the state itself if it is deadlocked).
    """

    is_no_deadlock: bool
    fingerprint: int
    invariant: int
    parent: int
    row: str


@dataclass
class Report:
    """What tasks have counted and found; the reports of a level are added up.

    new: states that nobody had seen. sent: candidates for them that went to the owners.
    per_action: generated, by action number. violating: by number in the request's names, the new
    states that break the invariant, or the generated steps that do. reached: a bit for each
    expected situation. over: a state in hex of
    which something could not be computed: its successors, its properties or theirs. spent: seconds
    by what they were spent on. files: what was written, see `level_files.Files`.
    """

    new: int = 0
    sent: int = 0
    per_action: list[int] = field(default_factory=list)
    violating: list[int] = field(default_factory=list)
    reached: int = 0
    finding: Finding | None = None
    over: str | None = None
    spent: dict[str, float] = field(default_factory=dict)
    files: dict[str, tuple[int, str]] = field(default_factory=dict)

    @staticmethod
    def of(content: dict[str, Any]) -> "Report":
        """The report that was written as JSON."""
        finding = content["finding"] and Finding(*content["finding"])
        return Report(**{**content, "finding": finding})

    def to_json(self) -> dict[str, Any]:
        """The report as plain values, which `of` reads back."""
        return asdict(self) | {"finding": self.finding}

    def add(self, other: "Report") -> None:
        """Add another task's report."""
        self.new += other.new
        self.sent += other.sent
        self.per_action = sums(self.per_action, other.per_action)
        self.violating = sums(self.violating, other.violating)
        self.reached |= other.reached
        self.over = min(filter(None, [self.over, other.over]), default=None)
        self.files |= other.files
        for name, seconds in other.spent.items():
            self.spent[name] = self.spent.get(name, 0.0) + seconds
        self.found(other.finding)

    def found(self, finding: Finding | None) -> None:
        """Keep the smallest finding."""
        self.finding = min(filter(None, [self.finding, finding]), default=None)


class Stopwatch:
    """Measures how a task spends its time: at any moment it counts for one name.

    A stage is a chain of generators, each of which asks the next one for more. Time counts for the
    one that is at work, not for those that wait for it.
    """

    def __init__(self, name: str):
        self._spent: dict[str, float] = {}
        self._name, self._since = name, time.perf_counter()

    def switch(self, name: str) -> str:
        """From here on time counts for this name; the name before."""
        now, before = time.perf_counter(), self._name
        self._spent[before] = self._spent.get(before, 0.0) + now - self._since
        self._name, self._since = name, now
        return before

    def taken(self) -> dict[str, float]:
        """Seconds by name, since the start or the last call."""
        self.switch(self._name)
        spent, self._spent = self._spent, {}
        return {name: round(seconds, 6) for name, seconds in spent.items()}

    def timed(self, name: str, items: Iterable[Item]) -> Iterator[Item]:
        """The same items; the time to make each counts for this name."""
        items = iter(items)
        while True:
            before = self.switch(name)
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                self.switch(before)
            yield item


def sums(some: list[int], others: list[int]) -> list[int]:
    """The sums of two lists item by item; the shorter one is filled up with zeros."""
    longer, shorter = (some, others) if len(some) >= len(others) else (others, some)
    return [a + b for a, b in zip(longer, [*shorter, *[0] * len(longer)], strict=False)]
