"""Breadth-first search written out once more, for whatever can say what its states and steps are.

It walks a `System`: the kit's uncompiled steps, or the second implementation in `plain_kit`. States
and properties are handled in the order of the kit's engines, so the counts at a stop are theirs.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol


class Stopped(Exception):
    """The search can't go on: the text says why."""


@dataclass
class Asked:
    """What is to be judged; `names` are the invariants by name, by kind."""

    invariants: list[str]
    step_invariants: list[str]
    sometimes: list[str]
    constraints: list[str]
    deadlock: bool = False
    to_the_end: bool = False
    max_states: int = 10**9


class System(Protocol):
    """States, steps and properties. Any method may raise Stopped."""

    actions: list[str]

    def starts(self) -> Iterator[Any]:
        """The initial states, as often as they are generated."""

    def steps(self, state: Any) -> Iterator[tuple[str, Any, int]]:
        """(action, state after it, multiplicity) of every step."""

    def holds(self, kind: str, name: str, *states: Any) -> bool:
        """Does a property hold? kind: a list of a Spec."""

    def key(self, state: Any) -> Any:
        """Equal for states that count as one."""


@dataclass
class Found:
    """The counts of one search, named as in the kit's results. order: the keys of all states, as
    they were found."""

    per_action: dict[str, int]
    per_depth: list[int] = field(default_factory=list)
    violated: str | None = None
    stopped: str | None = None
    trace_states: int | None = None
    violating: dict[str, int] | None = None
    never_reached: list[str] = field(default_factory=list)
    order: list[Any] = field(default_factory=list)
    edges: int = 0

    @property
    def verdict(self) -> str:
        if self.violated:
            return "violated"
        return "undecided" if self.stopped else "holds"


class _Violation(Exception):
    pass


def search(system: System, asked: Asked) -> Found:
    """Search as the kit does: up to the first violation, unless `to_the_end`."""
    found = _Search(system, asked)
    try:
        found.run()
    except _Violation:
        pass
    except Stopped as stop:
        found.result.stopped = str(stop)
    found.result.never_reached = found.unreached
    return found.result


class _Search:
    def __init__(self, system: System, asked: Asked):
        self.system, self.asked = system, asked
        self.unreached = self.judged = list(asked.sometimes)
        self.depth: dict[Any, int] = {}
        self.result = Found({"init": 0, **dict.fromkeys(system.actions, 0)})
        names = [*asked.invariants, *asked.step_invariants]
        if asked.to_the_end:
            self.result.violating = dict.fromkeys(names, 0)
        self.waiting: deque[tuple[Any, int]] = deque()

    def run(self) -> None:
        for state in self.system.starts():
            self._take_in(None, 0, state, "init", 1)
        while self.waiting:
            state, depth = self.waiting.popleft()
            targets = {self.system.key(state)}
            any_step = False
            for action, after, ways in self.system.steps(state):
                any_step = True
                self._take_in(state, depth, after, action, ways)
                targets.add(self.system.key(after))
            if self.asked.deadlock and not any_step:
                self._violated("deadlock", depth, True)
            self.result.edges += len(targets & self.depth.keys()) - 1

    def _take_in(self, before: Any, depth: int, state: Any, action: str, ways: int) -> None:
        holds, key, asked = self.system.holds, self.system.key(state), self.asked
        known = key in self.depth
        inside = known or all(holds("constraints", name, state) for name in asked.constraints)
        new = inside and not known
        if new and len(self.depth) >= asked.max_states:
            raise Stopped(f"more than {asked.max_states:,} distinct states (max_states)")
        self.result.per_action[action] += ways
        if new:
            self.depth[key] = depth + 1
            self.result.order.append(key)
            if depth + 1 > len(self.result.per_depth):
                self.result.per_depth.append(0)
                self.judged = self.unreached  # those that an earlier level has are left alone
            self.result.per_depth[depth] += 1
            self.waiting.append((state, depth + 1))
            met = [name for name in self.judged if holds("sometimes_properties", name, state)]
            self.unreached = [name for name in self.unreached if name not in met]
        if not known:
            for name in asked.invariants:
                if not holds("invariants", name, state):
                    self._violated(name, depth + 1, new)
        if before is not None:
            for name in asked.step_invariants:
                if not holds("step_invariants", name, before, state):
                    self._violated(name, depth + 1, True)

    def _violated(self, name: str, depth: int, counted: bool) -> None:
        if self.result.violated is None:
            self.result.violated, self.result.trace_states = name, depth
        if name not in (self.result.violating or ()):
            raise _Violation
        self.result.violating[name] += counted
