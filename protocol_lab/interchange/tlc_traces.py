"""Replays another tool's counterexample as a walk through our spec.

The steps are found, not read: for each printed state those successors are kept that the action can
lead to and that agree with the tool's values (`tlc_values`). So parameters that are not printed are
filled in, and where our spec differs from the original, the state and the variable are named.

Constants are those of the model that is given, except the sizes that the trace shows: how many
nodes, how long an array.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import CapacityExceeded, LabError, shortened
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.tlc_output import PrintedState, PrintedTrace
from protocol_lab.interchange.tlc_values import Names, Places, same_name, variables_of
from protocol_lab.model.constants import limits_of, show
from protocol_lab.model.spec import Action, Model, Spec
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import start_text
from protocol_lab.model.transitions import Attempt, initial, needed_attempts
from protocol_lab.reader.dependencies import reachable
from protocol_lab.traces.walk import Walk

_LONGEST = 80
"""The longest name, in characters, that is shown whole."""

_WHOLE = re.compile(r"\w*next|step", re.IGNORECASE)
"""What next-state relations are called: Next, MCNext, ...; in Quint step."""


def walk_along(
    trace: PrintedTrace,
    model: Model | None = None,
    only: bool = False,
    effort: Effort | None = None,
) -> Walk:
    """The walk along a trace of another tool, at its end.

    The spec is the one whose original the trace names, else the model's; the model's in any case if
    it is the `only` one. Every state has its number in the trace in its caption. Raises LabError
    with one sentence: what does not fit the spec, or which state of the trace it does not reach.
    """
    start = _model_of(trace, model, only)
    why = _misfit(trace, start.spec)
    if why:
        raise LabError(f"This trace does not fit {start.spec.name}: {why}.")
    places = Places.of(trace, start.spec.state)
    known = limits_of(type(start.constants))
    told = {name: size for name, size in places.sizes.items() if name in known}
    try:
        start = start.spec.bind(**{**show(start.constants), **told})
    except LabError as error:
        sizes = ", ".join(f"{name}={size}" for name, size in told.items())
        raise LabError(f"The trace has {sizes}: {error}") from None
    return _walk(trace, *_replay(trace, start, places.names(), effort or Effort()))


# --- Which spec --------------------------------------------------------------------------------


def _model_of(trace: PrintedTrace, model: Model | None, only: bool) -> Model:
    if model is not None and (only or not trace.modules or model.spec.original in trace.modules):
        return model
    for module in reversed(trace.modules):
        for spec in map(load, spec_names()):
            if spec.original == module:
                return spec.bind()
    if model is not None:
        return model
    named = f" of {shortened(trace.modules[-1], _LONGEST)}" if trace.modules else ""
    raise LabError(
        f"This trace{named} does not say which spec of the kit it belongs to: name the spec."
    )


def _misfit(trace: PrintedTrace, spec: Spec) -> str:
    """Why the trace can't be one of this spec, as a clause about "it"; "" if it can."""
    for printed in trace.states:
        there = variables_of(spec.state, printed.variables).values()
        missing = [k for k in spec.state.field_types if k not in there and k not in spec.added]
        if missing:
            names = ", ".join(missing[:6]) + (", ..." if len(missing) > 6 else "")
            return f"state {printed.number} lacks {names}"
    for printed in trace.states[1:]:
        if not _actions_named(spec.actions, printed.action):
            return f"the spec has no action {shortened(printed.action, _LONGEST)}"
    return ""


def _actions_named(actions: Iterable[Action], name: str) -> list[Action]:
    """The actions that a step can be of, by the name that the tool gives it; "" stands for any.

    TLC may name a step after an operator that several actions share; a spec that calls a function
    of that name has the operator, too.
    """
    actions = list(actions)
    if own := [action for action in actions if same_name(action.name, name)]:
        return own
    if not name or _WHOLE.fullmatch(name):
        return actions
    return [
        action
        for action in actions
        if any(same_name(each.__name__, name) for each in reachable([action.function]))
    ]


# --- Which steps -----------------------------------------------------------------------------

