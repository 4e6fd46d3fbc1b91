"""Parses TLC's error traces into states and values, without knowledge of any spec.

    Error: Invariant StrongIsr is violated.
    Error: The behavior up to this point is:
    State 1: <Initial predicate>
    /\\ nextLeaderEpoch = 0
    /\\ requests = {[leader |-> b1, isr |-> {b1, b2}]}
    ...

It reads the output of the command line, also with -tool. Text around the trace is skipped.
"""

import re
from dataclasses import dataclass, field, replace
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

    `complaint` is the tool's sentence about it. An endless run repeats the states from `loop_to` to
    the last one: `closing` is the action that leads from there back to `loop_to`. If that is the
    last state itself, nothing happens any more.
    """

    states: list[PrintedState]
    modules: list[str]
    complaint: str = ""
    loop_to: int | None = None
    closing: str = ""
    tool: str = "TLC"

    def __post_init__(self) -> None:
        if self.loop_to is not None and not 1 <= self.loop_to <= len(self.states):
            has = f"{len(self.states)} state{'s' * (len(self.states) != 1)}"
            raise LabError(f"The trace goes back to state {self.loop_to}, but it has {has}.")

    @property
    def closing_state(self) -> PrintedState | None:
        """The state after the last one of a loop: the one that the loop begins at, once more."""
        if self.loop_to is None or self.loop_to == len(self.states):
            return None
        number = len(self.states) + 1
        return replace(self.states[self.loop_to - 1], number=number, action=self.closing)


_STATE = re.compile(r"^(?:State )?(?P<number>\d{1,9}): <(?P<what>.*)> *$", re.MULTILINE)
_AT_ONCE = re.compile(r"^.*violated by the initial state:? *$", re.MULTILINE)
_COMPLAINT = re.compile(
    r"(?:Invariant|Action property) \w+ is violated|Temporal properties were violated"
    r"|Deadlock reached"
)
_BACK = re.compile(
    r"^(?:(?P<tool>\d{1,9}): )?Back to state:?(?: (?P<number>\d{1,9}))?:?(?: <(?P<what>.*)>)? *$"
    r"|^(?:State )?\d+: (?P<stays>Stuttering)",
    re.MULTILINE,
)
_MODULE = re.compile(r"(?:of module|Semantic processing of module) (\w+)")
_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:\\.|[^"\\])*")|(?P<name>\w*[A-Za-z_]\w*)|(?P<number>-?\d+)'
    r"|(?P<sign><<|>>|\|->|:>|@@|\.\.|/\\|[\[\](){},=]))"
)

_MOST_NUMBERS = 100_000
"""No set of a trace is an interval of more numbers."""


def is_tlc_output(text: str) -> bool:
    """Does the text look like an error trace of TLC?"""
    return bool(_STATE.search(text) or _AT_ONCE.search(text))


def parse_output(text: str) -> PrintedTrace:
    """The first counterexample in the text. Raises LabError saying where it is cut or damaged."""
    complaint = _COMPLAINT.search(text)
    states, end = _states(text)
    loop_to, closing = _loop(text[:end], len(states))
    return PrintedTrace(
        states,
        list(dict.fromkeys(_MODULE.findall(text))),
        complaint.group() if complaint else "",
        loop_to,
        closing,
    )


def _loop(text: str, count: int) -> tuple[int | None, str]:
    """Which state the run goes back to, and by which action; (None, "") if it does not go on."""
    found = _BACK.search(text)
    if found is None:
        return None, ""
    back = found["tool"] or found["number"]
    return int(back) if back else count, _action(found["what"] or "")


def _states(text: str) -> tuple[list[PrintedState], int]:
    """The states of the first trace, and where the text about it ends."""
    heads = list(_STATE.finditer(text))
    if not heads:
        at_once = _AT_ONCE.search(text)
        if at_once is None:
            raise LabError(
                "There is no error trace of TLC in this text; copy everything from `Error:` to the"
                " end."
            )
        return [PrintedState(1, "", _variables(text, at_once.end(), 1))], len(text)
    states: list[PrintedState] = []
    end = len(text)
    for head in heads:
        number = int(head["number"])
        if number == 1 and states:
            end = head.start()
            break  # with -continue TLC prints one trace after the other
        if number != len(states) + 1:
            raise LabError(
                f"State {len(states) + 1} of the trace is missing: copy TLC's output from state 1"
                " to the end."
            )
        states.append(
            PrintedState(number, _action(head["what"]), _variables(text, head.end(), number))
        )
    return states, end


def _action(what: str) -> str:
    """The action's name in `LeaderWrite(b1) line 5, col 3 to ...` or `Module:LeaderWrite`."""
    name = re.match(r"(?:\w+:)?(\w+)", what)
    return "" if what.startswith("Initial predicate") or name is None else name.group(1)


def _variables(text: str, at: int, number: int) -> dict[str, Value]:
    reader = _Reader(text, at, number)
    found: dict[str, Value] = {}
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
        try:
            return self._value()
        except (RecursionError, ValueError):  # nested too deep, or a number that is too long
            raise self._damaged() from None

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
                if not isinstance(last, int) or last - int(text) > _MOST_NUMBERS:
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
                return self._in_parentheses()
        raise self._damaged()

    def _in_parentheses(self) -> Value:
        """A function as arguments and values; or any other value."""
        first = self._value()
        return first if self.take(")") else Function(self._pairs(":>", "@@", ")", first))

    def _items(self, end: str) -> tuple[Value, ...]:
        items: list[Value] = []
        if self.take(end):
            return ()
        while True:
            items.append(self._value())
            if self.take(end):
                return tuple(items)
            self._need(",")

    def _pairs(
        self, arrow: str, between: str, end: str, first: Value | None = None
    ) -> tuple[tuple[Value, Value], ...]:
        """Arguments and values; the first argument may have been read already."""
        pairs = []
        argument = self._value() if first is None else first
        while True:
            self._need(arrow)
            pairs.append((argument, self._value()))
            if self.take(end):
                return tuple(pairs)
            self._need(between)
            argument = self._value()

    def _need(self, sign: str) -> None:
        if not self.take(sign):
            raise self._damaged()

    def _damaged(self) -> LabError:
        return LabError(f"State {self.state} of the trace is cut or damaged: {self.where()}.")
