"""A walk in ITF, the Informal Trace Format of Apalache (its ADR 15) and Quint.

    {"#meta": {...}, "vars": ["n"], "states": [{"#meta": {...}, "n": {"#bigint": "0"}}, ...]}

A node is its number, 0 for none; a field by node is a function, a bag a list. The metadata have the
spec, the constants and the steps, from which the walk can be taken again. Where the run is endless,
its last state is the one that the loop begins at, once more, and `loop` is that one's index.
"""

import json
from typing import Any

from protocol_lab import catalog
from protocol_lab.model.constants import show
from protocol_lab.model.layout import Array, Bag, NodeSet, Per, Seq, size_with
from protocol_lab.model.state_view import plain, view
from protocol_lab.traces.walk import Walk


def to_itf(walk: Walk) -> str:
    """The states up to here, as the text of a file `.itf.json`."""
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
