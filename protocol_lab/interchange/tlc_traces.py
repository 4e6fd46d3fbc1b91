"""Replays TLC's counterexample for an original spec as a walk through our spec.

The steps are found, not read: for each printed state those successors are kept that the action can
lead to and that agree with TLC's values (`tlc_values`). So parameters that TLC does not print are
filled in, and where our spec differs from the original, the state and the variable are named.

TLC does not print the constants either. Some can be read off the values (how many nodes, how long
an array); the others have their defaults, or, if those do not permit the trace, the smallest value
that does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from protocol_lab.catalog import load
from protocol_lab.errors import CapacityExceeded, LabError
from protocol_lab.interchange.differences import difference
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.tlc_output import PrintedState, PrintedTrace, Value, parse_output
from protocol_lab.interchange.tlc_values import Names, Places, same_name, variables_of
from protocol_lab.interchange.trace_identity import (
    actions_named,
    belongs_to,
    misfit,
    misfit_error,
    specs_of,
)
from protocol_lab.semantics.step_text import start_text
from protocol_lab.semantics.transitions import Attempt, evaluate, initial, needed_attempts
from protocol_lab.spec.constants import Limits, limits_of, show
from protocol_lab.spec.spec import Model, Spec
from protocol_lab.spec.state_view import plain, view
from protocol_lab.traces.walk import Walk


def read_tlc_trace(text: str, model: Model | None = None, spec_name: str | None = None) -> Walk:
    """The walk along the first counterexample in TLC's output, as `walk_along` finds it.

    A given model is used unchanged. Else the spec is that of `spec_name`, if given.
    """
    trace = parse_output(text)
    if model is None:
        return walk_along(trace, spec_name and load(spec_name).bind(), bool(spec_name))
    _expect_fit(trace, model.spec)
    return _walk(trace, _replay_exactly(trace, model, Effort()))


def walk_along(
    trace: PrintedTrace,
    model: Model | None = None,
    only: bool = False,
    effort: Effort | None = None,
) -> Walk:
    """The walk along a trace of another tool, at its end.

    The spec is the model's, or, unless it is the `only` one, that whose original the trace names;
    the search for the constants starts from the model's. Every state has its number in the trace in
    its caption. Raises LabError with one sentence: what does not fit the spec, or which state of
    the trace it does not reach.
    """
    effort = effort or Effort()
    if model is not None and only:
        _expect_fit(trace, model.spec)
    if model is not None and (only or belongs_to(trace, model.spec)):
        return _walk(trace, _best(trace, [model], effort))
    try:
        specs = specs_of(trace)
    except LabError:
        if model is None:
            raise
        raise misfit_error(trace, model.spec) from None
    return _walk(trace, _best(trace, [spec.bind() for spec in specs], effort))


def _expect_fit(trace: PrintedTrace, spec: Spec) -> None:
    if misfit(trace, spec):
        raise misfit_error(trace, spec)


# --- Which constants ---------------------------------------------------------------------------

Constants = dict[str, int | str | bool | None]


def _best(trace: PrintedTrace, starts: list[Model], effort: Effort) -> "_Replay":
    """A complete replay in one of these models' specs. Raises LabError if there is none."""
    best: _Replay | None = None
    for start in starts:
        replay = _infer(trace, start, effort)
        if replay.complete:
            return replay
        if best is None or replay.score > best.score:
            best = replay
    raise best.failure


