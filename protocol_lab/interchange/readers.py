"""Reads whatever a learner gives: one reader for files, notebooks, and what is pasted.

It tells the formats apart by their contents: a scenario, a link (also in our own
ITF), and the traces of other tools, as text (`tlc_output`) or in ITF, the Informal Trace Format of
Apalache (its ADR 15) and Quint. That is {"vars": [...], "states": [...], "loop": 3}, where big
numbers, sets, tuples and functions are objects such as {"#set": ...}.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from protocol_lab.errors import LabError, shortened
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.tlc_output import (
    Atom,
    Function,
    PrintedState,
    PrintedTrace,
    Sequence,
    SetOf,
    Value,
    is_tlc_output,
    parse_output,
)
from protocol_lab.interchange.tlc_traces import walk_along
from protocol_lab.model.spec import Model
from protocol_lab.traces.scenario_format import Scenario, is_link, linked_scenario, parse_scenario
from protocol_lab.traces.scenarios import play, text_of_file
from protocol_lab.traces.text_exports import to_itf
from protocol_lab.traces.walk import Walk

_FENCE = re.compile(r"\A\s*```\w*\n|\n```\Z")
"""Marks that chats put around code."""

_SCENARIO = "# spec:"


def read_pasted(
    text: str, model: Model | None = None, effort: Effort | None = None
) -> Walk | Scenario:
    """The walk that the text stands for, at its end; a scenario, or a challenge's link, is parsed
    but not yet played.

    `model` is the one being looked at: a spec that is in no package is taken from it, as in
    `play(scenario, model)`. Each kind of text has its own constants, except a trace of another
    tool, which is first tried with the model's. effort: bounds the search for the steps of such a
    trace. Raises LabError with one sentence.
    """
    return _read(text, model, False, effort)


def read_file(
    path: str | Path, model: Model | None = None, effort: Effort | None = None
) -> Walk | Scenario:
    """The same for a file; `model` is one of the spec that it must be about.

    Raises LabError, also if the file is about another spec.
    """
    text = text_of_file(path)
    try:
        found = _read(text, model, model is not None, effort, Path(path))
    except _NoTrace as error:
        raise LabError(f"{shortened(Path(path).name)}, line 1: {error}") from None
    if isinstance(found, Scenario):
        found = replace(found, name=shortened(Path(path).stem), file=Path(path))
    if model is not None:
        theirs = found.model(model) if isinstance(found, Scenario) else found.model
        if theirs.spec.name != model.spec.name:
            raise LabError(
                f"{shortened(path)} is about {theirs.spec.name}, not about {model.spec.name}."
            )
    return found


def names_no_steps(text: str) -> bool:
    """Is it a trace of states, whose steps have to be found? That may take a while."""
    try:
        return isinstance(_parsed(_unfenced(text).strip()), PrintedTrace)
    except LabError:
        return False


class _NoTrace(LabError):
    """The text is in none of the formats."""


def _read(
    text: str,
    model: Model | None,
    only: bool,
    effort: Effort | None,
    file: Path | None = None,
) -> Walk | Scenario:
    """file: the one with the text, beside which its spec may be."""
    lines = _unfenced(text)
    text = lines.strip()
    if text.startswith(_SCENARIO):
        return parse_scenario(lines, file.name if file else "your scenario")
    found = _parsed(text)
    if isinstance(found, PrintedTrace):
        return walk_along(found, model, only, effort)
    if found is not None:
        link = found if isinstance(found, str) else str(found["#meta"]["link"])
        scenario = replace(linked_scenario(link), file=file)
        if scenario.challenge:
            return scenario
        walk = play(scenario, model)
        if found != link and found != json.loads(to_itf(walk)):
            raise LabError(
                "The states of this JSON are not those to which its link leads: give the link alone"
                " (`link` in its `#meta`), or export the walk again."
            )
        return walk
    raise _NoTrace(
        "This can't be played: give a scenario (its first line is `# spec: NAME`), a link (lab1.…),"
        " all that TLC printed about an error, or a trace in ITF, as this kit, Apalache and Quint"
        " write it."
    )


def _parsed(text: str) -> PrintedTrace | dict[str, Any] | str | None:
    """The trace of another tool, one of this kit, or a text with a link; None for another text."""
    if text.startswith(_SCENARIO):
        return None
    if is_tlc_output(text):
        return parse_output(text)
    if text.startswith(("{", "[")):
        return trace_of(text)
    return text if is_link(text) else None


def _unfenced(text: str) -> str:
    """The text without a fence around it; what is in it keeps its lines' numbers."""
    return _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text.lstrip("\ufeff").rstrip())


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
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
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
