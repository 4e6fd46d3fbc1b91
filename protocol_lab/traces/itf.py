"""A walk in ITF, the Informal Trace Format of Apalache (its ADR 15) and Quint.

    {"#meta": {...}, "vars": ["n"], "states": [{"#meta": {...}, "n": {"#bigint": "0"}}, ...]}

A node is its number, 0 for none; a field by node is a function, a bag a list. The metadata have the
spec, the constants and the steps, from which `read_itf` takes the walk again. Where the run is
endless, its last state is the one that the loop begins at, once more, and `loop` is that one's
index.
"""

import json
from pathlib import Path
from typing import Any

from protocol_lab import catalog
from protocol_lab.errors import LabError
from protocol_lab.model.constants import show
from protocol_lab.model.layout import Array, Bag, NodeSet, Per, Seq, size_with
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain, view
from protocol_lab.traces.scenarios import bound_model
from protocol_lab.traces.walk import Walk


def to_itf(walk: Walk) -> str:
    """The states up to here, as the text of a file."""
    moments = walk.moment.path()
    states = [itf_state(walk, each.row) for each in moments]
    trace = {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "description": "written by the Replication Protocol Lab",
            "spec": catalog.known_as(walk.model.spec),
            "constants": show(walk.model.constants),
            "initial": walk.init,
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


def is_own_itf(found: Any) -> bool:
    """Is what was read from a JSON something that `to_itf` wrote?"""
    meta = found.get("#meta") if isinstance(found, dict) else None
    return isinstance(meta, dict) and "spec" in meta and "states" in found


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


def read_itf(found: Any, model: Model | None = None, folder: Path | None = None) -> Walk:
    """The walk that `to_itf` wrote, at its end; every state is compared.

    found: what was read from the JSON. `model` supplies a spec that is in no package; the constants
    are those of the JSON. folder: that of its file, beside which the spec may be. Raises LabError
    for anything else, and if the steps now lead to other states.
    """
    try:
        about, moments = found["#meta"], []
        name, constants = str(about["spec"]), {str(k): v for k, v in about["constants"].items()}
        start, loop = about["initial"], found.get("loop")
        if not isinstance(start, str | None) or (loop is not None and type(loop) is not int):
            raise TypeError("no line init(...), or no number of a state")
        for state in found["states"]:
            said, values = state["#meta"], {each: state[each] for each in found["vars"]}
            moments.append((str(said["step"]), str(said["caption"]), values))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise LabError(
            "This JSON is not a walk: it needs the spec, constants, steps and states, as the export"
            " writes them."
        ) from None
    walk = Walk.begin(bound_model(name, constants, model, folder), start)
    for number, (step, caption, state) in enumerate(moments, 1):
        if number > 1:
            walk.take(step)
        walk.moment.caption = caption
        if itf_state(walk, walk.row) != state:
            raise LabError(
                f"State {number} of the JSON is not the one that its steps lead to: the spec or the"
                " file was changed since."
            )
    if loop is not None:
        walk.close_loop(loop + 1)
    return walk


def itf_state(walk: Walk, row: bytes) -> dict[str, Any]:
    """The variables of a state of the walk's model, in ITF."""
    model = walk.model
    return _in_itf(model.spec.state, plain(view(model.layout, row)), model.constants)


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
