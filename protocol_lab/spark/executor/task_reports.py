"""The reports of tasks: counts and findings."""

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from protocol_lab.checker.request import SearchRequest

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
    which something could not be computed: its successors, its properties or theirs. files: what
    was written, see `level_files.Files`.
    """

    new: int = 0
    sent: int = 0
    per_action: list[int] = field(default_factory=list)
    violating: list[int] = field(default_factory=list)
    reached: int = 0
    finding: Finding | None = None
    over: str | None = None
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
        self.found(other.finding)

    def found(self, finding: Finding | None) -> None:
        """Keep the smallest finding."""
        self.finding = min(filter(None, [self.finding, finding]), default=None)


def sums(some: list[int], others: list[int]) -> list[int]:
    """The sums of two lists item by item; the shorter one is filled up with zeros."""
    longer, shorter = (some, others) if len(some) >= len(others) else (others, some)
    return [a + b for a, b in zip(longer, [*shorter, *[0] * len(longer)], strict=False)]
