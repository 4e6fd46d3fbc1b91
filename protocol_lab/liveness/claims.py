"""The claims of a temporal property for given constants, and the fairness that it assumes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from protocol_lab.compiler.conditions import predicate
from protocol_lab.errors import EvaluationError, LabError, quoted
from protocol_lab.model.declarations import Refinement
from protocol_lab.model.evaluation import evaluated
from protocol_lab.model.parameters import names_used
from protocol_lab.model.parameters import values as values_of
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.temporal_formulas import NEXT, Fairness, Formula, TemporalProperty
from protocol_lab.model.transitions import initial, truth

DECLARED, NO_FAIRNESS, NEXT_ONLY = "declared", "none", "next"
FAIRNESS = (DECLARED, NO_FAIRNESS, NEXT_ONLY)
"""The fairness that can be assumed: the spec's own conditions; none; that a run does not stop while
a step is possible."""


@dataclass(frozen=True)
class Claim:
    """One instance of a property: a formula over functions, its premise in words, and the values of
    its parameters."""

    formula: Formula
    premise: str
    values: dict[str, Any]


def claims_and_text(model: Model, what: str | Formula) -> tuple[str, str, list[Claim]]:
    """(name, formula in words, the claims to check one by one). Raises LabError."""
    if isinstance(what, Formula):
        return what.text, what.text, [_claim(model, what, {})]
    declared = property_of(model, what)
    claims = claims_of(model, declared)
    return declared.name, declared.text, claims


def property_of(model: Model, name: str) -> TemporalProperty:
    """The temporal property of this name. Raises LabError."""
    for each in model.spec.properties:
        if each.name == name:
            return each
    declared = [*model.spec.properties, *model.spec.refinements]
    known = ", ".join(each.name for each in declared)
    raise LabError(
        f"{model.spec.name} has no temporal property {quoted(name)}; it has"
        f"{f': {known}' if known else ' none'}."
    )


def refinement_of(model: Model, what: Any) -> Refinement | None:
    """The refinement of this name, or this one; None if it is none."""
    if isinstance(what, Refinement):
        return what
    return next((each for each in model.spec.refinements if each.name == what), None)


def claims_of(model: Model, declared: TemporalProperty) -> list[Claim]:
    """A property's claims for these constants, one for every choice of its parameters.

    Raises LabError if there are none: the property would then hold vacuously.
    """
    claims = [
        _claim(model, declared.formula(values), values) for values in _choices(model, declared)
    ]
    if not claims:
        raise LabError(
            f"{declared.name} claims nothing with these constants: there is no choice of"
            f" {', '.join(declared.domains)}; change the constants that bound it."
        )
    return claims


def claims_something(model: Model, declared: TemporalProperty) -> bool:
    """Is there a choice of the property's parameters with these constants?"""
    return any(True for _ in _choices(model, declared))


def _choices(model: Model, declared: TemporalProperty) -> Iterator[dict[str, Any]]:
    def extend(names: list[str], chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not names:
            yield chosen
            return
        for value in values_of(declared.domains[names[0]], {"c": model.constants, **chosen}):
            yield from extend(names[1:], {**chosen, names[0]: value})

    return extend(list(declared.domains), {})


def _claim(model: Model, formula: Formula, values: dict[str, Any]) -> Claim:
    """The claim with its expressions turned into functions, each tried on one state."""
    functions = tuple(
        predicate(model, each) if isinstance(each, str) else _tried(model, each, values)
        for each in formula.predicates
    )
    return Claim(replace(formula, predicates=functions), formula.premise, values)


def _tried(model: Model, function: Callable[..., Any], values: dict[str, Any]) -> Callable:
    """The same predicate. Raises SpecError if it fails on the first initial state."""
    for start in islice(initial(model), 1):
        with suppress(EvaluationError):  # the search meets it as well, and reports where
            holds(model, start.row, function, values)
    return function


def holds(model: Model, row: bytes, predicate: Callable[..., Any], values: dict[str, Any]) -> bool:
    """Is a predicate true of a state? It is called with those of s, c and these values that it
    names. Raises EvaluationError, and SpecError if it is neither true nor false."""
    scope = {"s": view(model.layout, row), "c": model.constants, **values}
    return truth(predicate, evaluated(predicate, *(scope[name] for name in names_used(predicate))))


def assumed_fairness(model: Model, fairness: str) -> list[Fairness]:
    """The fairness assumptions for one of the names in FAIRNESS. Raises LabError."""
    if fairness not in FAIRNESS:
        raise LabError(
            f"There is no fairness {quoted(fairness)}; use one of {', '.join(FAIRNESS)}."
        )
    if fairness == NEXT_ONLY:
        return [Fairness.of(NEXT, (), strong=False)]
    return list(model.spec.fairness) if fairness == DECLARED else []
