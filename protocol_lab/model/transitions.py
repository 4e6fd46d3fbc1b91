"""The uncompiled semantics of one state: its steps, its refusals and its successors.

It runs the author's functions as they were written, slowly. The stepper uses it, and all other
engines are compared with it.

An action that refuses before it looks at its last parameters refuses whatever their values are. So
it is first called without values for them: an `Unchosen` can be passed on, and whatever looks at it
raises `LookedAt`. Only then are their values tried.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import isfunction
from itertools import islice
from math import prod
from types import FrameType
from typing import Any

from protocol_lab.errors import (
    CapacityExceeded,
    EvaluationError,
    LabError,
    SpecError,
    place_of,
    quoted,
)
from protocol_lab.model.evaluation import evaluated, is_of_numpy, kept
from protocol_lab.model.parameters import Domain, domains_of, number_of_values, same_for_all, values
from protocol_lab.model.spec import TAKEN, TRUE_OR_FALSE, Action, Model, Property, Situation
from protocol_lab.model.state_view import view


@dataclass(frozen=True)
class Attempt:
    """The outcome of trying one action with one choice of parameters.

    `reason` is "" if it was taken, and then `row` is the state after it. `error` is set if the step
    could not be computed, which is not a refusal.
    """

    action: Action
    args: dict[str, Any]
    reason: str
    row: bytes | Any
    error: EvaluationError | None = None
    multiplicity: int = 1

    @property
    def taken(self) -> bool:
        return self.row is not None

    @property
    def over_capacity(self) -> bool:
        """Does the protocol allow a step that the model can't represent, for lack of room or of a
        value?"""
        return self.error is not None


def attempt(model: Model, row: bytes, action: Action, args: dict[str, Any]) -> Attempt:
    """Try an action on a copy of the state. Raises SpecError if the action has a mistake.

    One that refuses has changed nothing, unless it makes an initial state.
    """
    after, constants = bytearray(row), model.constants
    try:
        state = view(model.layout, after)
        reason = evaluated(action.function, state, constants, spec=model.spec.name, **args)
        taken = isinstance(reason, str) and reason == TAKEN
        multiplicity = _multiplicity(model, row, action, args) if taken else 1
    except EvaluationError as error:
        return Attempt(action, args, str(error), None, error)
    if not isinstance(reason, str):
        raise SpecError(
            f"{model.spec.name}: {action.name} returned {reason!r}; return TAKEN, or a text that"
            f" says why it can't happen ({place_of(action.function)})."
        )
    if reason != TAKEN:
        if after != row and not any(action is each for each in model.spec.inits):
            raise SpecError(
                f"{model.spec.name}: {action.name} changed the state and then refused"
                f' ("{reason}"); put all guards before the first change.'
            )
        return Attempt(action, args, reason, None)
    return Attempt(action, args, TAKEN, bytes(after), multiplicity=multiplicity)


def attempts(model: Model, row: bytes, actions: list[Action] | None = None) -> Iterator[Attempt]:
    """Every action with every choice of parameters, in the order that all engines use."""
    for action in model.spec.actions if actions is None else actions:
        try:
            yield from _Tries(model, row, action).listed()
        except EvaluationError as error:  # of what a parameter may be
            yield Attempt(action, {}, str(error), None, error)


def needed_attempts(
    model: Model,
    row: bytes,
    actions: list[Action] | None = None,
    offered: "Offered | None" = None,
) -> Iterator[Attempt]:
    """As `attempts`, without most choices that are refused as an earlier one was; `offered` gives
    the values to try."""
    for action in model.spec.actions if actions is None else actions:
        try:
            yield from _Tries(model, row, action, offered or every_value).needed()
        except EvaluationError as error:
            yield Attempt(action, {}, str(error), None, error)


def counted_attempts(model: Model, row: bytes, action: Action) -> Iterator[tuple[Attempt, int]]:
    """As `needed_attempts` of one action, each with the number of choices that it answers."""
    try:
        yield from _Tries(model, row, action).counted()
    except EvaluationError as error:
        yield Attempt(action, {}, str(error), None, error), 1


def successors(model: Model, row: bytes) -> Iterator[Attempt]:
    """The steps that can be taken. Raises EvaluationError where one can't be computed."""
    for each in needed_attempts(model, row):
        if isinstance(each.error, CapacityExceeded):
            raise CapacityExceeded(f"{each.reason} (at {each.action.name})", each.error.size)
        if each.error is not None:
            raise each.error
        if each.taken:
            yield each


