"""Is the log of a real system a run of a spec?

A `LogMapping` says what each step of the spec leaves in the log, and a `LogRecord` what one record
shows. The log never names its steps, and shows only a part of each state. So all states that agree
with what was logged so far are kept; steps that leave nothing in the log are filled in between by a
bounded search. docs/your_logs.md shows how to write a mapping.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from protocol_lab.checker.result import Verdict
from protocol_lab.drawing.pictures import happened
from protocol_lab.errors import CapacityExceeded
from protocol_lab.interchange.effort import Effort, EffortSpent
from protocol_lab.model.layout import NamedValue
from protocol_lab.model.node_sets import Nodes, as_set
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.state_view import View, plain, repacked, view
from protocol_lab.model.step_text import as_written, start_text, step_of
from protocol_lab.model.transitions import Attempt, initial, needed_attempts
from protocol_lab.traces.walk import Moment, Walk

Shown = dict[str, Any]
"""What can be seen of a record, by name: numbers, texts, sets."""

Writes = Callable[[Any, str, dict[str, Any], Any], Sequence[Shown]]
"""writes(before, action, args, after): the records that a step leaves in the log, in order."""

_DEEPEST = 8
"""So many steps that leave nothing may stand between two records, unless told otherwise."""

_MOST_KEPT = 20_000
"""For so many states and actions the steps are kept, in case they are asked for again."""

_NEAREST, _NEAREST_TRIED = 3, 5_000
"""How many of the nearest runs are shown, and how many steps are tried to find them."""


@dataclass(frozen=True)
class LogRecord:
    """A record of a log.

    place: where it stands, as in "offset 45". shows: what it shows; what it leaves out may be
    anything. steps: which actions may have written it as their first record, each with those of its
    parameters that the record shows, written as in a scenario; if there are none, all actions are
    tried. denied: why it can't be true, whatever the spec allows; another log may say otherwise.
    text: what it shows in words, if not all of `shows`.
    """

    place: str
    shows: Shown
    steps: Sequence[tuple[str, dict[str, Any]]] = ()
    denied: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text or shown_text(self.shows)}"


@dataclass(frozen=True)
class LogMapping:
    """How the log of a system speaks of the runs of a spec.

    writes: see `Writes`; a step for which it gives nothing is unseen. unseen: the names of the
    actions that may be. depth: how many unseen steps may stand between two records. starts: the
    rows of the states that the system may be in before the first record; if there are none, the
    spec's initial states, as for a log from the very beginning.
    """

    model: Model
    writes: Writes
    unseen: Sequence[str] = ()
    depth: int = _DEEPEST
    starts: Sequence[bytes] = ()


@dataclass(frozen=True)
class Nearest:
    """A step that could have been taken instead, and the record that it would have written.

    differing: the names of what the log shows otherwise.
    """

    step: str
    written: Shown
    differing: list[str]

    def __str__(self) -> str:
        return f"{self.step} would have written {shown_text(self.written, self.differing)}"


@dataclass
class LogAnswer:
    """What a check of a log has found.

    verdict: holds if there is a run of the spec that writes this log, violated if there is none,
    undecided with what is `missing`. run: for each record that was explained the steps that lead to
    it, those that left nothing before it included. record: the first that no run explains, with
    the `nearest` runs or the `reasons` why its steps were refused. start: the row of the state in
    which the run starts. path: its steps, each with the place of the record that it wrote.
    """

    model: Model
    verdict: str = Verdict.HOLDS
    run: list[tuple[LogRecord, list[str]]] = field(default_factory=list)
    record: LogRecord | None = None
    nearest: list[Nearest] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    missing: str = ""
    start: bytes = field(default=b"", repr=False)
    path: list[tuple[str, str]] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        name, count = self.model.spec.name, len(self.run)
        if self.verdict == Verdict.HOLDS:
            return f"A run of {name}: all {count} records are explained."
        if self.verdict == Verdict.UNDECIDED:
            return f"Undecided whether it is a run of {name}: {self.missing}"
        lines = [f"No run of {name}: the first record that no run explains is {self.record}."]
        if self.record.denied:
            lines.append(f"  {self.record.denied}")
        lines += [f"  {each}." for each in self.nearest]
        lines += [f"  Refused: {each}." for each in self.reasons]
        return "\n".join(lines)

    @cached_property
    def walk(self) -> Walk | None:
        """The run, to be looked at step by step; None if there is not even a beginning."""
        if not self.start:
            return None
        start = Moment(self.start)
        alike = [each for each in initial(self.model) if each.row == self.start]
        init = start_text(self.model, alike[0]) if alike else None  # none behind a snapshot
        walk = Walk(self.model, start, {"main": start}, init=init)
        for step, place in self.path:
            walk.take(step)
            if place:
                told = happened(walk.model, walk.moment).removesuffix(".")
                walk.moment.caption = f"{told} ({place})."
        walk.first()
        return walk

    def run_text(self) -> str:
        """The run that explains the log, a record on each line."""
        return "\n".join(f"{record.place}: {', '.join(steps)}" for record, steps in self.run)

    def as_json(self) -> dict[str, Any]:
        """The same for other programs."""
        return {
            "spec": self.model.spec.name,
            "verdict": self.verdict,
            "record": self.record and self.record.place,
            "text": str(self),
            "run": [{"record": record.place, "steps": steps} for record, steps in self.run],
        }


def shown_text(shows: Shown, names: Iterable[str] = ()) -> str:
    """What a record shows, or only these names of it, in words."""
    chosen = [name for name in names if name in shows] or list(shows)
    return ", ".join(f"{name} {_value_text(shows[name])}" for name in chosen)


def _value_text(value: Any) -> str:
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(map(str, sorted(value))) + "}"
    return str(value)


def check_log(
    mapping: LogMapping,
    log: Iterable[LogRecord],
    effort: Effort | None = None,
    gaps: str = "",
) -> LogAnswer:
    """Is there a run of the spec that writes this log, record by record?

    effort bounds the search; the default is two minutes. gaps: a sentence on what the log is known
    to lack; then a run that explains it decides nothing. Raises LabError for a mapping that names
    what the spec has not.
    """
    log = list(log)
    while True:
        search = _Search(mapping, effort or Effort(of="log", advice="give a shorter log"))
        try:
            return search.answer(log, gaps)
        except CapacityExceeded as error:
            wider = mapping.model.widened(error.size)
            if wider is None:
                raise
            narrow = mapping.model.layout
            starts = [repacked(narrow, wider.layout, each) for each in mapping.starts]
            mapping = replace(mapping, model=wider, starts=starts)


@dataclass
class _Reached:
    """A state that agrees with the log so far, and how it was reached.

    pending: the records that its last step still has to write. at: the number of records before it.
    """

    row: bytes
    pending: list[Shown]
    attempt: Attempt | None  # None at the start
    before: "_Reached | None"
    at: int

    @property
    def key(self) -> tuple[bytes, str]:
        return self.row, repr(self.pending)


class _Search:
    """One search, with one model."""

    def __init__(self, mapping: LogMapping, effort: Effort):
        self.mapping, self.model, self.effort = mapping, mapping.model, effort
        self.unseen = [self.model.action(name) for name in mapping.unseen]
        self.cut = ""  # why states may be missing among those that were reached
        self.kept: dict[tuple[bytes, str, str], list[tuple[Attempt, list[Shown]]]] = {}

    def answer(self, log: list[LogRecord], gaps: str) -> LogAnswer:
        reached = {}
        for row in self.mapping.starts or [each.row for each in initial(self.model)]:
            start = _Reached(row, [], None, None, 0)
            reached.setdefault(start.key, start)
        for number, record in enumerate(log, 1):
            if record.denied:
                return self._ended(log, reached, Verdict.VIOLATED, record)
            try:
                self._fill_in(reached, number - 1, record.place)
                after = self._after(reached, record, number)
                self.effort.keep(len(after), record.place)
            except EffortSpent as error:
                return self._ended(log, reached, Verdict.UNDECIDED, record, str(error))
            if not after and self.cut:
                return self._ended(log, reached, Verdict.UNDECIDED, record, self.cut)
            if not after:
                return self._ended(log, reached, Verdict.VIOLATED, record)
            reached = after
        if all(each.pending for each in reached.values()):
            first = next(iter(reached.values()))
            missing = f"the log ends within a step, before {shown_text(first.pending[0])}."
            return self._ended(log, reached, Verdict.UNDECIDED, None, missing)
        if gaps:
            return self._ended(log, reached, Verdict.UNDECIDED, None, gaps)
        return self._ended(log, reached, Verdict.HOLDS, None)

    def _fill_in(self, reached: dict, at: int, place: str) -> None:
        """Add all states that unseen steps lead to, up to the depth."""
        frontier = list(reached.values())
        for _ in range(self.mapping.depth if self.unseen else 0):
            found = []
            for node in frontier:
                if node.pending:
                    continue
                for each in self._taken(node, self.unseen, {}, place):
                    if not self._written(node, each):
                        new = _Reached(each.row, [], each, node, at)
                        if new.key not in reached:
                            reached[new.key] = new
                            found.append(new)
                self.effort.keep(len(reached), place)
            frontier = found
            if not frontier:
                return
        if frontier and self.unseen:
            self.cut = (
                f"more than {self.mapping.depth} steps that leave nothing in the log may stand"
                f" before {place}: give the mapping a larger depth."
            )

    def _after(self, reached: dict, record: LogRecord, at: int) -> dict:
        """The states that agree with this record, too."""
        found: dict[tuple, _Reached] = {}
        for node in reached.values():
            if node.pending:
                if not _differing(record, node.pending[0]):
                    new = _Reached(node.row, node.pending[1:], node.attempt, node.before, at)
                    found.setdefault(new.key, new)
                continue
            for action, args in self._candidates(record):
                for each, written in self._writing(node, action, args, record.place):
                    if not _differing(record, written[0]):
                        new = _Reached(each.row, written[1:], each, node, at)
                        found.setdefault(new.key, new)
        return found

    def _candidates(self, record: LogRecord) -> list[tuple[Action, dict[str, Any]]]:
        named = [(self.model.action(name), args) for name, args in record.steps]
        return named or [(action, {}) for action in self.model.spec.actions]

    def _writing(
        self, node: _Reached, action: Action, args: dict[str, Any], place: str
    ) -> list[tuple[Attempt, list[Shown]]]:
        """The steps of this action that leave records; a system goes through the same states again
        and again, so they are kept."""
        key = (node.row, action.name, repr(args))
        if key not in self.kept:
            if len(self.kept) > _MOST_KEPT:
                self.kept.clear()
            tried = [
                (each, self._written(node, each))
                for each in self._taken(node, [action], args, place)
            ]
            self.kept[key] = [(each, written) for each, written in tried if written]
        return self.kept[key]

    def _taken(
        self, node: _Reached, actions: list[Action], args: dict[str, Any], place: str
    ) -> Iterator[Attempt]:
        tried = needed_attempts(self.model, node.row, actions, as_written(args))
        for each in self.effort.spent_on(tried, place):
            if each.taken:
                yield each
            elif isinstance(each.error, CapacityExceeded):
                raise each.error

    def _written(self, node: _Reached, each: Attempt) -> list[Shown]:
        before, after = view(self.model.layout, node.row), view(self.model.layout, each.row)
        records = self.mapping.writes(before, each.action.name, each.args, after)
        return [{name: _plain(value) for name, value in record.items()} for record in records]

    def _ended(
        self,
        log: list[LogRecord],
        reached: dict,
        verdict: str,
        record: LogRecord | None,
        missing: str = "",
    ) -> LogAnswer:
        answer = LogAnswer(self.model, verdict, record=record, missing=missing)
        whole = [each for each in reached.values() if not each.pending]
        path = _path((whole or list(reached.values()))[0])
        self._add_run(answer, path, log)
        if verdict == Verdict.VIOLATED and not record.denied:
            going_on = self._going_on(reached, record)
            instead = self._instead(reached, record)
            answer.nearest = [*instead, *going_on][:_NEAREST]
            if not instead:
                reasons = self._refusals(reached, record)
                answer.reasons = [f"{name}: {why}" for name, why in reasons.items()]
        return answer

    def _add_run(self, answer: LogAnswer, path: list[_Reached], log: list[LogRecord]) -> None:
        """Note the run, a path of states, in the answer."""
        answer.start = path[0].row
        steps: list[str] = []
        by_record: dict[int, list[str]] = {}
        for before, each in pairwise(path):
            step = step_of(self.model, before.row, each.attempt.action, each.attempt.args)
            steps.append(step.text)
            place = ""
            if self._written(before, each.attempt):
                by_record[before.at + 1] = steps
                steps = []
                place = log[before.at].place
            answer.path.append((step.text, place))
        explained = path[-1].at
        own: list[str] = []
        for number in range(1, explained + 1):
            own = by_record.get(number, own[-1:])
            answer.run.append((log[number - 1], own))

    def _refusals(self, reached: dict, record: LogRecord) -> dict[str, str]:
        """For each action of the record the first reason why it is refused."""
        found: dict[str, str] = {}
        for node in reached.values():
            for action, args in [] if node.pending else self._candidates(record):
                for each in needed_attempts(self.model, node.row, [action], as_written(args)):
                    if not each.taken:
                        found.setdefault(each.action.name, each.reason)
        return found

    def _going_on(self, reached: dict, record: LogRecord) -> list[Nearest]:
        """The steps that have more to write."""
        found: dict[str, Nearest] = {}
        for node in reached.values():
            if node.pending:
                text, written = self._text(node.before, node.attempt), node.pending[0]
                found.setdefault(text, Nearest(text, written, _differing(record, written)))
        return list(found.values())

    def _instead(self, reached: dict, record: LogRecord) -> list[Nearest]:
        """The steps whose records come closest to this one, if they have anything in common."""
        found: dict[str, Nearest] = {}
        tried = 0
        known = {name for name, _ in record.steps}
        actions = sorted(self.model.spec.actions, key=lambda each: each.name not in known)
        for node in reached.values():
            if node.pending:
                continue
            for each in needed_attempts(self.model, node.row, actions):
                tried += 1
                if tried > _NEAREST_TRIED:
                    break
                written = self._written(node, each) if each.taken else []
                if written:
                    differing = _differing(record, written[0])
                    if 0 < len(differing) < len(record.shows):
                        text = self._text(node, each)
                        found.setdefault(text, Nearest(text, written[0], differing))
        return sorted(found.values(), key=lambda each: len(each.differing))

    def _text(self, node: _Reached, each: Attempt) -> str:
        return step_of(self.model, node.row, each.action, each.args).text


def _differing(record: LogRecord, written: Shown) -> list[str]:
    """The names of what a record shows otherwise than a step would have written it."""
    return [
        name
        for name, value in record.shows.items()
        if name not in written or written[name] != value
    ]


def _plain(value: Any) -> Any:
    """A value of a state as what a record shows: sets of nodes as sets, names as texts."""
    if isinstance(value, Nodes):
        return as_set(value)
    if isinstance(value, NamedValue):
        return value.names[value]
    return plain(value) if isinstance(value, View) else value


def _path(last: _Reached) -> list[_Reached]:
    path = [last]
    while path[-1].before is not None:
        path.append(path[-1].before)
    return path[::-1]
