"""The uncompiled semantics of one state: its steps, its refusals and its successors.

It runs the same functions as the compiled engine, slowly. The stepper uses it, and the tests use it
as the oracle.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from protocol_lab.errors import CapacityExceeded, EvaluationError, LabError, SpecError
from protocol_lab.language.evaluation import evaluated
from protocol_lab.language.kept_results import kept
from protocol_lab.language.source_code import place_of
from protocol_lab.spec.parameters import Domain, values
from protocol_lab.spec.spec import TAKEN, TRUE_OR_FALSE, Action, Model
from protocol_lab.spec.state_view import view


@dataclass(frozen=True)
class Attempt:
    """The outcome of trying one action with one choice of parameters.

    `reason` is "" if it was taken, and then `row` is the state after it. `error` is set if the step
    could not be computed, which is not a refusal.
    """

    action: Action
    args: dict[str, Any]
    reason: str
    row: bytes | None
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
    """Try an action on a copy of the state. Raises SpecError if the action has a mistake."""
    after, constants = bytearray(row), model.constants
    try:
        state = view(model.layout, after)
        reason = evaluated(action.function, state, constants, spec=model.spec.name, **args)
        multiplicity = 1 if reason else _multiplicity(model, row, action, args)
    except EvaluationError as error:
        return Attempt(action, args, str(error), None, error)
    if not isinstance(reason, str):
        raise SpecError(
            f"{model.spec.name}: {action.name} returned {reason!r}; return TAKEN, or a text that"
            f" says why it can't happen ({place_of(action.function)})."
        )
    if reason != TAKEN:
        if after != row:
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
            for args in choices(model, row, action):
                yield attempt(model, row, action, args)
        except EvaluationError as error:  # of what a parameter may be
            yield Attempt(action, {}, str(error), None, error)


def successors(model: Model, row: bytes) -> Iterator[Attempt]:
    """The steps that can be taken. Raises EvaluationError where one can't be computed."""
    for each in attempts(model, row):
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
        for args in choices(model, zero, init, offered):
            each = attempt(model, zero, init, args)
            if each.error is not None:
                raise each.error
            if each.taken:
                yield each


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
    scope = {"s": view(model.layout, row), "c": model.constants}

    def extend(names: list[str], chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not names:
            yield chosen
            return
        domain = action.domains[names[0]]
        for value in _named(action, names[0], offered(names[0], domain, {**scope, **chosen})):
            yield from extend(names[1:], {**chosen, names[0]: value})

    yield from extend(list(action.domains), {})


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


def is_inside(model: Model, row: bytes, constraint: Callable[..., Any] | None = None) -> bool:
    """Is a state inside the spec's constraints and this one? Raises as `evaluate`."""
    return not any(evaluate(model, row, each.function) for each in model.spec.constraints) and (
        constraint is None or is_true(model, row, constraint)
    )


def truth(condition: Callable[..., Any], said: Any) -> bool:
    """Whether what a condition returned is true. Raises SpecError if it is neither true nor false.

    A text is what an invariant returns, where "" means that it holds: the reverse of its truth.
    """
    if isinstance(said, int | np.integer | np.bool_):
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
