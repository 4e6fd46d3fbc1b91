"""Replays TLC's counterexample for an original spec as a walk through our spec.

The steps are found, not read: for each printed state those successors are kept that the action can
lead to and that agree with TLC's values (`tlc_values`). So parameters that TLC does not print are
filled in, and where our spec differs from the original, the state and the variable are named.

TLC does not print the constants either. Some can be read off the values (how many nodes, how long
an array); the others have their defaults, or, if those do not permit the trace, the smallest value
that does.
"""

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import CapacityExceeded, LabError
from protocol_lab.semantics.step_text import start_text
from protocol_lab.semantics.transitions import Attempt, attempts, evaluate, initial
from protocol_lab.spec.constants import Limits, limits_of, show
from protocol_lab.spec.spec import Action, Model, Spec
from protocol_lab.spec.state_view import plain, view
from protocol_lab.traces.tlc_output import PrintedState, PrintedTrace, Value, parse_output
from protocol_lab.traces.tlc_values import Names, Places, same_name, variables_of
from protocol_lab.traces.walk import Walk


def read_tlc_trace(text: str, model: Model | None = None, spec_name: str | None = None) -> Walk:
    """The walk along the first counterexample in TLC's output, at its end.

    Without a model the spec is that of `spec_name`, or the one whose original the output names, and
    the constants are inferred. A given model is used unchanged. Every state has TLC's number in its
    caption. Raises LabError with one sentence: what in the text can't be read, or which state of
    the trace our spec does not reach.
    """
    trace = parse_output(text)
    if model is not None:
        _check_variables(trace, model.spec)
        return _walk(trace, _replay_exactly(trace, model))
    best: _Replay | None = None
    for spec in [load(spec_name)] if spec_name else _specs_of(trace):
        _check_variables(trace, spec)
        replay = _infer(trace, spec.bind())
        if replay.complete:
            return _walk(trace, replay)
        if best is None or replay.score > best.score:
            best = replay
    raise best.failure


def read_tlc_trace_like(text: str, model: Model) -> Walk:
    """The walk along a counterexample of this model's spec, starting from the model's constants.

    Those that do not permit the trace are inferred; a trace of another spec is read as without a
    model. Raises LabError as `read_tlc_trace` does.
    """
    trace = parse_output(text)
    if not _is_named(model.spec, trace) and _named_specs(trace):
        return read_tlc_trace(text)
    _check_variables(trace, model.spec)
    replay = _infer(trace, model)
    if not replay.complete:
        raise replay.failure
    return _walk(trace, replay)


# --- Which spec ------------------------------------------------------------------------------


def _specs_of(trace: PrintedTrace) -> list[Spec]:
    """The specs that the trace can belong to, the likeliest first."""
    named = _named_specs(trace)
    if named:
        return named
    count = len(trace.states[0].variables)
    every = [load(name) for name in spec_names()]
    fitting = [spec for spec in every if len(_variables(trace, spec)) == count]
    if len(fitting) == 1:
        return fitting
    if fitting:
        names = ", ".join(spec.name for spec in fitting)
        raise LabError(
            f"The trace does not say which spec it belongs to; it may be {names}: paste everything"
            " that TLC printed, or name the spec."
        )
    known = ", ".join(sorted(spec.original for spec in every if spec.original))
    modules = " and ".join(trace.modules[-2:]) or "a module that is not named"
    raise LabError(f"This is a trace of {modules}; the kit has the specs of {known}.")


def _named_specs(trace: PrintedTrace) -> list[Spec]:
    """The specs whose original the output names; a module that extends others is named last."""
    named = [spec for name in spec_names() if _is_named(spec := load(name), trace)]
    return sorted(named, key=lambda spec: -trace.modules.index(spec.original))


def _is_named(spec: Spec, trace: PrintedTrace) -> bool:
    """Is it the spec's original, rather than a module of helpers that the original uses?"""
    return spec.original in trace.modules and bool(_variables(trace, spec))


def _variables(trace: PrintedTrace, spec: Spec) -> dict[str, str]:
    return variables_of(spec.state, trace.states[0].variables)


