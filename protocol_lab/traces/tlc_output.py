"""Parses TLC's error traces into states and values, without knowledge of any spec.

    Error: Invariant StrongIsr is violated.
    Error: The behavior up to this point is:
    State 1: <Initial predicate>
    /\\ nextLeaderEpoch = 0
    /\\ requests = {[leader |-> b1, isr |-> {b1, b2}]}
    ...

It reads the output of the command line, also with -difftrace (a variable that is not printed has
kept its value) and -tool, and the Toolbox's export of an error trace, with tabs before the
variables. Text around the trace, and quotation marks before every line, are skipped.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from protocol_lab.errors import LabError


@dataclass(frozen=True)
class Atom:
    """A model value or a string: specs use both to name nodes."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Function:
    """A function as pairs of argument and value; a record is one whose arguments are strings."""

    pairs: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True)
class Sequence:
    """A sequence or tuple, which is also a function of 1..n."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class SetOf:
    """A set, in the order in which TLC prints it."""

    items: tuple[Any, ...]


Value = int | bool | Atom | Function | Sequence | SetOf


@dataclass(frozen=True)
class PrintedState:
    """A state with the action that led to it, "" for the first; all variables by TLC's names."""

    number: int
    action: str
    variables: dict[str, Value] = field(hash=False)


@dataclass(frozen=True)
class PrintedTrace:
    """A counterexample. `modules` are all modules that the output names, the root module last.

    `complaint` is TLC's sentence about it; `goes_on` says what comes after the last state, if
    anything: stuttering, or the return to an earlier state.
    """

    states: list[PrintedState]
    modules: list[str]
    complaint: str = ""
    goes_on: str = ""


_STATE = re.compile(r"^(?:State )?(?P<number>\d+): <(?P<what>.*)> *$", re.MULTILINE)
_TABBED = re.compile(r"^(?P<number>\d+)\. (?P<what>(?:\w+:)?\w.*)\n(?=\w+\t)", re.MULTILINE)
_AT_ONCE = re.compile(r"^.*violated by the initial state:? *$", re.MULTILINE)
_QUOTED = re.compile(
    r"^(?P<mark>[^\w\n@<]+)(?:Error: |State \d+: <|\d+: <|\d+\. Initial predicate)", re.MULTILINE
)
_COMPLAINT = re.compile(
    r"(?:Invariant|Action property) \w+ is violated|Temporal properties were violated"
    r"|Deadlock reached"
)
_GOES_ON = re.compile(r"Back to state:? (\d+)|^(?:State )?\d+: (Stuttering)", re.MULTILINE)
_MODULE = re.compile(r"(?:of module|Semantic processing of module) (\w+)|^\d+\. (\w+):", re.M)
_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:\\.|[^"\\])*")|(?P<name>\w*[A-Za-z_]\w*)|(?P<number>-?\d+)'
    r"|(?P<sign><<|>>|\|->|:>|@@|\.\.|/\\|[\[\](){},=]))"
)


def is_tlc_output(text: str) -> bool:
    """Does the text look like an error trace of TLC?"""
    text = _without_marks(text)
    return any(pattern.search(text) for pattern in (_STATE, _TABBED, _AT_ONCE))


def parse_output(text: str) -> PrintedTrace:
    """The first counterexample in the text. Raises LabError saying where it is cut or damaged."""
    text = _without_marks(text)
    complaint = _COMPLAINT.search(text)
    goes_on = _GOES_ON.search(text)
    return PrintedTrace(
        _states(text),
        list(dict.fromkeys(filter(None, _every_group(_MODULE, text)))),
        complaint.group() if complaint else "",
        (goes_on.group(2) or f"back to state {goes_on.group(1)}").lower() if goes_on else "",
    )


def _without_marks(text: str) -> str:
    """The text without the marks that a mail or chat puts before every line, such as "> "."""
    text = text.replace("\r\n", "\n")
    quoted = _QUOTED.search(text)
    if quoted is None:
        return text
    mark = quoted.group("mark")
    lines = (line.removeprefix(mark) for line in text.split("\n"))
    return "\n".join("" if line == mark.rstrip() else line for line in lines)


def _every_group(pattern: re.Pattern, text: str) -> list[str | None]:
    return [group for found in pattern.finditer(text) for group in found.groups()]


