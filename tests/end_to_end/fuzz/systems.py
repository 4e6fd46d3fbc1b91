"""The two systems that `breadth_first` walks: the kit's uncompiled steps, and `plain_kit`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from protocol_lab.errors import CapacityExceeded, EvaluationError
from protocol_lab.semantics.transitions import attempts, evaluate, evaluate_step, initial
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view
from tests.end_to_end.fuzz import plain_kit
from tests.end_to_end.fuzz.breadth_first import Stopped


class Stepping:
    """States are rows of bytes, and steps what the stepper offers."""

    def __init__(self, model: Model):
        self.model, self.spec = model, model.spec
        self.actions = [each.name for each in model.spec.actions]

    def starts(self) -> Iterator[bytes]:
        """The initial states."""
        with _stopping():
            yield from (each.row for each in initial(self.model))

    def steps(self, state: bytes) -> Iterator[tuple[str, bytes, int]]:
        """The attempts that were taken."""
        for each in attempts(self.model, state):
            if each.error is not None:
                at = f" (at {each.action.name})" * isinstance(each.error, CapacityExceeded)
                raise Stopped(f"{each.reason}{at}")
            if each.taken:
                yield each.action.name, each.row, each.multiplicity

    def holds(self, kind: str, name: str, *states: bytes) -> bool:
        """What the property's function says."""
        function = next(e.function for e in getattr(self.spec, kind) if e.name == name)
        with _stopping():
            return not (evaluate if len(states) == 1 else evaluate_step)(
                self.model, *states, function
            )

    def key(self, state: bytes) -> bytes:
        """The row itself."""
        return state


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except EvaluationError as error:
        raise Stopped(str(error)) from None


class Plain:
    """States are nested Python objects; nothing of the kit takes part."""

    def __init__(self, model: plain_kit.PlainModel):
        self.model = model
        self.actions = [each.function.__name__ for each in model.spec.actions]

    def starts(self) -> Iterator[plain_kit.Parts]:
        """The initial states."""
        with _stopping_plainly():
            yield from (state for _, state, _ in self.model.starts())

    def steps(self, state: plain_kit.Parts) -> Iterator[tuple[str, plain_kit.Parts, int]]:
        """The steps that are possible."""
        with _stopping_plainly():
            yield from self.model.steps(state)

    def holds(self, kind: str, name: str, *states: plain_kit.Parts) -> bool:
        """What the property's function says."""
        with _stopping_plainly():
            return self.model.holds(kind, name, *states)

    def key(self, state: plain_kit.Parts) -> tuple:
        """The state as nested tuples."""
        return self.model.shown(state)


@contextmanager
def _stopping_plainly() -> Iterator[None]:
    try:
        yield
    except plain_kit.Undecided as error:
        raise Stopped(str(error)) from None


def key_of_row(model: Model, row: bytes) -> tuple:
    """The key that `Plain` has for a state of the kit."""
    return _nested(plain(view(model.layout, row)))


def _nested(value: Any) -> Any:
    match value:
        case dict():
            return tuple(map(_nested, value.values()))
        case list():
            return tuple(map(_nested, value))
        case set():
            return tuple(sorted(value))
    return value
