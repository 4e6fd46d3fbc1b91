"""Exports of a walk as text; those as pictures are in `drawing.picture_exports`.

The formats: JSON and ITF, which `read_json` reads again, and Mermaid.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from protocol_lab import catalog
from protocol_lab.errors import LabError
from protocol_lab.model.constants import show
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import Step, as_json
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
from protocol_lab.traces.itf import is_own_itf, itf_state, to_itf
from protocol_lab.traces.links import link_text
from protocol_lab.traces.scenarios import bound_model, scenario_text
from protocol_lab.traces.walk import Walk
from protocol_lab.visible_text import visible


def to_json(walk: Walk) -> str:
    """Spec, constants, steps and the state after each of them; the first caption is the start's.

    loop_from: the number of the state (from 1) at which the run's endless loop begins, or null.
    """
    moments = walk.moment.path()
    return json.dumps(
        {
            "spec": catalog.known_as(walk.model.spec),
            "constants": show(walk.model.constants),
            "initial": walk.init,
            "caption": walk.start.caption,
            "loop_from": walk.moment.loops_to,
            "steps": [
                {**moment.step.to_json(), "text": moment.step.text, "caption": moment.caption}
                for moment in moments[1:]
            ],
            "states": [as_json(plain(view(walk.model.layout, each.row))) for each in moments],
        },
        indent=1,
    )


def parsed_json(text: str) -> Any:
    """The value of a JSON text. Raises LabError with one sentence."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LabError(f"The JSON breaks off or is damaged at line {error.lineno}.") from None
    except (RecursionError, ValueError):
        raise LabError(
            "The JSON is nested too deep, or has a number that is too long, to be a walk: export it"
            " again."
        ) from None


def read_json(found: Any, model: Model | None = None, folder: Path | None = None) -> Walk:
    """The walk that `to_json` or `to_itf` wrote, at its end; every state is compared.

    found: what was read from the JSON, or its text. `model` supplies a spec that is in no package;
    the constants are those of the JSON. folder: that of its file, beside which the spec may be.
    Raises LabError for anything else, and if the steps now lead to other states.
    """
    found = parsed_json(found) if isinstance(found, str) else found
    is_itf = is_own_itf(found)
    try:
        about = found["#meta"] if is_itf else found
        name, constants = str(about["spec"]), {str(k): v for k, v in about["constants"].items()}
        start = about["initial"]
        if not isinstance(start, str | None):
            raise TypeError("no line init(...)")
        moments = _moments_of_itf(found) if is_itf else _moments_of_json(found)
        loop_from = found.get("loop_from")
        if is_itf and found.get("loop") is not None:
            loop_from = found["loop"] + 1
        if loop_from is not None and type(loop_from) is not int:
            raise TypeError("no number of a state")
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise LabError(
            "This JSON is not a walk: it needs spec, constants, initial, caption, steps and the"
            " state after each of them, as the export writes them."
        ) from None
    walk = Walk.begin(bound_model(name, constants, model, folder), start)
    for step, caption, state in moments:
        if step is not None:
            walk.take(step)
        walk.moment.caption = caption
        own = itf_state(walk, walk.row) if is_itf else as_json(plain(walk.state))
        if json.loads(json.dumps(own)) != state:
            raise LabError(
                f"State {walk.moment.depth} of the JSON is not the one that its steps lead to:"
                " the spec or the file was changed since."
            )
    if loop_from is not None:
        walk.close_loop(loop_from)
    return walk


_Moments = list[tuple[str | None, str, dict[str, Any]]]
"""Steps, None at the start, with the captions and the values of the states that they lead to."""


def _moments_of_json(found: dict[str, Any]) -> _Moments:
    taken = [(None, str(found["caption"]))]
    taken += [(str(step["text"]), str(step["caption"])) for step in found["steps"]]
    return [(*each, state) for each, state in zip(taken, found["states"], strict=True)]


def _moments_of_itf(found: dict[str, Any]) -> _Moments:
    moments = []
    for state in found["states"]:
        about, values = state["#meta"], {name: state[name] for name in found["vars"]}
        step = str(about["step"]) if moments else None
        moments.append((step, str(about["caption"]), values))
    return moments


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
    "json": Format(".json", to_json),
    "itf": Format(".itf.json", to_itf),
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