def _states(text: str) -> list[PrintedState]:
    heads = list(_STATE.finditer(text)) or list(_TABBED.finditer(text))
    if not heads:
        at_once = _AT_ONCE.search(text)
        if at_once is None:
            raise LabError(
                "There is no error trace of TLC in this text; copy everything from `Error:` to the"
                " end."
            )
        return [PrintedState(1, "", _variables(text, at_once.end(), 1))]
    states: list[PrintedState] = []
    for head in heads:
        number = int(head.group("number"))
        if number == 1 and states:
            break  # with -continue TLC prints one trace after the other
        if number != len(states) + 1:
            raise LabError(
                f"State {len(states) + 1} of the trace is missing: copy TLC's output from state 1"
                " to the end."
            )
        states.append(
            PrintedState(number, _action(head["what"]), _variables(text, head.end(), number))
        )
    _check_ending(states)
    for before, after in pairwise(states):
        after.variables.update({**before.variables, **after.variables})
    return states


def _action(what: str) -> str:
    """The action's name in `LeaderWrite(b1) line 5, col 3 to ...` or `Module:LeaderWrite`."""
    name = re.match(r"(?:\w+:)?(\w+)", what)
    return "" if what.startswith("Initial predicate") or name is None else name.group(1)


def _check_ending(states: list[PrintedState]) -> None:
    """Raise LabError if the text was cut between two variables of the last state."""
    full = len(states[0].variables)
    *middle, last = states
    in_full = len(middle) > 1 and all(len(each.variables) == full for each in middle)
    if in_full and len(last.variables) < full:
        raise LabError(
            f"State {last.number} of the trace breaks off: some variables are missing; copy TLC's"
            " output to the end."
        )


def _variables(text: str, at: int, number: int) -> dict[str, Value]:
    reader = _Reader(text, at, number)
    found: dict[str, Value] = {}
    if re.compile(r"\n?\w+\t").match(text, at):
        while line := re.compile(r"\n?(\w+)\t(?=.)").match(text, reader.at):
            reader.at = line.end()
            found[line.group(1)] = reader.value(line.group(1))
        return found
    many = reader.take("/\\")
    while many or not found:
        kind, name = reader.next()
        if kind != "name" or not reader.take("="):
            raise LabError(f"State {number} of the trace breaks off: {reader.where()}.")
        found[name] = reader.value(name)
        if not reader.take("/\\"):
            break
    return found


class _Reader:
    """Reads TLA+ values from a position in a text."""

    def __init__(self, text: str, at: int, state: int):
        self.text, self.at, self.state, self.variable = text, at, state, ""

    def value(self, variable: str) -> Value:
        """The value of a variable."""
        self.variable = variable
        return self._value()

    def where(self) -> str:
        """The position, as part of a sentence."""
        line = self.text.count("\n", 0, self.at) + 1
        inside = f" in the value of {self.variable}" if self.variable else ""
        return f"line {line} of the text{inside} can't be read; copy all that TLC printed"

    def next(self) -> tuple[str, str]:
        """The next token, as kind and text."""
        token = _TOKEN.match(self.text, self.at)
        if token is None:
            return "end", ""
        self.at = token.end()
        return token.lastgroup, token.group(token.lastgroup)

    def take(self, sign: str) -> bool:
        """Skip this token, if it comes next."""
        token = _TOKEN.match(self.text, self.at)
        if token is None or token.group("sign") != sign:
            return False
        self.at = token.end()
        return True

    def _value(self) -> Value:
        kind, text = self.next()
        match kind, text:
            case "number", _:
                if not self.take(".."):
                    return int(text)
                last = self._value()
                if not isinstance(last, int):
                    raise self._damaged()
                return SetOf(tuple(range(int(text), last + 1)))
            case "name", "TRUE" | "FALSE":
                return text == "TRUE"
            case "name", _:
                return Atom(text)
            case "string", _:
                return Atom(re.sub(r"\\(.)", r"\1", text[1:-1]))
            case "sign", "<<":
                return Sequence(self._items(">>"))
            case "sign", "{":
                return SetOf(self._items("}"))
            case "sign", "[":
                return Function(self._pairs("|->", ",", "]"))
            case "sign", "(":
                return Function(self._pairs(":>", "@@", ")"))
        raise self._damaged()

    def _items(self, end: str) -> tuple[Value, ...]:
        items: list[Value] = []
        if self.take(end):
            return ()
        while True:
            items.append(self._value())
            if self.take(end):
                return tuple(items)
            self._need(",")

    def _pairs(self, arrow: str, between: str, end: str) -> tuple[tuple[Value, Value], ...]:
        pairs = []
        while True:
            argument = self._value()
            self._need(arrow)
            pairs.append((argument, self._value()))
            if self.take(end):
                return tuple(pairs)
            self._need(between)

    def _need(self, sign: str) -> None:
        if not self.take(sign):
            raise self._damaged()

    def _damaged(self) -> LabError:
        return LabError(f"State {self.state} of the trace is cut or damaged: {self.where()}.")