_TOLD = 3
"""The differences of at most so many variables are told."""

Level = dict[bytes, dict[bytes, Attempt]]
"""The rows that agree with one printed state; for each the rows before it, and the attempts."""


def _replay(
    trace: PrintedTrace, model: Model, names: Names, effort: Effort
) -> tuple[Model, list[Attempt]]:
    """Follow the trace, keeping the rows that agree with each state, and the attempts that led to
    them; returns a path. Where a step needs more storage than the model has, begin again with
    more."""
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
                return _replay(trace, tries.wider, names, effort)
            raise tries.failure()
        effort.keep(len(tries.reached), where)
        levels.append(tries.reached)
    path = _path(levels, trace.loop_to)
    if path is None:
        raise LabError(
            f"The run does not go back to state {trace.loop_to} in {model.spec.name}: what the"
            " trace does not show has changed meanwhile."
        )
    return model, path


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
    actions = _actions_named(model.spec.actions, printed.action)
    for row in rows:
        yield from ((row, each) for each in needed_attempts(model, row, actions))


class _Tries:
    """What the attempts to get to one printed state came to.

    `reached` has the rows that agree with it. `wider` is the model with more storage, if an attempt
    needs that.
    """

    def __init__(self, model: Model, printed: PrintedState, names: Names, tool: str):
        self._model, self._printed, self._names, self._tool = model, printed, names, tool
        self.reached: Level = {}
        self.wider: Model | None = None
        self._nearest: tuple[Attempt, list[str]] | None = None
        self._reasons: dict[str, str] = {}

    def add(self, row: bytes, each: Attempt) -> None:
        """Take in an attempt from this row."""
        if each.taken and each.row in self.reached:
            self.reached[each.row].setdefault(row, each)
        elif each.taken:
            differing = self._differing(each.row)
            if not differing:
                self.reached[each.row] = {row: each}
            elif self._nearest is None or len(differing) < len(self._nearest[1]):
                self._nearest = each, differing
        else:
            self._reasons.setdefault(each.reason, each.action.name)
            if self.wider is None and isinstance(each.error, CapacityExceeded):
                self.wider = self._model.widened(each.error.size)

    def _differing(self, row: bytes) -> list[str]:
        """How the fields of a state differ from the tool's values, each that does."""
        types, ours = self._model.spec.state.field_types, plain(view(self._model.layout, row))
        printed = self._printed.variables
        return [
            self._names.difference(types[field], ours[field], printed[name], field, self._tool)
            for name, field in variables_of(self._model.spec.state, printed).items()
            if not self._names.agree(types[field], ours[field], printed[name])
        ]

    def failure(self) -> LabError:
        """Why no attempt leads to the printed state, in one sentence."""
        printed, spec = self._printed, self._model.spec
        where = f"State {printed.number} of the trace"
        each, differing = self._nearest or (None, [])
        more = len(differing) - _TOLD
        wrong = "; ".join(differing[:_TOLD])
        wrong += f"; and {more} more variables differ" if more > 0 else ""
        if printed.number == 1:
            return LabError(
                f"{where} matches no initial state of {spec.name}{wrong and ': '}{wrong}. The tool"
                " had other constants (give the model with them), or the original keeps this in"
                " another shape."
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


def _walk(trace: PrintedTrace, model: Model, path: list[Attempt]) -> Walk:
    start, *steps = path
    walk = Walk.begin(model, start_text(model, start))
    for each in steps:
        walk.take(each)
    numbers: list[Any] = [printed.number for printed in trace.states]
    if len(steps) == len(numbers):
        numbers.append(trace.loop_to)
    state = f"{trace.tool}'s state" if trace.tool.isalnum() else "State"
    for number, moment, each in zip(numbers, walk.path, path, strict=True):
        said = each.action.doc.partition("\n")[0]
        moment.caption = f"{state} {number}" + (f": {said}" if said else ".")
    if trace.complaint:
        walk.path[len(trace.states) - 1].caption += f" Here TLC says: {trace.complaint}."
    if trace.loop_to is not None:
        walk.close_loop(trace.loop_to)
    return walk
