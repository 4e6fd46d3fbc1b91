"""Parses traces in ITF, the Informal Trace Format of Apalache (its ADR 15) and Quint.

It is {"vars": [...], "states": [...], "loop": 3}, where big numbers, sets, tuples and functions are
objects such as {"#set": ...}.
"""

import json
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.interchange.tlc_output import (
    Atom,
    Function,
    PrintedState,
    PrintedTrace,
    Sequence,
    SetOf,
    Value,
)

_SHAPES = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,  # an infinite number
    RecursionError,  # nested too deep
    TypeError,
    ValueError,
)
"""What a value of another shape raises."""


def trace_of(text: str) -> PrintedTrace | dict[str, Any] | None:
    """The trace in a JSON in ITF; one of this kit, which has a link, as it is; None for another.

    Raises LabError for one that is damaged.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise LabError(f"The JSON breaks off or is damaged at line {error.lineno}.") from None
    except (RecursionError, ValueError):
        raise LabError(
            "The JSON is nested too deep, or has a number that is too long, to be a walk: export it"
            " again."
        ) from None
    if not (isinstance(found, dict) and "states" in found and "vars" in found):
        return None
    try:
        if (found.get("#meta") or {}).get("link"):
            return found
        trace = _trace_of_itf(found)
    except _SHAPES:
        raise LabError(
            "This JSON is not the trace that it seems to be: let Apalache or Quint write it again."
        ) from None
    if not (trace.states and all(each.variables for each in trace.states)):
        raise LabError("This trace has no states, or some without variables: export it again.")
    return trace


def _trace_of_itf(found: dict[str, Any]) -> PrintedTrace:
    meta = found.get("#meta") or {}
    names = {name: name.rpartition("::")[2] for name in found["vars"] if "mbt::" not in name}
    states = []
    for number, state in enumerate(found["states"], 1):
        variables = {short: value_of_itf(state[name]) for name, short in names.items()}
        states.append(PrintedState(number, _action_of(state) if number > 1 else "", variables))
    loop_to, closing = found.get("loop"), ""
    if loop_to is not None:
        loop_to = int(loop_to) + 1
        *others, last = states
        if loop_to < len(states) and last.variables == states[loop_to - 1].variables:
            states, closing = others, last.action
    source = PurePath(str(meta.get("source", "")))
    return PrintedTrace(
        states,
        [source.stem] if source.suffix == ".tla" else [],
        loop_to=loop_to,
        closing=closing,
        tool=_tool_of(meta),
    )


def _tool_of(meta: dict[str, Any]) -> str:
    told = f"{meta.get('description', '')} {meta.get('source', '')}".lower()
    return next((name for name in ("Apalache", "Quint") if name.lower() in told), "the trace")


def _action_of(state: dict[str, Any]) -> str:
    """The action that led to a state, where the tool says it: Quint does in a variable."""
    own = (state.get("#meta") or {}).get("step", "")
    return str(own or state.get("mbt::actionTaken", "")).partition("(")[0]


def value_of_itf(value: Any) -> Value:
    """The value that a JSON in ITF stands for. Raises TypeError or ValueError if it is none."""
    match value:
        case bool() | int():
            return value
        case str():  # a value of an uninterpreted type is called 1_OF_NODE
            return Atom(re.sub(r"_OF_[A-Z_\d]+$", "", value))
        case list():
            return Sequence(_values(value))
        case {"#bigint": text}:
            return int(text)
        case {"#set": items}:
            return SetOf(_values(items))
        case {"#tup": items}:
            return Sequence(_values(items))
        case {"#map": pairs}:
            return Function(tuple((value_of_itf(key), value_of_itf(each)) for key, each in pairs))
        case {"#unserializable": text}:
            raise ValueError(f"{text} has no value")
        case {"tag": str(tag), "value": inner} if len(value) == 2:
            return _variant(tag, value_of_itf(inner))
        case dict():
            return Function(tuple((Atom(key), value_of_itf(each)) for key, each in value.items()))
    raise TypeError(f"{value!r} is no value in ITF")


def _variant(tag: str, inner: Value) -> Value:
    """One of several kinds: a name, or a record with a further field `kind`."""
    match inner:
        case Function(pairs) if pairs and all(isinstance(key, Atom) for key, _ in pairs):
            return Function(((Atom("kind"), Atom(tag)), *pairs))
        case Function(()) | Sequence(()) | Atom():
            return Atom(tag)
    return inner


def _values(items: Iterable[Any]) -> tuple[Value, ...]:
    return tuple(map(value_of_itf, items))