Offered = Callable[[str, Domain, dict[str, Any]], Iterator[Any]]
"""The values to try for a parameter of this name, with this domain, in this scope."""


def every_value(name: str, domain: Domain, scope: dict[str, Any]) -> Iterator[Any]:
    """All values of a parameter."""
    return values(domain, scope)


def initial(
    model: Model, inits: list[Action] | None = None, offered: Offered = every_value
) -> Iterator[Attempt]:
    """Every initial state, with the choices that give it. A generator, since there may be many."""
    zero = bytes(model.layout.size)
    for init in model.spec.inits if inits is None else inits:
        for each in _Tries(model, zero, init, offered).needed():
            if each.error is not None:
                raise each.error
            if each.taken:
                yield each


def levels(
    model: Model,
    starts: Iterable[bytes] | None = None,
    steps: Callable[[Model, bytes], Iterable[Attempt]] = successors,
) -> Iterator[tuple[int, bytes, list[Attempt]]]:
    """Every reachable state, level by level: (its depth, from 0; the state; its steps).

    starts: the states to begin with; None for the initial ones. What is outside the constraints is
    left out, also among the steps. A state is expanded when it is asked for. Raises as `steps`
    does, which may list refusals as well.
    """
    if starts is None:
        starts = (each.row for each in initial(model) if is_inside(model, each.row))
    level, depth = dict.fromkeys(starts), 0
    known = set(level)
    while level:
        ahead: dict[bytes, None] = {}
        for row in level:
            found = []
            for each in steps(model, row):
                if each.taken and each.row not in known:
                    if not is_inside(model, each.row):
                        continue
                    known.add(each.row)
                    ahead[each.row] = None
                found.append(each)
            yield depth, row, found
        level, depth = ahead, depth + 1


def is_only_start(model: Model) -> bool:
    """Is there only one initial state? One that can't be computed counts, too."""
    try:
        return len(list(islice(initial(model), 2))) == 1
    except EvaluationError:
        return False


def choices(
    model: Model, row: bytes, action: Action, offered: Offered = every_value
) -> Iterator[dict[str, Any]]:
    """Every combination of parameter values; members of containers are read from `row` itself."""
    return _Tries(model, row, action, offered).choices({})


class LookedAt(BaseException):
    """An action has looked at a parameter that has no value yet."""


class Unchosen:
    """Stands for a parameter that has no value yet."""


def _looked_at(*_: Any) -> Any:
    raise LookedAt


for _name in (
    *("bool", "index", "int", "len", "iter", "next", "contains", "getitem", "getattribute", "call"),
    *("eq", "ne", "lt", "le", "gt", "ge", "hash", "str", "repr", "format", "invert", "neg", "abs"),
    *(f"{side}{name}" for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lshift",
      "rshift", "and", "or", "xor") for side in ("", "r")),
):  # fmt: skip
    setattr(Unchosen, f"__{_name}__", _looked_at)


