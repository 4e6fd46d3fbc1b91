"""Exports of a walk as text; those as pictures are in `drawing.pictures`.

The formats: scenarios, links, ITF and Mermaid.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from protocol_lab import catalog
from protocol_lab.errors import visible
from protocol_lab.model.constants import show
from protocol_lab.model.layout import Array, Bag, NodeSet, Per, Seq, size_with
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import Step
from protocol_lab.traces.events import (
    AT_ONCE,
    DELIVERED,
    EVERYBODY,
    LOST,
    SENT,
    Event,
    Note,
    lifelines,
    walk_events,
)
from protocol_lab.traces.scenario_format import link_text, scenario_text
from protocol_lab.traces.walk import Walk

# --- Itf ------------------------------------------------------------------------------------------
#
# A walk in ITF, the Informal Trace Format of Apalache (its ADR 15) and Quint.
#
#     {"#meta": {...}, "vars": ["n"], "states": [{"#meta": {...}, "n": {"#bigint": "0"}}, ...]}
#
# A node is its number, 0 for none; a field by node is a function, a bag a list. The metadata have
# the walk's link, by which it is read again. Where the run is endless, its last state is the one
# that the loop begins at, once more, and `loop` is that one's index.


def to_itf(walk: Walk) -> str:
    """The states up to here, as the text of a file."""
    moments = walk.moment.path()
    model = walk.model
    states = [
        _in_itf(model.spec.state, plain(view(model.layout, each.row)), model.constants)
        for each in moments
    ]
    trace = {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": "written by the Replication Protocol Lab",
            "spec": catalog.known_as(model.spec),
            "constants": show(model.constants),
            "link": link_text(walk),
        },
        "vars": list(states[0]),
        "states": [
            {
                "#meta": {
                    "index": index,
                    "step": each.step and each.step.text,
                    "caption": each.caption,
                },
                **state,
            }
            for index, (each, state) in enumerate(zip(moments, states))
        ],
    }
    if walk.moment.loops_to is not None:
        trace["loop"] = walk.moment.loops_to - 1
    return json.dumps(trace, indent=1)


def _in_itf(declared: Any, value: Any, constants: Any) -> Any:
    """A plain value of this declared type, without the room that the model has beyond it."""
    match declared:
        case type():
            kept = {name: each for name, each in declared.field_types.items() if name in value}
            return {name: _in_itf(each, value[name], constants) for name, each in kept.items()}
        case Per(node, item):
            nodes = range(1, node.number(constants) + 1)
            pairs = [[_number(k), _in_itf(item, value[k], constants)] for k in nodes]
            return {"#map": pairs}
        case Array(item, size):
            slots = value[: size_with(size, constants)]
            return [_in_itf(item, each, constants) for each in slots]
        case Seq(item, _) | Bag(item, _):
            return [_in_itf(item, each, constants) for each in value]
        case NodeSet():
            return {"#set": [_number(each) for each in sorted(value)]}
    return value if isinstance(value, bool | str) else _number(value)


def _number(value: int) -> dict[str, str]:
    return {"#bigint": str(value)}


# --- Text exports ---------------------------------------------------------------------------------


def to_mermaid(walk: Walk) -> str:
    """A Mermaid sequence diagram of what happened in each step (`events`)."""
    told = walk_events(walk)
    lines = ["sequenceDiagram"]
    lines += [f"    participant {name}" for name in _lifelines(walk, told)]
    arrows = {SENT: "-)", DELIVERED: "->>", LOST: "-x", AT_ONCE: "->>"}
    for step, events in told:
        lines.append(f"    %% {step.text}")
        for each in events:
            text = _label(each).replace(";", ",").replace("#", "")
            ends = _ends(each)
            if len(ends) == 2:
                lines.append(f"    {ends[0]}{arrows[each.kind]}{ends[1]}: {text}")
            else:
                lines.append(f"    Note over {(ends or _lifelines(walk, told))[0]}: {text}")
    if walk.moment.going_on:
        lines.append(f"    %% {walk.moment.going_on}")
    return "\n".join(lines) + "\n"


class Format(NamedTuple):
    """A file's ending, and the function that gives its content."""

    ending: str
    write: Callable[[Walk], str]


TEXT_FORMATS: dict[str, Format] = {
    "scenario": Format(".txt", scenario_text),
    "link": Format(".link.txt", link_text),
    "itf": Format(".json", to_itf),
    "mermaid": Format(".mmd", to_mermaid),
}
"""The formats that are text, by name."""


Told = list[tuple[Step, list[Event]]]


def _lifelines(walk: Walk, told: Told) -> list[str]:
    return lifelines(walk.model, [each for _, events in told for each in events])


def _ends(event: Event) -> list[str]:
    """The one or two lifelines of an event; none for a note about everybody."""
    ends = [event.at] if isinstance(event, Note) else [event.source, event.dest]
    return [end for end in ends if end != EVERYBODY]


def _label(event: Event) -> str:
    """An event's label, on one line; kinds that have their own arrow are not named in it."""
    if isinstance(event, Note):
        return _in_one_line(event.text)
    words = {SENT: "sends", DELIVERED: "gets", LOST: "lost:"}
    return _in_one_line(f"{words.get(event.kind, '')} {event.label}")


def _in_one_line(text: str) -> str:
    return visible(" ".join(text.split()))
