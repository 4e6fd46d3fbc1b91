"""Traces in every format, damaged in every way: each gets one sentence, soon, and no trace is read
as another one."""

import copy
import gzip
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import cycle
from typing import Any

import pytest

from protocol_lab.cli import main
from protocol_lab.errors import LabError
from protocol_lab.interchange.readers import read_file, read_pasted
from protocol_lab.interchange.tlc_output import (
    Atom,
    Function,
    PrintedTrace,
    Sequence,
    SetOf,
    Value,
    parse_output,
)
from protocol_lab.interchange.tlc_traces import read_tlc_trace
from protocol_lab.spec.spec import Model
from protocol_lab.traces.itf import to_itf
from protocol_lab.traces.links import link_text
from protocol_lab.traces.scenarios import Scenario, play, scenario_text
from protocol_lab.traces.text_exports import to_json
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.interchange.other_tools import as_dump, as_itf_trace, as_module, as_text, marked
from tests.seldom import one_in

pytestmark = pytest.mark.slow  # reads some thousand damaged files

TRACES = ROOT / "tests" / "tlc_traces"
NAMES = [
    "id_sequence_used_up",  # a number
    "compaction_duplicate",  # sequences of records
    "async_isr_isr_grows",  # sets, and records in sets
    "finite_replicated_log_diverge",  # a function from 0 on
    "quorum_coverage_recovery_reads_negative",  # several initial states
]
SECONDS = 20
"""Of computing time, for one trace: a hundred times what each takes."""

FORMATS: dict[str, Callable[[PrintedTrace], str]] = {
    "TLC": as_text,
    "TLC in colours": lambda trace: marked(as_text(trace), "colours"),
    "TLC with time stamps": lambda trace: marked(as_text(trace), "time stamps"),
    "TLC in a container": lambda trace: marked(as_text(trace), "both"),
    "TLC's JSON": lambda trace: json.dumps(as_dump(trace)),
    "TLC's module": lambda trace: as_module(trace, trace.modules[-1]),
    "ITF": lambda trace: json.dumps(as_itf_trace(trace)),
}

OWN: dict[str, Callable[[Walk], str]] = {
    "a scenario": scenario_text,
    "a link": link_text,
    "JSON": to_json,
    "our ITF": to_itf,
}


@cache
def trace_of(name: str) -> PrintedTrace:
    return parse_output((TRACES / f"{name}.txt").read_text(encoding="utf-8"))


@cache
def walk_of(name: str) -> Walk:
    """The walk, at its end; no test takes a step of it."""
    return read_tlc_trace((TRACES / f"{name}.txt").read_text(encoding="utf-8"))


def rows(walk: Walk) -> list[bytes]:
    return [each.row for each in walk.path]


def read(text: str, model: Model) -> Walk:
    """The walk that is pasted into the stepper of this model."""
    found = read_pasted(text, model)
    return play(found, model) if isinstance(found, Scenario) else found


