"""Writes traces as Apalache does, in ITF."""

import re

from protocol_lab.interchange.tlc_output import Atom, Function, PrintedTrace, Sequence, SetOf, Value


def as_itf(value: Value) -> object:
    """A value as Apalache writes it."""
    match value:
        case bool():
            return value
        case int():
            return {"#bigint": str(value)}
        case Atom(name):
            return f"{name}_OF_NODE" if re.fullmatch(r"[bc]\d", name) else name
        case Sequence(items):
            return {"#tup": [as_itf(each) for each in items]} if items else []
        case SetOf(items):
            return {"#set": [as_itf(each) for each in items]}
        case Function(pairs) if all(isinstance(key, Atom) for key, _ in pairs):
            if not re.fullmatch(r"[bc]\d", str(pairs[0][0])):
                return {str(key): as_itf(each) for key, each in pairs}
    return {"#map": [[as_itf(key), as_itf(each)] for key, each in value.pairs]}


def as_itf_trace(trace: PrintedTrace) -> dict:
    """A trace as Apalache writes it, which does not name the actions."""
    found = {
        "#meta": {"format": "ITF", "description": "Created by Apalache on Wed May 1"},
        "vars": list(trace.states[0].variables),
        "states": [
            {"#meta": {"index": k}, **{name: as_itf(v) for name, v in each.variables.items()}}
            for k, each in enumerate(trace.states)
        ],
    }
    return found if trace.loop_to is None else {**found, "loop": trace.loop_to - 1}
