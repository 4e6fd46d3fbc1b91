"""Trying a spec out, uncompiled, before it is compiled: mistakes get their own sentence here.

Compiled code has no words for a misspelled field or a forgotten `return TAKEN`. Some mistakes it
would not even notice: a guard behind an effect leaves the effect in the successors that follow.
"""

from collections.abc import Iterable
from itertools import islice

from protocol_lab.errors import CapacityExceeded, LabError
from protocol_lab.semantics.transitions import initial, successors
from protocol_lab.spec.spec import Model, Property
from protocol_lab.spec.state_view import view

TRIED, STARTS = 200, 50
"""How many states are tried, and how many initial ones among them."""

_passed: set[tuple] = set()


def rehearse(model: Model, properties: Iterable[Property] = ()) -> None:
    """Take every step and judge every property in the first states, once for these functions.

    properties: what is to be judged beyond the sometimes properties and constraints of the spec.
    Raises LabError for a fault of an action or property, or if there is no initial state.
    """
    spec = model.spec
    judged = [*properties, *spec.sometimes_properties, *spec.constraints]
    steps = [each for each in judged if each in spec.step_invariants]
    states = [each for each in judged if each not in steps]
    functions = tuple(each.function for each in [*spec.inits, *spec.actions, *judged])
    key = (spec.name, functions, tuple(model.constants), model.layout.dtype.str)
    if key in _passed:
        return
    try:
        _walk(model, states, steps)
    except CapacityExceeded:
        return  # the search meets it as well, and says what it means
    _passed.add(key)


def _walk(model: Model, states: list[Property], steps: list[Property]) -> None:
    waiting = list(dict.fromkeys(each.row for each in islice(initial(model), STARTS)))
    if not waiting:
        raise LabError(
            f"{model.spec.name} has no initial state: every function with @spec.init refuses."
        )
    seen = set(waiting)
    for row in waiting:
        s = view(model.layout, row)
        for each in states:
            judge(each, s, model.constants)
    while waiting and len(seen) < TRIED:
        row = waiting.pop(0)
        before = view(model.layout, row)
        for found in successors(model, row):
            after = view(model.layout, found.row)
            for each in steps:
                judge(each, before, after, model.constants)
            if found.row in seen:
                continue
            seen.add(found.row)
            waiting.append(found.row)
            for each in states:
                judge(each, after, model.constants)


def judge(declared: Property, *arguments) -> str:
    """What a property says. Raises LabError if it fails there, or says nothing."""
    try:
        said = declared.function(*arguments)
    except Exception as error:
        told = str(error).rstrip(".")
        raise LabError(f"{declared.name} fails with {type(error).__name__}: {told}.") from None
    if not isinstance(said, str):
        raise LabError(
            f"{declared.name} returned {said!r}; return HOLDS, or a sentence that says what is"
            " wrong."
        )
    return said
