"""Exports of a walk as text; those as pictures are in `drawing.picture_exports`.

The formats: scenarios, links, ITF and Mermaid.
"""

from collections.abc import Callable
from typing import NamedTuple

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
from protocol_lab.traces.itf import to_itf
from protocol_lab.traces.links import link_text
from protocol_lab.traces.scenarios import scenario_text
from protocol_lab.traces.walk import Walk
from protocol_lab.visible_text import visible


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