def outcome(reading: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """The sentence with which something is refused, "" if it is not; and what was read, or None.

    Either comes soon, and the sentence is one.
    """
    began = time.thread_time()
    told, found = "", None
    try:
        found = reading(*arguments)
    except LabError as error:
        told = str(error)
        assert 0 < len(told) < 800
        assert "\n" not in told
    assert time.thread_time() - began < SECONDS
    return told, found


def refusal(reading: Callable[..., Any], *arguments: Any) -> str:
    """The sentence with which this is refused, soon; "" if it is not."""
    return outcome(reading, *arguments)[0]


def expect_part(walk: Walk, text: str) -> None:
    """The text is refused, or read as this walk, or the beginning of it."""
    told, found = outcome(read, text, walk.model)
    assert told or rows(found) == rows(walk)[: len(found.path)], text


# --- What is whole -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_what_is_whole_is_the_same_walk_in_every_format(name):
    walk = walk_of(name)
    texts = [write(trace_of(name)) for write in FORMATS.values()]
    texts += [write(walk) for write in OWN.values()]
    for text in texts:
        assert rows(read(text, walk.model)) == rows(walk)


# --- Traces that are none of the spec ------------------------------------------------------------


def changed(trace: PrintedTrace, change: Callable[[dict], dict]) -> PrintedTrace:
    """The trace with the variables of each state changed."""
    states = [replace(each, variables=change(each.variables)) for each in trace.states]
    return replace(trace, states=states)


def without_variable(trace: PrintedTrace) -> PrintedTrace:
    first = next(iter(trace.states[0].variables))
    return changed(trace, lambda state: {k: v for k, v in state.items() if k != first})


def foreign_variable(trace: PrintedTrace) -> PrintedTrace:
    first = next(iter(trace.states[0].variables))
    return changed(
        trace, lambda state: {"foreign" if k == first else k: v for k, v in state.items()}
    )


def unknown_action(trace: PrintedTrace) -> PrintedTrace:
    *others, last = trace.states
    return replace(trace, states=[*others, replace(last, action="Unheard")])


def missing_number(trace: PrintedTrace) -> PrintedTrace:
    first, _, *others = trace.states
    return replace(trace, states=[first, *others])


def missing_state(trace: PrintedTrace) -> PrintedTrace:
    """Without the second state, as if it had never been there."""
    states = missing_number(trace).states
    return replace(trace, states=[replace(each, number=k) for k, each in enumerate(states, 1)])


def another_end(trace: PrintedTrace) -> PrintedTrace:
    """The last state is the first one once more."""
    *others, last = trace.states
    return replace(
        trace, states=[*others, replace(last, variables=dict(trace.states[0].variables))]
    )


NOT_SAID = {unknown_action: ["TLC's module", "ITF"], missing_number: ["TLC's module", "ITF"]}
"""Formats that have neither the names of actions nor the numbers of states."""

DAMAGES = [
    without_variable,
    foreign_variable,
    unknown_action,
    missing_number,
    missing_state,
    another_end,
]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_a_trace_with_something_missing_or_foreign_is_refused(name, damage):
    walk, trace = walk_of(name), damage(trace_of(name))
    for form, write in FORMATS.items():
        if form not in NOT_SAID.get(damage, ()):
            assert refusal(read, write(trace), walk.model), form


@pytest.mark.parametrize("form", [*FORMATS, *OWN])
def test_a_trace_of_another_spec_is_refused(form, tmp_path):
    path = tmp_path / "trace"
    for name in NAMES:
        text = FORMATS[form](trace_of(name)) if form in FORMATS else OWN[form](walk_of(name))
        path.write_text(text, encoding="utf-8")
        for other in NAMES:
            told = refusal(read_file, path, walk_of(other).model)
            assert bool(told) == (name != other), told


def others(value: Value) -> Iterator[Value]:
    """Other values of the same kind, one of them huge."""
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
            yield 10**30
        case Atom("Nil"):
            return  # any name that is not known stands for nothing as well
        case Atom():
            yield Atom("unheard")
        case Sequence(items):
            yield Sequence((*items, *items[:1], 10**30))
        case SetOf(items):
            yield SetOf((*items, 10**30))
        case Function(((key, each), *more)):
            for other in others(each):
                yield Function(((key, other), *more))
            if not isinstance(key, Atom):
                yield Function((*value.pairs, (10**30, each)))


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_a_changed_value_is_noticed(name):
    walk, trace = walk_of(name), trace_of(name)
    *before, last = trace.states
    forms = cycle(("TLC", "TLC's JSON", "ITF"))
    for variable, value in last.variables.items():
        for other in [*others(value), Sequence((Sequence((value,)),))]:
            state = replace(last, variables={**last.variables, variable: other})
            text = FORMATS[next(forms)](replace(trace, states=[*before, state]))
            assert "State" in refusal(read, text, walk.model), (variable, other)


# --- Files that are cut, or no texts -------------------------------------------------------------


@pytest.mark.parametrize("form", [*FORMATS, *OWN])
def test_a_cut_trace_is_a_shorter_one_or_refused(form):
    """At any place: what is left is never read as other states."""
    for name in NAMES[:3]:
        walk = walk_of(name)
        text = FORMATS[form](trace_of(name)) if form in FORMATS else OWN[form](walk)
        for at in range(0, len(text), len(text) // 12):
            expect_part(walk, text[:at])


def damaged_bytes(text: str) -> dict[str, bytes]:
    """Files that are no texts, and what else goes wrong with one."""
    return {
        "empty": b"",
        "blank": b" \n\n\t\n",
        "zeros": b"\0" * 4096,
        "noise": random.Random(1).randbytes(4096),
        "a picture": b"\x89PNG\r\n\x1a\n" + text.encode(),
        "compressed": gzip.compress(text.encode()),
        "UTF-16 without a mark": text.encode("utf-16-le"),
        "UTF-16, cut": text.encode("utf-16")[:-1],
        "UTF-32": text.encode("utf-32"),
        "Latin-1": ("é" + text).encode("latin-1"),
        "half of a character": text.encode() + "é".encode()[:1],
        "too long": text.encode() + b"\n" * 5_000_000,
    }


@pytest.mark.parametrize("form", ["TLC", "ITF"])
def test_a_file_that_is_no_text_is_told_in_one_sentence(form, tmp_path, capsys):
    name = NAMES[0]
    text = FORMATS[form](trace_of(name)) if form in FORMATS else OWN[form](walk_of(name))
    path = tmp_path / "trace.txt"
    for kind, data in damaged_bytes(text).items():
        path.write_bytes(data)
        told = refusal(read_file, path, walk_of(name).model)
        assert told, kind
        assert main(["replay", str(path), "--spec", "kafka.id_sequence"]) == 3
        assert capsys.readouterr().err.strip() == told


# --- Values that no tool writes ------------------------------------------------------------------

JUNK: list[Any] = [
    None,
    True,
    -1,
    10**30,
    float("inf"),
    0.5,
    "",
    "a\nb\x1b[31m\ud800",
    [],
    [[]],
    {},
]


def places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """The ways to all parts of a JSON, the whole first."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(whole: Any, path: tuple, part: Any) -> Any:
    """The JSON with another part at this place."""
    if not path:
        return part
    whole = copy.deepcopy(whole)
    inside = whole
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = part
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("form", ["TLC's JSON", "ITF", "our ITF"])
def test_junk_at_any_place_of_a_json_is_told_in_one_sentence(form):
    """Each place gets one kind of junk, and each kind is put in many places."""
    name = NAMES[0]
    walk = walk_of(name)
    text = FORMATS[form](trace_of(name)) if form in FORMATS else OWN[form](walk)
    whole = json.loads(text)
    for k, path in enumerate(places(whole)):
        expect_part(walk, json.dumps(put(whole, path, JUNK[k % len(JUNK)])))


HEAD = "State 1: <Initial predicate>\n/\\ nextId = "
HOSTILE = {
    "nested arguments": HEAD + "(" * 40 + "a" + " :> 1)" * 40,
    "nested sequences": HEAD + "<<" * 400 + ">>" * 400,
    "nested JSON": f'[{{"nextId": {"[" * 900}1{"]" * 900}}}]',
    "nested ITF": f'{{"vars": ["nextId"], "states": [{{"nextId": {"[" * 900}1{"]" * 900}}}]}}',
    "a nested scenario": "# spec: kafka.id_sequence\nnext_id(id=" + "(" * 3000,
    "a long number": HEAD + "1" * 4000,
    "a longer number": HEAD + "1" * 5000,
    "a state's long number": f"State {'9' * 5000}: <Initial predicate>\nnextId = 1",
    "a loop's long number": f"{HEAD}0\n\nBack to state {'9' * 5000}",
    "a loop's infinite number": '{"vars": ["nextId"], "states": [{"nextId": 0}], "loop": 1e999}',
    "an infinite state": '{"state": [[1e999, {"nextId": 0}]], "action": []}',
    "a state twice": '{"state": [[1, {"nextId": 0}], [1, {"nextId": 0}]], "action": []}',
    "a step that skips": f"{HEAD}0\n\nState 2: <NextId line 1>\n/\\ nextId = 987654321\n",
    "a constant's long number": f"# spec: kafka.id_sequence max_id={'9' * 5000}\nnext_id(id=0)",
    "a name of many lines": json.dumps([{"a\nb": 0, "x" * 5000: 0}]),
    "an action of many lines": json.dumps(
        {"vars": ["nextId"], "states": [{"nextId": 0}, {"#meta": {"step": "a\nb"}, "nextId": 1}]}
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_no_tool_writes_is_told_in_one_sentence(kind):
    assert refusal(read, HOSTILE[kind], walk_of(NAMES[0]).model)