def _check_variables(trace: PrintedTrace, spec: Spec) -> None:
    if not _variables(trace, spec):
        theirs = ", ".join(trace.states[0].variables)
        raise LabError(f"This is not a trace of {spec.name}, which has no variable like {theirs}.")


# --- Which constants ---------------------------------------------------------------------------

Constants = dict[str, int | str | bool | None]


def _infer(trace: PrintedTrace, start: Model) -> "_Replay":
    """The replay that gets furthest, found by changing one constant after another where that helps.

    The constants begin as those of `start`, except those that the trace shows. These may be raised:
    some servers of KRaft start on the way, or never. Where no single change helps, the sizes that
    the first state suggests are tried as well.
    """
    spec, limits = start.spec, limits_of(type(start.constants))
    places = Places.of(trace, spec.state)
    told = {name: size for name, size in places.sizes.items() if name in limits}
    guessed = {name: size for name, size in places.guesses.items() if name in limits}
    first, *others = places.numberings()
    most = max(places.largest, len(trace.states)) + 1

    def attempt_with(values: Constants, numbers: dict) -> _Replay:
        return _replay(trace, spec.bind(**values), Names(numbers), within_constraints=True)

    values = _clamped(show(start.constants) | told, limits, told)
    best = attempt_with(values, first)

    def best_change(values: Constants) -> tuple[_Replay, Constants]:
        changes = [
            _clamped(values | {name: value}, limits, told)
            for name, each in limits.items()
            for value in _candidates(each, most)
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


def _candidates(limits: Limits, most: int) -> range:
    """The values to try for a constant, the smallest first; the trace itself bounds them."""
    if limits.choices:
        return range(len(limits.choices))
    low = 0 if isinstance(limits.low, str) else limits.low
    high = most if isinstance(limits.high, str) else min(limits.high, most)
    return range(low, high + 1)


def _clamped(values: Constants, limits: dict[str, Limits], told: Constants) -> Constants:
    """The values with every constant kept within a bound that is another constant.

    A constant that must be at least as large as another is raised; if the trace shows its value,
    the other is lowered.
    """
    values = dict(values)
    for name, each in limits.items():
        if isinstance(each.low, str) and name in told:
            values[each.low] = min(values[each.low], values[name])
        elif isinstance(each.low, str):
            values[name] = max(values[name], values[each.low])
    highest = {name: each.high for name, each in limits.items() if isinstance(each.high, str)}
    return {
        name: min(value, values[highest[name]]) if name in highest else value
        for name, value in values.items()
    }


def _replay_exactly(trace: PrintedTrace, model: Model) -> "_Replay":
    """The complete replay in this very model. Raises LabError if there is none.

    The model may have more nodes than the trace shows where they come into being on the way, as
    servers do in KRaft; only where there is no replay, a difference in sizes explains it.
    """
    places = Places.of(trace, model.spec.state)
    replays = (_replay(trace, model, Names(numbers)) for numbers in places.numberings())
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
    trace: PrintedTrace, model: Model, names: Names, within_constraints: bool = False
) -> _Replay:
    """Follow the trace, keeping the rows that agree with each state, and the attempts that led to
    them. Where a step needs more storage than the model has, begin again with more."""
    levels: list[dict[bytes, tuple[bytes, Attempt]]] = []
    for printed in trace.states:
        if levels:
            tried = [
                (row, each)
                for row in levels[-1]
                for each in attempts(model, row, _actions(model, printed.action))
            ]
        else:
            tried = [(b"", each) for each in initial(model)]
        differing = {
            each.row: _differing(model, each.row, printed, names) for _, each in tried if each.taken
        }
        reached = {
            each.row: (row, each) for row, each in tried if each.taken and not differing[each.row]
        }
        if not reached:
            if wider := _with_more_room(model, [each for _, each in tried]):
                return _replay(trace, wider, names, within_constraints)
            nearest = min(map(len, differing.values()), default=len(printed.variables))
            score = (len(levels), len(printed.variables) - nearest)
            failure = _failure(model, printed, [each for _, each in tried], differing)
            return _Replay(model, score, failure=failure)
        if within_constraints and printed is not trace.states[-1]:
            outside = _outside(model, next(iter(reached)))
            if outside:
                failure = LabError(
                    f"State {printed.number} of the trace is out of bounds: {outside}."
                )
                return _Replay(model, (len(levels), len(printed.variables)), failure=failure)
        levels.append(reached)
    row, path = next(iter(levels[-1])), []
    for reached in reversed(levels):
        row, each = reached[row]
        path.append(each)
    return _Replay(model, (len(levels), 0), path[::-1])