def _infer(trace: PrintedTrace, start: Model, effort: Effort) -> "_Replay":
    """The replay that gets furthest, found by changing one constant after another where that helps.

    The constants begin as those of `start`, except those that the trace shows. These may be raised:
    some servers of KRaft start on the way, or never. Where no single change helps, the sizes that
    the first state suggests are tried as well.
    """
    limits = limits_of(type(start.constants))
    places = Places.of(trace, start.spec.state)
    told = {name: size for name, size in places.sizes.items() if name in limits}
    guessed = {name: size for name, size in places.guesses.items() if name in limits}
    first, *others = places.numberings()
    shown = places.numbers | {len(trace.states)}

    def attempt_with(values: Constants, numbers: dict) -> _Replay:
        model = start.spec.bind(**values)
        return _replay(trace, model, Names(numbers), effort, within_constraints=True)

    values = _clamped(show(start.constants) | told, limits, told)
    try:
        start.spec.bind(**values)
    except LabError as error:
        raise LabError(
            f"The trace has {', '.join(f'{name}={size}' for name, size in told.items())}: {error}"
        ) from None
    best = attempt_with(values, first)

    def best_change(values: Constants) -> tuple[_Replay, Constants]:
        changes = [
            _clamped(values | {name: value}, limits, told)
            for name, each in limits.items()
            for value in _candidates(each, shown)
            if name not in told or value > told[name]
        ]
        replays = [(attempt_with(each, first), each) for each in changes]
        return max(replays, key=lambda each: each[0].score, default=(best, values))

    while not best.complete:
        better, its_values = best_change(values)
        if better.score <= best.score and guessed:
            better, its_values = best_change(values | guessed)
        if better.score <= best.score:
            break
        best, values = better, its_values
    for numbers in [] if best.complete else others:
        replay = attempt_with(values, numbers)
        if replay.complete:
            return replay
    return best


_ALL_TRIED = 40
"""Of a constant that may have more values only so many are all tried."""


def _candidates(limits: Limits, shown: set[int]) -> list[int]:
    """The values to try for a constant, the smallest first; `shown`, the trace's numbers, bounds
    them. Of many values the first are tried, and those beside a number of the trace."""
    if limits.choices:
        return list(range(len(limits.choices)))
    most = max(shown) + 1
    low = 0 if isinstance(limits.low, str) else limits.low
    high = most if isinstance(limits.high, str) else min(limits.high, most)
    near = {number + k for number in shown for k in (-1, 0, 1)}
    first = range(low, min(high, low + _ALL_TRIED) + 1)
    return sorted({*first, *(each for each in near if low <= each <= high)})


def _clamped(values: Constants, limits: dict[str, Limits], told: Constants) -> Constants:
    """The values with every constant kept within a bound that is another constant.

    A constant that must be at least as large as another is raised; if the trace shows its value,
    the other is lowered.
    """
    highest = {name: each.high for name, each in limits.items() if isinstance(each.high, str)}

    def lowered(values: Constants) -> Constants:
        return values | {name: min(values[name], values[high]) for name, high in highest.items()}

    values = lowered(values)
    for name, each in limits.items():
        if isinstance(each.low, str) and name in told:
            values[each.low] = min(values[each.low], values[name])
        elif isinstance(each.low, str):
            values[name] = max(values[name], values[each.low])
    return lowered(values)


def _replay_exactly(trace: PrintedTrace, model: Model, effort: Effort) -> "_Replay":
    """The complete replay in this very model. Raises LabError if there is none.

    The model may have more nodes than the trace shows where they come into being on the way, as
    servers do in KRaft; only where there is no replay, a difference in sizes explains it.
    """
    places = Places.of(trace, model.spec.state)
    replays = (_replay(trace, model, Names(numbers), effort) for numbers in places.numberings())
    first = next(replays)
    for replay in chain([first], replays):
        if replay.complete:
            return replay
    for name, size in places.sizes.items():
        has = getattr(model.constants, name, size)
        if has != size:
            raise LabError(
                f"The trace has {name}={size}, but the model {name}={has}: give a model with"
                f" {name}={size}, or none."
            )
    raise first.failure


# --- Which steps -----------------------------------------------------------------------------

_TOLD = 3
"""The differences of at most so many variables are told."""


@dataclass(frozen=True)
class _Replay:
    """How far a trace can be followed in a model.

    `score` is how many states were reached, and how many variables of the next one agreed at best.
    `path` leads to the last state if all were reached; else `failure` says why not.
    """

    model: Model
    score: tuple[int, int]
    path: list[Attempt] = field(default_factory=list)
    failure: LabError | None = None

    @property
    def complete(self) -> bool:
        return self.failure is None


