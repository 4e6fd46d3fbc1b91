"""The uncompiled semantics of one state: its steps, its refusals and its successors.

It runs the same functions as the compiled engine, slowly. The stepper uses it, and the tests use it
as the oracle.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from math import prod
from typing import Any

from protocol_lab.errors import CapacityExceeded, EvaluationError, LabError, SpecError
from protocol_lab.language.dependencies import is_of_numpy
from protocol_lab.language.evaluation import as_checked_variant, evaluated
from protocol_lab.language.kept_results import kept
from protocol_lab.language.source_code import place_of
from protocol_lab.semantics.refusals import as_pair, same_for_all, with_depths
from protocol_lab.spec.parameters import (
    Chosen,
    Domain,
    Sequences,
    number_of_values,
    sequences,
    values,
)
from protocol_lab.spec.spec import TAKEN, TRUE_OR_FALSE, Action, Model
from protocol_lab.spec.state_view import view


@dataclass(frozen=True)
class Attempt:
    """The outcome of trying one action with one choice of parameters.

    `reason` is "" if it was taken, and then `row` is the state after it. `error` is set if the step
    could not be computed, which is not a refusal. `depends_on`: of a refusal, how many of the first
    parameters it depends on, see `refusals`.
    """

    action: Action
    args: dict[str, Any]
    reason: str
    row: bytes | Any
    error: EvaluationError | None = None
    multiplicity: int = 1
    depends_on: int | None = None

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
        state, answers = view(model.layout, after), _answering(action)
        said = evaluated(answers, state, constants, spec=model.spec.name, **args)
        reason, depth = said if isinstance(said, tuple) else (said, len(args))
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
        return Attempt(action, args, reason, None, depends_on=same_for_all(action.domains, depth))
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
    return sequences(domain, scope) if isinstance(domain, Sequences) else values(domain, scope)


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
    return map(_plain, _Tries(model, row, action, offered).choices())


class _Tries:
    """Tries one action in a state with its choices of parameters, one after the other.

    Of those that are refused for the same reason it need not try all: see `refusals`.
    """

    def __init__(self, model: Model, row: bytes, action: Action, offered: Offered = every_value):
        self.model, self.row, self.action, self.offered = model, row, action, offered
        self.scope = {"s": view(model.layout, row), "c": model.constants}
        self.names = list(action.domains)
        self.refused: Attempt | None = None  # the last try, if it was
        self.begins_with: tuple = ()  # the items of a sequence that this depends on

    def needed(self) -> Iterator[Attempt]:
        """The tries, without those that an earlier refusal answers."""
        return (tried for tried, _ in self._tried())

    def counted(self) -> Iterator[tuple[Attempt, int]]:
        """The same, each with the number of choices that it answers."""
        return ((tried, self._answered(tried, args)) for tried, args in self._tried())

    def _tried(self) -> Iterator[tuple[Attempt, dict[str, Any]]]:
        for args in self._extended({}, leave_out=True):
            self.refused = self._try(args)
            yield self.refused, args
            if self.refused.reason == TAKEN or self.refused.error is not None:
                self.refused = None

    def _answered(self, tried: Attempt, args: dict[str, Any]) -> int:
        """How many choices are refused as this one: those with the same first parameters, of the
        last of which, if it is a sequence, only the items that were looked at are the same."""
        if tried.depends_on is None:
            return 1
        depth, domains = tried.depends_on, self.action.domains
        scope = self.scope | {name: tried.args[name] for name in self.names[:depth]}
        count = prod(number_of_values(domains[name], scope) for name in self.names[depth:])
        last = self.names[depth - 1] if depth else ""
        if isinstance(args.get(last), Chosen):
            others = replace(domains[last], length=len(args[last]) - args[last].seen)
            count *= number_of_values(others, scope)
        return count

    def listed(self) -> Iterator[Attempt]:
        """All choices; the answer to some is known."""
        for args in self._extended({}):
            if self.refused is not None:
                yield replace(self.refused, args=_plain(args))
                continue
            tried = self._try(args)
            if tried.depends_on is not None:
                self.refused = tried
                last = self.names[tried.depends_on - 1] if tried.depends_on else ""
                if isinstance(args.get(last), Chosen):
                    self.begins_with = args[last].plain()[: args[last].seen]
            yield tried

    def choices(self) -> Iterator[dict[str, Any]]:
        """All choices."""
        return self._extended({})

    def _try(self, args: dict[str, Any]) -> Attempt:
        return replace(attempt(self.model, self.row, self.action, args), args=_plain(args))

    def _extended(
        self, chosen: dict[str, Any], leave_out: bool = False
    ) -> Iterator[dict[str, Any]]:
        """All choices that begin with these values; leave_out: see `needed`."""
        if len(chosen) == len(self.names):
            yield chosen
            return
        at, name = len(chosen), self.names[len(chosen)]
        found = self.offered(name, self.action.domains[name], {**self.scope, **chosen})
        for value in _named(self.action, name, found):
            if not leave_out and self.refused is not None:
                self._forget(at, value)
            yield from self._extended({**chosen, name: value}, leave_out)
            if not leave_out or self.refused is None:
                continue
            if self.refused.depends_on <= at:
                return
            if self.refused.depends_on == at + 1 and isinstance(value, Chosen):
                value.kept, self.refused = value.seen, None

    def _forget(self, at: int, value: Any) -> None:
        """Forget the refusal if it may be another one with this value of the parameter number
        `at`."""
        depth = self.refused.depends_on
        begins_alike = isinstance(value, Chosen) and (
            value.plain()[: len(self.begins_with)] == self.begins_with
        )
        if at < depth and not (at == depth - 1 and begins_alike):
            self.refused = None


def _plain(args: dict[str, Any]) -> dict[str, Any]:
    return {name: each.plain() if isinstance(each, Chosen) else each for name, each in args.items()}


def _answering(action: Action) -> Callable:
    """The action's function, which returns a pair: see `refusals.as_pair`."""
    return _with_depths(action.function, tuple(action.domains))


@cache
def _with_depths(function: Callable, parameters: tuple[str, ...]) -> Callable:
    try:
        return as_checked_variant(function, lambda tree: with_depths(tree, parameters, as_pair))
    except LabError:  # its source can't be read
        return function


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


def may_end(model: Model, row: bytes) -> bool:
    """Is it one of the states in which a run may end (see `Spec.may_end`)? Raises as `evaluate`."""
    return any(is_true(model, row, each.function) for each in model.spec.ends)


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