class _Tries:
    """Tries one action in a state with its choices of parameters, one after the other."""

    def __init__(self, model: Model, row: bytes, action: Action, offered: Offered = every_value):
        self.model, self.row, self.action, self.offered = model, row, action, offered
        self.scope = {"s": view(model.layout, row), "c": model.constants}
        self.names = list(action.domains)

    def needed(self) -> Iterator[Attempt]:
        """The tries; of those that are refused whatever the last parameters are, the first one."""
        return (tried for tried, _ in self._tried({}))

    def counted(self) -> Iterator[tuple[Attempt, int]]:
        """The same, each with the number of choices that it answers."""
        return ((tried, self._answered(tried, chosen)) for tried, chosen in self._tried({}))

    def listed(self) -> Iterator[Attempt]:
        """All choices."""
        for tried, chosen in self._tried({}):
            yield from (replace(tried, args=args) for args in self.choices(chosen))

    def choices(self, chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """All choices that begin with these values."""
        if len(chosen) == len(self.names):
            yield chosen
        else:
            for more in self._one_more(chosen):
                yield from self.choices(more)

    def _one_more(self, chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
        name = self.names[len(chosen)]
        found = self.offered(name, self.action.domains[name], {**self.scope, **chosen})
        return ({**chosen, name: each} for each in _named(self.action, name, found))

    def _tried(self, chosen: dict[str, Any]) -> Iterator[tuple[Attempt, dict[str, Any]]]:
        """The tries with these first values, each with those that its outcome depends on."""
        tried = self._outcome(chosen)
        if tried is not None:
            yield tried, chosen
            return
        for more in self._one_more(chosen):
            yield from self._tried(more)

    def _outcome(self, chosen: dict[str, Any]) -> Attempt | None:
        """The outcome with these values; None if it depends on the others."""
        if len(chosen) == len(self.names):
            return attempt(self.model, self.row, self.action, chosen)
        if not same_for_all(self.action.domains, len(chosen)):
            return None
        try:
            unchosen = dict.fromkeys(self.names[len(chosen) :], Unchosen())
            tried = attempt(self.model, self.row, self.action, {**chosen, **unchosen})
        except (LookedAt, SpecError):
            return None
        if tried.taken or tried.error is not None:
            return None
        first = next(self.choices(chosen), None)  # if there is none, nothing can be refused
        return None if first is None else replace(tried, args=first)

    def _answered(self, tried: Attempt, chosen: dict[str, Any]) -> int:
        """How many choices have this outcome: those with these first values."""
        if tried.taken or tried.error is not None:
            return 1
        scope, domains = self.scope | chosen, self.action.domains
        return prod(number_of_values(domains[each], scope) for each in self.names[len(chosen) :])


def _named(action: Action, parameter: str, found: Iterator[Any]) -> Iterator[Any]:
    """These values; an error in what a parameter may be names the action and the parameter."""
    try:
        yield from found
    except (EvaluationError, SpecError):
        raise
    except LabError as error:
        raise LabError(f"{action.name}, parameter {parameter}: {error}") from None


def evaluate(model: Model, row: bytes, function: Any) -> str:
    """An invariant or constraint on a state: "" or the reason why not.

    Raises EvaluationError, and SpecError if the function has a mistake.
    """

    def compute() -> str:
        return _said(function, evaluated(function, view(model.layout, row), model.constants))

    return kept((function, model.constants, row), compute)


def evaluate_step(model: Model, before: bytes, after: bytes, function: Any) -> str:
    """A step invariant on a transition: "" or the reason why not. Raises as `evaluate`."""
    states = view(model.layout, before), view(model.layout, after)
    return _said(function, evaluated(function, *states, model.constants))


def is_true(model: Model, row: bytes, condition: Callable[..., Any]) -> bool:
    """Is a condition, a function (s, c), true of a state? Raises as `evaluate`."""
    return truth(condition, evaluated(condition, view(model.layout, row), model.constants))


def fails(model: Model, row: bytes, declared: Property | Situation) -> bool:
    """Does a property not hold in a state, or is the state not in a situation? Raises as
    `evaluate`."""
    if isinstance(declared, Situation):
        return not is_true(model, row, declared.function)
    return bool(evaluate(model, row, declared.function))


def is_inside(model: Model, row: bytes, constraint: Callable[..., Any] | None = None) -> bool:
    """Is a state inside the spec's constraints and this one? Raises as `evaluate`."""
    return not any(fails(model, row, each) for each in model.spec.constraints) and (
        constraint is None or is_true(model, row, constraint)
    )


def truth(condition: Callable[..., Any], said: Any) -> bool:
    """Whether what a condition returned is true. Raises SpecError if it is neither true nor false.

    A text is what an invariant returns, where "" means that it holds: the reverse of its truth.
    """
    if isinstance(said, int) or (is_of_numpy(said) and said.dtype.kind in "biu"):
        return bool(said)
    raise SpecError(f"{condition.__name__} returned {said!r}; {TRUE_OR_FALSE}.")


def _said(function: Callable, said: Any) -> str:
    if not isinstance(said, str):
        raise SpecError(
            f"{function.__name__} returned {said!r}; return HOLDS, or a sentence that says what is"
            f" wrong ({place_of(function)})."
        )
    return said


def _multiplicity(model: Model, row: bytes, action: Action, args: dict[str, Any]) -> int:
    if action.multiplicity is None:
        return 1
    return evaluated(action.multiplicity, view(model.layout, row), model.constants, **args)


# --- Enabledness ----------------------------------------------------------------------------------
#
# `enabled`: can an action be taken in a state, with some choice of its parameters?
#
#     enabled(lend)                     for some message
#     enabled(ask, client=2)            for this client
#     enabled(lend, before, c)          in this state, where it is not called s
#
# The choices are tried one by one, each on a copy of the state; compiled code calls a generated
# function in its place (`reader.possible_steps`). A step that would change nothing counts, as in
# TLA+'s ENABLED; so does a step that leads outside a constraint. Where a step can't be computed,
# whether it is possible can't either.


def enabled(action: Callable[..., str], s: Any = None, c: Any = None, /, **given: Any) -> bool:
    """Can the action be taken in the state `s` with these parameters, whatever the others are?

    In a spec's function `s` and `c` may be left out: they are that function's own. Raises LabError
    for something else than an action, and for a parameter that it does not have.
    """
    domains = open_parameters(action, tuple(given))
    if s is None or c is None:
        s, c = _of_caller(action, sys._getframe(1))
    return _possible(action, s, c, list(domains.items()), given)


def _of_caller(action: Callable, frame: FrameType | None) -> tuple[Any, Any]:
    """The `s` and `c` of the function that calls `enabled`, or that has a generator which does.

    Raises LabError if it does not have them.
    """
    while frame is not None and frame.f_code.co_name in ("<genexpr>", "<listcomp>"):
        frame = frame.f_back
    names = frame.f_locals if frame else {}
    if "s" not in names or "c" not in names:
        raise LabError(
            f"enabled({action.__name__}): say which state, as in"
            f" enabled({action.__name__}, before, c)."
        )
    return names["s"], names["c"]


def _possible(action: Callable, s: Any, c: Any, domains: list, chosen: dict[str, Any]) -> bool:
    if not domains:
        return len(action(writable(s), c, **chosen)) == 0
    [(name, domain), *rest] = domains
    return any(
        _possible(action, s, c, rest, {**chosen, name: value})
        for value in values(domain, {"s": s, "c": c, **chosen})
    )


def writable(s: Any) -> Any:
    """A copy of a whole state, which an action may change."""
    return type(s)(bytearray(bytes(s)), 0, "state")


def open_parameters(action: Any, given: tuple[str, ...]) -> dict[str, Domain]:
    """The parameters that are not given. Raises LabError."""
    if not isfunction(action):
        raise LabError(
            f"enabled takes an action's function, as in enabled(lend), not {quoted(action)}."
        )
    domains = domains_of(action, skip=2)
    for name in given:
        if name not in domains:
            known = ", ".join(domains) or "none"
            raise LabError(
                f"enabled: {action.__name__} has no parameter {name!r}; it has: {known}."
            )
    return {name: domain for name, domain in domains.items() if name not in given}
