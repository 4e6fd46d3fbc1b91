"""Writes traces as other tools do: TLC's text, JSON and module, and Apalache's ITF; and adds what
logs, terminals and mails add to the lines of a text."""

import json
import re

from protocol_lab.interchange.tlc_output import (
    Atom,
    Function,
    PrintedTrace,
    Sequence,
    SetOf,
    Value,
)

# --- What logs, terminals and mails add ----------------------------------------------------------


def in_colours(line: str, _: int) -> str:
    return f"\x1b[1;31m{line}\x1b[0m" if line.startswith("Error") else f"\x1b[2K{line}\x1b[m"


MARKS = {
    "colours": in_colours,
    "time stamps": lambda line, k: (
        f"2024-05-01T12:{k // 60 % 60:02}:{k % 60:02}.{k}Z {line}".rstrip()
    ),
    "bracketed time": lambda line, k: f"[12:{k // 60 % 60:02}:{k % 60:02},{k:03}] INFO  {line}",
    "docker compose": lambda line, _: f"tlc-1  | {line}",
    "both": lambda line, k: f"\x1b[36mtlc-1  |\x1b[0m 2024-05-01T12:00:{k % 60:02}Z {line}",
    "kubernetes": lambda line, k: f"2024-05-01T12:00:01.{k}Z stdout F {line}",
    "a log file of Docker": lambda line, _: json.dumps({"log": f"{line}\n", "stream": "stdout"}),
    "a mail": lambda line, _: f"> {line}".rstrip(),
}


def marked(text: str, name: str) -> str:
    """The text with one of the `MARKS` on each line."""
    return "\n".join(MARKS[name](line, k) for k, line in enumerate(text.splitlines()))


# --- TLC's own formats ---------------------------------------------------------------------------


def as_json(value: Value) -> object:
    """A value as TLC's module Json writes it."""
    match value:
        case Sequence(items) | SetOf(items):
            return [as_json(each) for each in items]
        case Function(pairs):
            return {in_tla(key).strip('"'): as_json(each) for key, each in pairs}
        case Atom(name):
            return name
    return value


def in_tla(value: Value) -> str:
    """A value in TLA+; every name is a model value."""
    match value:
        case bool():
            return str(value).upper()
        case Sequence(items):
            return f"<<{', '.join(map(in_tla, items))}>>"
        case SetOf(items):
            return f"{{{', '.join(map(in_tla, items))}}}"
        case Function(pairs) if all(isinstance(key, Atom) for key, _ in pairs):
            return f"[{', '.join(f'{key} |-> {in_tla(each)}' for key, each in pairs)}]"
        case Function(pairs):
            return f"({' @@ '.join(f'{in_tla(key)} :> {in_tla(each)}' for key, each in pairs)})"
    return str(value)


def as_text(trace: PrintedTrace) -> str:
    """A trace as TLC prints it."""
    lines = [f"Error: {trace.complaint}.", "Error: The behavior up to this point is:"]
    for each in trace.states:
        what = f"{each.action} line 5, col 3 to line 9, col 20 of module {each.module}"
        lines.append(f"State {each.number}: <{what if each.action else 'Initial predicate'}>")
        lines += [f"/\\ {name} = {in_tla(value)}" for name, value in each.variables.items()]
        lines.append("")
    if trace.loop_to:
        lines.append(f"Back to state {trace.loop_to}: <{trace.closing} line 9 of module M>")
    return "\n".join(lines) + "\n"


def as_dump(trace: PrintedTrace) -> dict:
    """A trace as -dumpTrace json writes it; both lists are sets, so their order means nothing."""
    states = [
        [each.number, {name: as_json(value) for name, value in each.variables.items()}]
        for each in trace.states
    ]
    actions = [
        [before, {"name": each.action, "location": {"module": each.module}}, after]
        for before, after, each in zip(states, states[1:], trace.states[1:])
    ]
    if trace.loop_to:
        actions.append([states[-1], {"name": trace.closing}, states[trace.loop_to - 1]])
    return {"action": actions[::-1], "state": states[::-1]}


def as_module(trace: PrintedTrace, name: str) -> str:
    """A trace as TLC writes it into a module."""
    states = ",\n".join(
        f"    ([{','.join(f'{key} |-> {in_tla(value)}' for key, value in each.variables.items())}])"
        for each in trace.states
    )
    lasso = f"_TTraceLassoStart == {trace.loop_to}\n" if trace.loop_to else ""
    return (
        f"---- MODULE {name}_TTrace_1749661801 ----\nEXTENDS Sequences, TLCExt, {name}\n\n"
        f'_inv ==\n    ~(\n        TLCGet("level") = Len(_TETrace)\n    )\n----\n{lasso}'
        f'\\*---- MODULE {name}_TETrace ----\n\\*trace == IODeserialize("x.bin", TRUE)\n'
        f"---- MODULE {name}_TETrace ----\nEXTENDS TLC, {name}\n\ntrace == \n    <<\n{states}\n"
        "    >>\n----\n\n=====\n\n---- CONFIG x ----\nINIT\n    _init\n"
    )


# --- ITF -----------------------------------------------------------------------------------------


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
