"""Dry run: tries a spec on its first states in plain Python, before anything is compiled.

Compiled code can't say which field is misspelled, or that `return TAKEN` was forgotten. Some
mistakes it would not even notice: a guard after an effect leaves the effect in the successors that
follow.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.parameters import functions_of
from protocol_lab.model.spec import Model, Property, Spec
from protocol_lab.model.transitions import evaluate_step, fails, initial, needed_attempts
from protocol_lab.reader.common_mistakes import (
    refuse_common_mistakes,
    refuse_missing_prefixes,
    refuse_other_results,
)
from protocol_lab.reader.dependencies import reachable
from protocol_lab.reader.layouts_in_code import Layouts
from protocol_lab.reader.reading import readable
from protocol_lab.reader.unsupported_syntax import expect_language, refuse_ineffective
from protocol_lab.reader.value_flow import ValueFlow

TRIED, STARTS = 200, 50
"""How many states are tried, and at most how many of them are initial ones."""

ATTEMPTS = 10_000
"""After this many attempts no further state is tried: about a second, where actions have many
choices."""

_passed: set[tuple] = set()
"""The functions that were tried, with the constants and the layout of the model."""

_read: set[tuple] = set()
"""The functions whose code was read, with the layout, the class of the constants, and those which
have more room than they need: the values make no other difference to it."""


def dry_run(model: Model, properties: Iterable[Property] = ()) -> None:
    """Take every step from the first states and evaluate every property there, once for these
    functions.

    properties: what to evaluate besides the spec's expected situations and constraints. Raises
    LabError for a mistake in an action or property, temporal ones included, or if there is no
    initial state.
    """
    spec = model.spec
    predicates = [
        each
        for claim in spec.properties
        for each in claim.formula(dict.fromkeys(claim.domains, 0)).predicates
        if callable(each)
    ]
    judged = [*properties, *spec.expected, *spec.constraints]
    steps = [each for each in judged if each in spec.step_invariants]
    states = [each for each in judged if each not in steps]
    functions = tuple(each.function for each in [*spec.inits, *spec.actions, *judged])
    key = (spec.name, functions, tuple(model.constants), model.layout.shape)
    if key in _passed:
        return
    read_code(model, [*functions, *predicates, *_beside_actions(spec)])
    try:
        _walk(model, states, steps)
    except EvaluationError:
        return  # the search meets it as well, and reports it
    situations = [each.function for each in spec.expected]
    for function in readable(each for each in functions if each not in situations):
        refuse_other_results(function)
    _passed.add(key)


def _beside_actions(spec: Spec) -> Iterator[Callable]:
    """The functions that a search calls besides actions and properties."""
    yield from (each.function for each in spec.situations)
    if spec.erase is not None:
        yield spec.erase
    for action in [*spec.inits, *spec.actions]:
        if action.multiplicity is not None:
            yield action.multiplicity
        for domain in action.domains.values():
            yield from functions_of(domain).values()


def read_code(model: Model, functions: Sequence[Callable]) -> None:
    """Look for mistakes in the code of these functions and of all that they call. Raises LabError.

    Whatever the first states do not get to is found here, or not before the search.
    """
    constants, values = model.spec.constants, model.constants._asdict()
    room = model.spec.room_for(model.constants)
    roomy = frozenset(name for name, value in values.items() if room[name] > value)
    setting = (constants, repr(model.layout), roomy)
    known = Layouts(model.layout, constants, roomy)
    keys = {each: (each, each.__code__, *setting) for each in reachable([*functions])}
    unread = [each for each, key in keys.items() if key not in _read]
    for function in readable(unread):
        refuse_ineffective(function)
        refuse_missing_prefixes(function, known)
    flow = ValueFlow(known)
    for function in functions if unread else ():
        flow.follow_entry(function)
    for function in readable(unread):
        refuse_common_mistakes(function, flow.follow_entry(function))
    _read.update(keys[each] for each in readable(unread))
    beginning = [each.function for each in model.spec.inits]  # in all engines run by Python
    expect_language(each for each in functions if each not in beginning)


def _walk(model: Model, states: list[Property], steps: list[Property]) -> None:
    waiting = list(dict.fromkeys(each.row for each in islice(initial(model), STARTS)))
    if not waiting:
        raise LabError(
            f"{model.spec.name} has no initial state: every function with @spec.init refuses."
        )
    seen, attempted = set(waiting), 0
    for row in waiting:
        for each in states:
            fails(model, row, each)
    while waiting and len(seen) < TRIED and attempted < ATTEMPTS:
        row = waiting.pop(0)
        for found in needed_attempts(model, row):
            attempted += 1
            if found.error is not None:
                raise found.error
            if not found.taken:
                continue
            for each in steps:
                evaluate_step(model, row, found.row, each.function)
            if found.row in seen:
                continue
            seen.add(found.row)
            waiting.append(found.row)
            for each in states:
                fails(model, found.row, each)
