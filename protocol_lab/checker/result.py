"""The result of a search: a verdict of three values, counts and a shortest counterexample."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from protocol_lab.model import constants as constants_module
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import Step
from protocol_lab.quantities import counted

if TYPE_CHECKING:
    import numpy as np


class Verdict:
    """The verdict of a search, a simulation or a check of a temporal property."""

    HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "undecided"


@dataclass(repr=False)
class Result:
    """The outcome of one exploration.

    `distinct` counts stored states, `generated` initial states and successors as TLC does, and
    `depth` the states on the longest of the shortest paths. `trace` leads from an initial state to
    the violation; `trace_rows` are its states. In an endless run the last state is equal to that of
    number `loop_from` (from 1). `violating` counts the distinct states that break each invariant
    (for a step invariant: the transitions), if the search went on after the first. With `symmetry`
    states that differ by a renaming are counted once, with `view` those whose views are equal.
    `exceeded` is the declared size of the container that was full, if that ended the search;
    `widened` says which storage was enlarged before the search began again. `compared` counts the
    states in which compiled code was compared with plain Python. `memory_bytes` is the
    most memory that the search took, `log` the states that it kept. `activity` says what a running
    search on Spark is doing. After a search on Spark, `search` has the states and edges as
    DataFrames, as in `search.states()`.
    """

    model: Model
    engine: str
    invariants: list[str]
    per_depth: list[int] = field(default_factory=list)
    per_action: dict[str, int] = field(default_factory=dict)
    exhaustive: bool = False
    undecided_reason: str | None = None
    violated: str | None = None
    violation_reason: str | None = None
    trace: list[Step] | Any = None  # None where no property is violated
    trace_rows: list[bytes] = field(default_factory=list)
    initial: str | None = None
    loop_from: int | None = None
    violating: dict[str, int] | Any = None  # None where the first violation ended the search
    never_reached: list[str] = field(default_factory=list)
    compile_seconds: float = 0.0
    seconds: float = 0.0
    symmetry: bool = False
    view: bool = False
    exceeded: str = ""
    widened: list[str] = field(default_factory=list)
    compared: int = 0
    memory_bytes: int = 0
    log: Any = None
    levels: list[dict[str, Any]] = field(default_factory=list)
    activity: str = ""
    search: Any = None

    @cached_property
    def states(self) -> "np.ndarray | Any":
        """The rows of all states, in the order of the search (uint64, one row a state).

        None if they were not kept: only the native engine keeps them, and by default only as long
        as they are small together; `explore(keep_states=True)` keeps them in any case.
        """
        return None if self.log is None else self.log.rows()

    @cached_property
    def parents(self) -> "np.ndarray | None":
        """For each of `states` the position of the one that it was found from, -1 for initial
        ones."""
        return None if self.states is None else self.log.parents()

    @property
    def bytes_per_state(self) -> float | None:
        """The memory that the search took for each distinct state, if it was measured."""
        return self.memory_bytes / self.distinct if self.memory_bytes and self.distinct else None

    @property
    def distinct(self) -> int:
        return sum(self.per_depth)

    @property
    def generated(self) -> int:
        return sum(self.per_action.values())

    @property
    def depth(self) -> int:
        """As TLC counts it: 1 even if every initial state is outside the constraint."""
        return len(self.per_depth) or min(1, self.generated)

    @property
    def never_taken(self) -> list[str]:
        """The actions that the search has not taken; only after an exhaustive one does that mean
        never."""
        taken = self.per_action
        return [each.name for each in self.model.spec.actions if not taken.get(each.name)]

    @property
    def reached(self) -> list[str]:
        """The expected situations that some state of the search has."""
        declared = [each.name for each in self.model.spec.expected]
        return [name for name in declared if self.distinct and name not in self.never_reached]

    @property
    def verdict(self) -> str:
        """ "holds" only if all reachable states were seen; "violated"; else "undecided"."""
        if self.violated:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.exhaustive else Verdict.UNDECIDED

    @property
    def claim_line(self) -> str | None:
        """The line of a scenario file that claims what its steps lead to, if there is one."""
        return f"!violates {self.violated}" if self.violated not in (None, "deadlock") else None

    @property
    def collision_probability(self) -> float:
        """The probability that two states shared a fingerprint and one was missed, as TLC
        estimates it.

        Each generated state that was taken for known could have collided with any of the distinct
        ones.
        """
        known = self.generated - self.distinct
        return self.distinct * known / 2.0**64

    def to_json(self) -> dict[str, Any]:
        """The fields of `check --json`."""
        return {
            "spec": self.model.spec.name,
            "constants": constants_module.show(self.model.constants),
            "engine": self.engine,
            "symmetry": self.symmetry,
            "view": self.view,
            "invariants": self.invariants,
            "verdict": self.verdict,
            "exhaustive": self.exhaustive,
            "undecided_reason": self.undecided_reason,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "violated": self.violated,
            "violation_reason": self.violation_reason,
            "violating": self.violating,
            "initial": self.initial,
            "trace": None if self.trace is None else [step.to_json() for step in self.trace],
            "trace_states": None if self.trace is None else len(self.trace) + 1,
            "reached": self.reached,
            "never_reached": self.never_reached,
            "never_taken": self.never_taken,
            "per_action": self.per_action,
            "per_depth": self.per_depth,
            "collision_probability": self.collision_probability,
            "widened": self.widened,
            "compared": self.compared,
            "bytes_per_state": self.bytes_per_state and round(self.bytes_per_state, 1),
            "compile_seconds": round(self.compile_seconds, 3),
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        return summary(self)


def summary(result: Result) -> str:
    """The outcome in a few lines for people."""
    model = result.model
    lines = [str(model)]
    if result.verdict == Verdict.HOLDS and result.invariants:
        lines.append(f"✓ holds: {', '.join(result.invariants)} in every reachable state")
    elif result.verdict == Verdict.HOLDS:
        lines.append(
            f"✓ holds: every reachable state was seen; {nothing_claimed(model)}, so only that every"
            " step can be computed was checked"
        )
    elif result.verdict == Verdict.VIOLATED:
        steps = len(result.trace_rows) - 1
        where = f"after {counted(steps, 'step')}" if steps else "in an initial state"
        states = f" ({steps + 1} states)" if steps else ""
        lines.append(f"✗ violated: {result.violated} {where}{states}")
        if result.violation_reason:
            lines.append(f"  {result.violation_reason}")
    else:
        seen = result.generated > 0
        lines += undecided_lines(model, result.invariants, result.undecided_reason, seen)
    if not result.distinct and result.verdict == Verdict.HOLDS:
        lines.append("  nothing was checked: no initial state meets the constraints")
    lines.append(
        f"  {counted(result.distinct, 'distinct state')}{_renaming(result)},"
        f" {result.generated:,} generated, depth {result.depth}"
    )
    lines.append(cost_line(result, f", {result.engine}"))
    lines += [f"  {each}" for each in result.widened]
    lines += _memory_lines(result)
    if result.violating is not None:
        lines += [
            f"  {name}: {counted(count, 'state')} break{'s' if count == 1 else ''} it"
            for name, count in result.violating.items()
        ]
    lines += reach_lines(result)
    if result.trace is not None:
        lines += trace_lines(result.initial, result.trace)
    return "\n".join(lines)


def cost_line(result: Result, engine: str = "") -> str:
    """The line that says how long a search took, and what its fingerprints may have hidden."""
    rate = result.distinct / result.seconds if result.seconds else 0
    return (
        f"  {result.seconds:.2f} s ({rate:,.0f} distinct states/s{engine}),"
        f" {result.compile_seconds:.2f} s compiling{compared_phrase(result)};"
        f" chance that a hash collision hid a state {result.collision_probability:.1e}"
    )


def trace_lines(initial: str | None, steps: Iterable[Any]) -> list[str]:
    """The steps of a trace, each with the number of the state after it; first what chose the
    initial state, if there is anything to say."""
    first = [f"    1 {initial}"] if initial else []
    return first + [f"  {k:3} {step}" for k, step in enumerate(steps, 2)]


def nothing_claimed(model: Model) -> str:
    """Why no invariant was checked, for people."""
    if model.spec.invariants or model.spec.step_invariants:
        return "no invariant was asked for"
    return "the spec declares no invariant"


def undecided_lines(
    model: Model, checked: list[str], reason: str | None, judged: bool = True
) -> list[str]:
    """The lines of a summary that say why there is no verdict; after an error in the spec's own
    code also what to do. judged: was what is checked evaluated in the states that were found?"""
    so_far = ", ".join(checked) + (" not violated so far" if judged else " not judged")
    so_far = so_far if checked else nothing_claimed(model)
    lines = [f"? undecided: {so_far}; {reason}"]
    if reason and _ENDS_WITH_PLACE.search(reason):
        lines.append(
            "  this is an error of the spec itself, and no bound of the search: put a guard before"
            " that line, or correct it"
        )
    return lines


_ENDS_WITH_PLACE = re.compile(r", (at \w+, .*line \d+( of its cell)?|in the condition)$")
"""How the reason ends where an expression has no value (see `model.evaluation`)."""

_MANY = 1_000_000
"""From this many states on the summary says how much memory each takes."""

_LIKELY = 1e-3
"""From this chance on, that a hash collision hid a state, the summary says what to do."""


def _memory_lines(result: Result) -> list[str]:
    """Lines about a large search: the memory per state, that states were not kept, hash
    collisions."""
    lines = []
    if result.bytes_per_state and result.distinct >= _MANY:
        lines.append(f"  {result.bytes_per_state:.0f} bytes of memory for each distinct state")
    if result.log is not None and not result.log.keeps_all:
        lines.append(
            "  the states themselves were not kept, for they would take more than 512 MiB:"
            " keep_states=True (--keep-states) keeps them"
        )
    if result.collision_probability > _LIKELY:
        lines.append(
            "  a hash collision is not unlikely: search a smaller configuration to be sure"
        )
    return lines


_NAMED = 8
"""At most this many names are listed in a line of the summary; the JSON fields have all."""


def reach_lines(result: Result) -> list[str]:
    """Lines with the expected situations that were reached or not, and the actions never taken.

    A search that saw no state has no lines. One that did not see all does not say "never".
    """
    if not result.distinct:
        return []
    yet = ("never reached", "never taken")
    if not result.exhaustive:
        yet = ("not reached so far", "not taken so far")
    told = [("reached", result.reached), (yet[0], result.never_reached)]
    told.append((yet[1], result.never_taken))
    return [f"  {what}: {listed(names)}" for what, names in told if names]


def listed(names: list[str], separator: str = ", ") -> str:
    """The first of these names, and how many more there are."""
    more = len(names) - _NAMED
    return separator.join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def compared_phrase(result: Result) -> str:
    """The part of a line about the comparison of compiled code with plain Python, if there was
    one."""
    if not result.compared:
        return ""
    return f"; {counted(result.compared, 'state')} compared with plain Python"


def _renaming(result: Result) -> str:
    """The phrase after a count of states under symmetry or a view."""
    kinds = [each.kind.replace("_", " ") for each in result.model.spec.symmetries]
    return f" up to renaming {' and '.join(kinds)}" if result.symmetry else ""