def _replay(
    trace: PrintedTrace,
    model: Model,
    names: Names,
    effort: Effort,
    within_constraints: bool = False,
) -> _Replay:
    """Follow the trace, keeping the rows that agree with each state, and the attempts that led to
    them. Where a step needs more storage than the model has, begin again with more."""
    levels: list[Level] = []
    states = [*trace.states, *filter(None, [trace.closing_state])]
    for printed in states:
        tries = _Tries(model, printed, names, trace.tool)
        where = f"state {printed.number} of {len(states)}"
        before = list(levels[-1]) if levels else []
        for row, each in effort.spent_on(_tried(model, before, printed), where):
            tries.add(row, each)
        if not tries.reached:
            if tries.wider:
                return _replay(trace, tries.wider, names, effort, within_constraints)
            score = (len(levels), len(printed.variables) - tries.distance)
            return _Replay(model, score, failure=tries.failure())
        effort.keep(len(tries.reached), where)
        if within_constraints and printed is not states[-1]:
            outside = _outside(model, next(iter(tries.reached)))
            if outside:
                failure = LabError(
                    f"State {printed.number} of the trace is out of bounds: {outside}."
                )
                return _Replay(model, (len(levels), len(printed.variables)), failure=failure)
        levels.append(tries.reached)
    path = _path(levels, trace.loop_to)
    if path is None:
        failure = LabError(
            f"The run does not go back to state {trace.loop_to} in {model.spec.name}: what the"
            " trace does not show has changed meanwhile."
        )
        return _Replay(model, (len(levels), 0), failure=failure)
    return _Replay(model, (len(levels) + 1, 0), path)


Level = dict[bytes, dict[bytes, Attempt]]
"""The rows that agree with one printed state; for each the rows before it, and the attempts."""


def _path(levels: list[Level], loop_to: int | None) -> list[Attempt] | None:
    """Attempts that lead from one level to the next, along a loop if there is one to be closed.

    loop_to: the number of the level whose row the last one has to be again; None if there is no
    loop. Returns None if there is no such path.
    """
    for last in levels[-1]:
        ahead: list[dict[bytes, bytes]] = [{last: last}]  # for each row of a level the next one
        for level in reversed(levels[1:]):
            ahead.insert(0, {before: row for row in ahead[0] for before in level[row]})
        begin = (loop_to or 1) - 1
        row = last if loop_to else next(iter(ahead[0]))
        if row not in ahead[begin]:
            continue
        rows = [row]
        for each in ahead[begin:-1]:
            rows.append(each[rows[-1]])
        for level in reversed(levels[1 : begin + 1]):
            rows.insert(0, next(iter(level[rows[0]])))
        return [level[row][before] for level, before, row in zip(levels, [b"", *rows], rows)]
    return None


def _tried(
    model: Model, rows: list[bytes], printed: PrintedState
) -> Iterator[tuple[bytes, Attempt]]:
    """All attempts that can lead to the printed state, each with the row that it starts from."""
    if printed.number == 1:
        yield from ((b"", each) for each in initial(model))
    actions = actions_named(model.spec.actions, printed.action)
    for row in rows:
        yield from ((row, each) for each in needed_attempts(model, row, actions))


