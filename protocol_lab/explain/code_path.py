"""The path of a step through its action's code, line by line."""

import ast
import textwrap
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import CapacityExceeded, LabError
from protocol_lab.explain.explanation import frame_of
from protocol_lab.explain.interpreter import CannotFollow, Run
from protocol_lab.model.evaluation import given
from protocol_lab.model.spec import Action, Model
from protocol_lab.reader.reading import Reading, reading

RAN, SKIPPED, RETURNED, PLAIN = "ran", "skipped", "returned", ""


@dataclass(frozen=True)
class CodeLine:
    """A line of the function, numbered as in its file or cell.

    `state` is "ran", "skipped", or "returned" where the call ended; "" for lines that are not
    statements of the function: decorators, signature, docstring, comments, blank lines and `else`.
    """

    number: int
    text: str
    state: str


@dataclass(frozen=True)
class CodePath:
    """All lines, and what was returned.

    `notice` is "", or a sentence that says why there are no lines, or no marks on them.
    """

    lines: tuple[CodeLine, ...] = ()
    reason: str = ""
    notice: str = ""


def code_path(model: Model, row: bytes, action: Action, args: dict[str, Any]) -> CodePath:
    """The path through this action's code, with these parameters, from this state (not changed)."""
    try:
        source = reading(action.function)
    except LabError as error:
        return CodePath(notice=str(error))
    try:
        run = Run(frame_of(action.function, model, bytearray(row), args))
        with given(*run.frame.values.values()):
            reason = _followed(run)
    except LabError as error:
        return CodePath(_marked(source, {}), notice=str(error))
    except CannotFollow:
        notice = f"The path through {action.name} can't be shown."
        return CodePath(_marked(source, {}), notice=notice)
    return CodePath(_marked(source, _states(source, run)), reason)


def _marked(source: Reading, states: dict[int, str]) -> tuple[CodeLine, ...]:
    """The function's lines, those that are not blank with their states."""
    texts = textwrap.dedent("".join(source.lines)).splitlines()
    return tuple(
        CodeLine(number, text, states.get(number, PLAIN) if text else PLAIN)
        for number, text in enumerate(texts, source.first_line)
    )


def _followed(run: Run) -> str:
    try:
        return str(run.follow().value)
    except CapacityExceeded as error:
        return str(error)


def _states(source: Reading, run: Run) -> dict[int, str]:
    """The state ("ran", ...) of every line that belongs to a statement, by line number."""
    ran = set(run.ran)
    states: dict[int, str] = {}
    for statement in source.parents:
        state = RAN if statement in ran else SKIPPED
        if statement is run.ran[-1]:
            state = RETURNED
        for number in range(statement.lineno, _last_line(statement) + 1):
            # Where an `if` and its return share a line, the return is shown if it happened.
            if states.get(number, SKIPPED) == SKIPPED or state == RETURNED:
                states[number] = state
    return states


def _last_line(statement: ast.stmt) -> int:
    """The last line of a simple statement, or of the head of a compound one."""
    match statement:
        case ast.If(test=head) | ast.While(test=head) | ast.For(iter=head):
            return head.end_lineno
    return statement.end_lineno
