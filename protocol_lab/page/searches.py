"""Searches by WebAssembly, from any state: what they are called, and what they answer.

A module is compiled for a spec and a layout, not for constants: so the page compiles nothing, and
the constants, the first states and the invariants that count come with each question.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from protocol_lab.catalog import known_as
from protocol_lab.checker.disagreement import beyond_compiled, repeating
from protocol_lab.distance.distance_values import (
    EXACT,
    FROM_HERE,
    MORE,
    NEVER,
    Distance,
    Near,
    first_steps,
)
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import steps_between
from protocol_lab.model.transitions import evaluate, evaluate_step, is_inside, successors
from protocol_lab.reader.source_code import source_lines

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""ask(question): what `js/search.js` tells of a search, with the `seconds` that it took."""

_UNDECIDED = {
    "GOING_ON": "it was stopped",
    "FULL": "more of them do not fit into the page",
    "TOO_MANY": "a state has more steps than fit into the page",
}
"""Why a search is undecided, by the state in which it ended."""

_SECONDS_FROM_HERE, _SECONDS_AFTER_ALL_STEPS = 1.0, 2.0


def name_of(model: Model, challenge: str = "") -> str:
    """The name of the module that searches this model, or for the goal of a challenge."""
    spec = model.spec
    about = [known_as(spec), marks_of(model), repr(model.layout), repr(spec.constants._fields)]
    mark = hashlib.sha256("\n".join([*about, challenge]).encode()).hexdigest()[:10]
    return f"{re.sub(r'[^a-z0-9_]', '-', spec.name)}-{mark}"


def marks_of(model: Model) -> str:
    """The code of a spec's functions, which tells specs of one name apart when a cell has changed
    an action."""
    spec = model.spec
    parts = [*spec.actions, *spec.invariants, *spec.step_invariants, *spec.constraints]
    return "".join(line for each in parts for line in source_lines(each.function)[0])


def question(
    model: Model, invariants: Iterable[str], rows: list[bytes], seconds: float | None = None
) -> dict[str, Any]:
    """What a search from these rows needs: stops after `seconds`, None: when it is stopped."""
    return {
        "invariants": list(invariants),
        "constants": [int(value) for value in model.constants],
        "initial": [row.hex() for row in rows],
        "seconds": seconds,
    }


@dataclass(frozen=True)
class Answer:
    """The result of a search of all states from one, in a sentence, with its `verdict`.

    `steps` are the texts of those that lead to a violation or a fault, and `end` names it.
    """

    verdict: str
    text: str
    steps: list[str] = field(default_factory=list)
    end: str = ""


def answer_of(model: Model, names: list[str], told: dict[str, Any]) -> Answer:
    """The answer of a search for violations of these invariants.

    Plain Python confirms a violation, and says where a fault is.
    """
    _expect_module(told)
    seconds, distinct = told["seconds"], f"{told['distinct']:,} states"
    searched = f"{distinct} were searched in {seconds:.1f} s"
    if told["state"] == "COMPLETE":
        return Answer("holds", f"Holds: {searched}, and there are no more from here.")
    if told["state"] in _UNDECIDED:
        return Answer("undecided", f"Undecided: {searched}, then {_UNDECIDED[told['state']]}.")
    rows, broken = [bytes.fromhex(each) for each in told["path"]], told["violated"]
    if told["state"] == "fault" and not rows:
        return Answer("undecided", "Undecided: a property has no value in the first state.")
    if told["state"] == "fault":
        rows, broken, error = repeated(model, names, rows)
        steps = [each.text for each in steps_between(model, rows)]
        if error is not None:
            why = str(error).rstrip(".")
            text = f"Undecided: {searched}; {why}. That is after {_counted(steps)} from here."
            return Answer("undecided", text, steps, "what has no value")
    steps = [each.text for each in steps_between(model, rows)]
    if not broken or not is_broken(model, broken, rows):
        text = "Undecided: plain Python does not agree with the search; please report it."
        return Answer("undecided", text)
    text = f"Violated: {broken}, after {_counted(steps)} from here, by a shortest way; {searched}."
    return Answer("violated", text, steps, broken)


@repeating()
def repeated(
    model: Model, names: list[str], rows: list[bytes]
) -> tuple[list[bytes], str, EvaluationError | None]:
    """Expands the last state of a path, where a search met a fault, in plain Python.

    Returns the path and the error. If a step before the fault violates an invariant, the path
    includes that step, and the invariant's name comes instead of an error.
    """
    try:
        for each in successors(model, rows[-1]):
            for name in names:
                if is_broken(model, name, [rows[-1], each.row]):
                    return [*rows, each.row], name, None
            is_inside(model, each.row)
    except EvaluationError as error:
        return rows, "", error
    return rows, "", beyond_compiled()


def _counted(steps: list[str]) -> str:
    return f"{len(steps)} step{'' if len(steps) == 1 else 's'}"


def is_broken(model: Model, name: str, rows: list[bytes]) -> bool:
    """Is an invariant violated by the last of these rows, or by the step to it?"""
    states, steps = model.choose([name])
    if states:
        return bool(evaluate(model, rows[-1], states[0].function))
    return len(rows) > 1 and bool(evaluate_step(model, *rows[-2:], steps[0].function))


async def distances(
    ask: Ask, model: Model, row: bytes, names: list[str], stopped: Callable[[], bool]
) -> Near | None:
    """The distances from a state, and after each possible step in their order; None if stopped.

    First all states from here are searched, for a second at most. If that does not settle it, so
    are those after each step, in an equal share of two seconds.
    """
    first = first_steps(model, row, names)
    told = await ask(question(model, names, [row], _SECONDS_FROM_HERE))
    ahead, states, seconds = _distance(told), told["distinct"], told["seconds"]
    after: list[Distance] = []
    for each in first.unknown:
        if stopped():
            return None
        if ahead.kind == NEVER and not first.is_outside:
            after.append(ahead)
            continue
        most = _SECONDS_AFTER_ALL_STEPS / len(first.rows)
        told = await ask(question(model, names, [each], most))
        after.append(_distance(told))
        states, seconds = states + told["distinct"], seconds + told["seconds"]
    answer = first.answer(after, FROM_HERE, states, seconds)
    return replace(answer, here=ahead) if ahead.kind == EXACT else answer


def expect_inside(model: Model, row: bytes) -> None:
    """Raise LabError if a constraint excludes this state, so that a search would see nothing."""
    for each in model.spec.constraints:
        reason = evaluate(model, row, each.function)
        if reason:
            raise LabError(
                f"Undecided: {reason}, and no search looks further than that. Go back a few steps,"
                " and search from there."
            )


def _expect_module(told: dict[str, Any]) -> None:
    if told["state"] == "missing":
        raise LabError("This page has no search for this configuration: the kit searches it.")


def _distance(told: dict[str, Any]) -> Distance:
    _expect_module(told)
    if told["state"] == "COMPLETE":
        return Distance(NEVER)
    if told["state"] == "VIOLATED":
        return Distance(EXACT, len(told["path"]) - 1)
    return Distance(MORE, max(0, told["depth"] - 1))