def _with_more_room(model: Model, tried: list[Attempt]) -> Model | None:
    """The model with more storage, if one of the attempts needs it and there is more to have."""
    sizes = (each.error.size for each in tried if isinstance(each.error, CapacityExceeded))
    return next(filter(None, map(model.widened, sizes)), None)


def _actions(model: Model, theirs: str) -> list[Action]:
    """Our actions with this name; all actions if TLC names a helper that several share."""
    every = model.spec.actions
    return [action for action in every if same_name(action.name, theirs)] or every


def _differing(model: Model, row: bytes, printed: PrintedState, names: Names) -> list[str]:
    """The fields of the state that do not agree with TLC's values."""
    spec, ours = model.spec, comparable(model, row)
    return [
        field
        for theirs, field in variables_of(spec.state, printed.variables).items()
        if not agree(spec, names, field, ours[field], printed.variables[theirs])
    ]


def comparable(model: Model, row: bytes) -> dict[str, Any]:
    """The fields of a state, each in the shape in which `agree` takes it."""
    s = view(model.layout, row)
    return plain(s) | {
        field: convert(s, model.constants) for field, convert in model.spec.printed.items()
    }


def agree(spec: Spec, names: Names, field: str, ours: Any, theirs: Value) -> bool:
    """Does a field of a state, as `comparable` gives it, agree with TLC's value?"""
    if field in spec.printed:
        return names.agree_printed(ours, theirs)
    return names.agree(spec.state.field_types[field], ours, theirs)


def _outside(model: Model, row: bytes) -> str:
    """Why a search would not expand this state; "" if it would."""
    reasons = (evaluate(model, row, each.function) for each in model.spec.constraints)
    return next(filter(None, reasons), "")


def _failure(
    model: Model, printed: PrintedState, tried: list[Attempt], differing: dict[bytes, list[str]]
) -> LabError:
    """Why no attempt leads to the printed state, in one sentence."""
    where = f"State {printed.number} of the trace"
    spec, taken = model.spec.name, [each for each in tried if each.taken]
    nearest = min(taken, key=lambda each: len(differing[each.row]), default=None)
    wrong = ", ".join(differing[nearest.row]) if nearest else ""
    if not printed.action:
        return LabError(f"{where} matches no initial state of {spec}: {wrong} differs.")
    known = {each.action.name for each in tried if same_name(each.action.name, printed.action)}
    if not known:
        near = f"; {nearest.action.name} comes nearest but differs in {wrong}" if nearest else ""
        return LabError(
            f"{where}: {spec} has no action {printed.action}, and no step of it leads there{near}."
        )
    if nearest:
        return LabError(f"{where}: {known.pop()} leads to one that differs from TLC's in {wrong}.")
    reasons = "; ".join(list(dict.fromkeys(each.reason for each in tried))[:2])
    return LabError(f"{where}: {known.pop()} can't happen before it in {spec} ({reasons}).")


def _walk(trace: PrintedTrace, replay: _Replay) -> Walk:
    start, *path = replay.path
    walk = Walk.begin(replay.model, start_text(replay.model, start))
    for each in path:
        walk.take(each)
    for printed, moment, each in zip(trace.states, walk.path, replay.path, strict=True):
        said = each.action.doc.partition("\n")[0]
        moment.caption = f"TLC's state {printed.number}" + (f": {said}" if said else ".")
    if trace.complaint:
        walk.moment.caption += f" Here TLC says: {trace.complaint}."
    if trace.goes_on:
        walk.moment.caption += f" From here on: {trace.goes_on}."
    return walk