class _Tries:
    """What the attempts to get to one printed state came to.

    `reached` has the rows that agree with it. `wider` is the model with more storage, if an attempt
    needs that. `distance` is the number of variables in which the nearest state differs.
    """

    def __init__(self, model: Model, printed: PrintedState, names: Names, tool: str):
        self._model, self._printed, self._names, self._tool = model, printed, names, tool
        self.reached: Level = {}
        self.wider: Model | None = None
        self.distance = len(printed.variables)
        self._nearest: tuple[Attempt, list[str]] | None = None
        self._reasons: dict[str, str] = {}

    def add(self, row: bytes, each: Attempt) -> None:
        """Take in an attempt from this row."""
        if each.taken and each.row in self.reached:
            self.reached[each.row].setdefault(row, each)
        elif each.taken:
            differing = _differing(self._model, each.row, self._printed, self._names)
            if not differing:
                self.reached[each.row] = {row: each}
            elif self._nearest is None or len(differing) < self.distance:
                self.distance, self._nearest = len(differing), (each, differing)
        else:
            self._reasons.setdefault(each.reason, each.action.name)
            if self.wider is None and isinstance(each.error, CapacityExceeded):
                self.wider = self._model.widened(each.error.size)

    def failure(self) -> LabError:
        """Why no attempt leads to the printed state, in one sentence."""
        printed, spec = self._printed, self._model.spec
        where = f"State {printed.number} of the trace"
        each, fields = self._nearest or (None, [])
        wrong = self._differences(each, fields) if each else ""
        if printed.number == 1:
            return LabError(
                f"{where} matches no initial state of {spec.name}{wrong and ': '}{wrong}."
            )
        if each:
            name = each.action.name
            if not same_name(name, printed.action):
                name = f"the nearest step, {name},"
            return LabError(f"{where}: {name} leads to another one: {wrong}.")
        if not self._reasons:
            return LabError(f"{where}: {spec.name} has no step there.")
        name = next(iter(self._reasons.values()))
        reasons = "; ".join(list(self._reasons)[:2])
        return LabError(f"{where}: {name} can't happen before it in {spec.name} ({reasons}).")

    def _differences(self, each: Attempt, fields: list[str]) -> str:
        """How the state that an attempt leads to differs in these fields, for the first few."""
        spec, names = self._model.spec, self._names
        ours = comparable(self._model, each.row)
        theirs = {
            field: self._printed.variables[name]
            for name, field in variables_of(spec.state, self._printed.variables).items()
        }
        told = [
            difference(
                names,
                None if spec.printed.get(field) else spec.state.field_types[field],
                ours[field],
                theirs[field],
                field,
                self._tool,
            )
            for field in fields[:_TOLD]
        ]
        more = len(fields) - len(told)
        return "; ".join(told) + (f"; and {more} more variables differ" if more else "")


def _differing(model: Model, row: bytes, printed: PrintedState, names: Names) -> list[str]:
    """The fields of the state that do not agree with TLC's values."""
    spec, ours = model.spec, comparable(model, row)
    return [
        field
        for theirs, field in variables_of(spec.state, printed.variables).items()
        if field in ours and not agree(spec, names, field, ours[field], printed.variables[theirs])
    ]


def comparable(model: Model, row: bytes) -> dict[str, Any]:
    """The fields of a state, each in the shape in which `agree` takes it."""
    s = view(model.layout, row)
    return plain(s) | {
        field: convert(s, model.constants)
        for field, convert in model.spec.printed.items()
        if convert
    }


def agree(spec: Spec, names: Names, field: str, ours: Any, theirs: Value) -> bool:
    """Does a field of a state, as `comparable` gives it, agree with TLC's value?"""
    if spec.printed.get(field):
        return names.agree_printed(ours, theirs)
    return names.agree(spec.state.field_types[field], ours, theirs)


def _outside(model: Model, row: bytes) -> str:
    """Why a search would not expand this state; "" if it would."""
    reasons = (evaluate(model, row, each.function) for each in model.spec.constraints)
    return next(filter(None, reasons), "")


def _walk(trace: PrintedTrace, replay: _Replay) -> Walk:
    start, *path = replay.path
    walk = Walk.begin(replay.model, start_text(replay.model, start))
    for each in path:
        walk.take(each)
    numbers = [printed.number for printed in trace.states]
    if len(path) == len(numbers):
        numbers.append(trace.loop_to)
    state = f"{trace.tool}'s state" if trace.tool.isalnum() else "State"
    for number, moment, each in zip(numbers, walk.path, replay.path, strict=True):
        said = each.action.doc.partition("\n")[0]
        moment.caption = f"{state} {number}" + (f": {said}" if said else ".")
    if trace.complaint:
        walk.path[len(trace.states) - 1].caption += f" Here TLC says: {trace.complaint}."
    if trace.loop_to is not None:
        walk.close_loop(trace.loop_to)
    return walk
