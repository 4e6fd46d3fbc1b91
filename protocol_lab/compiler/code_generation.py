"""Generates the source of a piece: an action with the loops over its parameters, or a property.

See `loops` for the arguments of a piece. Besides its source a piece has the plain functions that it
calls, under the names that the source uses.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protocol_lab.language.arithmetic import checked_operators
from protocol_lab.spec.layout import Named, Node
from protocol_lab.spec.parameters import (
    Bound,
    Domain,
    Member,
    Range,
    Sequences,
    Subset,
    names_used,
)
from protocol_lab.spec.spec import Action, Model


@dataclass
class Piece:
    """Generated code that is compiled separately. name: for messages; acts: does its `function`
    change states?"""

    name: str
    text: str
    functions: dict[str, Callable]
    acts: bool = False


_CONSTANTS = "    c = constants_at(number_at(work, CONSTANTS))"


def action_piece(model: Model, action: Action, key: tuple[str, ...]) -> Piece:
    """A piece that writes one state's successors by one action, and returns the place for the next.

    key: parameters, or fields of a message parameter, whose values are written for each successor.
    If it is not proven that a refusal changes nothing, `refused` raises Fault where one has.
    """
    lines, indent = _beginning(model, action, "state_at(number_at(work, OUT), written)")
    values = [f"{name}_" for name in action.domains]
    times = f"multiplicity({', '.join(['before', 'c', *values])})" if action.multiplicity else "1"
    lines += [
        f"{indent}if len(function({', '.join(['s', 'c', *values])})) == 0:",
        *(
            f"{indent}    put_number(number_at(work, KEY_OF), written * number_at(work, KEYS)"
            f" + {at}, {_value(path)})"
            for at, path in enumerate(key)
        ),
        f"{indent}    written = keep(work, source, written, action, as_number({times}))",
        f"{indent}    if written < 0:",
        f"{indent}        return written",
        f"{indent}    s = state_at(number_at(work, OUT), written)",
        f"{indent}    copy_state(s, before)",
        f"{indent}else:",
        f"{indent}    refused(s, before)",
        "    return written",
    ]
    return Piece(action.name, "\n".join(lines) + "\n", _functions(action), acts=True)


def guards_piece(model: Model, action: Action, guards: Callable) -> Piece:
    """An action of which there are only these guards; raises NotRefused where they let it happen.

    They change nothing, and so look at the state itself.
    """
    lines, indent = _beginning(model, action, "before")
    values = [f"{name}_" for name in action.domains]
    lines += [
        f"{indent}if len(function({', '.join(['s', 'c', *values])})) == 0:",
        f"{indent}    raise NotRefused",
        "    return written",
    ]
    functions = {**_functions(action), "function": guards}
    return Piece(f"{action.name} (guards)", "\n".join(lines) + "\n", functions)


def _beginning(model: Model, action: Action, state: str) -> tuple[list[str], str]:
    """The head of an action's piece with the loops over its parameters, and the indentation inside
    them. state: what the action changes."""
    lines = [
        "def piece(work, source, written, action):",
        _CONSTANTS,
        "    before = state_at(number_at(work, ROWS), source)",
        f"    s = {state}",
    ]
    indent = "    "
    for name, domain in action.domains.items():
        for line in _loop(name, domain, action, model):
            lines.append(indent + line)
            indent += "    " if line.startswith("for ") else ""
    return lines, indent


def property_piece(model: Model, name: str, function: Callable, asked: str) -> Piece:
    """A piece that returns 1 where `asked` is true, else 0. asked: an expression that calls the
    function on a state s, or, for a step, on `earlier` and s."""
    lines = [
        "def piece(work, row, parent, bit):",
        _CONSTANTS,
        "    s = state_at(number_at(work, ROWS), row)",
        *(
            ["    earlier = state_at(number_at(work, BEFORE), parent)"]
            if "earlier" in asked
            else []
        ),
        f"    return 1 if {asked} else 0",
    ]
    return Piece(name, "\n".join(lines) + "\n", {"function": function})


def predicate_piece(model: Model, function: Callable, parameters: list[str]) -> Piece:
    """A piece that returns 1 where a predicate is true; it may take s, c and parameters, whose
    values are given."""
    scope = {each: f"number_at(values, {k})" for k, each in enumerate(parameters)}
    arguments = ", ".join(scope.get(each, each) for each in names_used(function))
    lines = [
        "def piece(work, row, parent, bit):",
        _CONSTANTS,
        "    values = number_at(work, VALUES)",
        "    s = state_at(number_at(work, ROWS), row)",
        f"    return 1 if truth(function({arguments})) else 0",
    ]
    return Piece(function.__name__, "\n".join(lines) + "\n", {"function": function})


# --- The loops over parameters -------------------------------------------------------------------


def _functions(action: Action) -> dict[str, Callable]:
    """The plain functions that an action's piece calls, by the names that its source uses."""
    functions = {"function": action.function}
    if action.multiplicity:
        functions["multiplicity"] = action.multiplicity
    for name, domain in action.domains.items():
        match domain:
            case Range(low, high):
                bounds = {"low": low, "high": high}
            case Subset(of):
                bounds = {"mask": of}
            case Sequences(low, high, length):
                bounds = {"low": low, "high": high, "length": length}
            case _:
                bounds = {}
        for which, bound in bounds.items():
            if callable(bound):
                functions[f"{which}_{name}_"] = bound
    return functions


def _value(path: str) -> str:
    """A parameter, or a field of one, by the name that the loops use."""
    name, dot, fields = path.partition(".")
    return f"{name}_{dot}{fields}"


def _loop(name: str, domain: Domain, action: Action, model: Model) -> list[str]:
    """The loop over one parameter's domain: the lines before it, its head, and the first lines of
    its body."""
    scope = {"s": "before", "c": "c", **{each: f"{each}_" for each in action.domains}}

    def bound(which: str, bound: Bound) -> str:
        if not callable(bound):
            return over_constants(bound, model)
        return f"{which}_{name}_({', '.join(scope[each] for each in names_used(bound))})"

    match domain:
        case Node(count):
            return [f"for {name}_ in range(1, {over_constants(count, model)} + 1):"]
        case Range(low, high):
            low, end = bound("low", low), f"checked_add({bound('high', high)}, 1)"
            return [f"for {name}_ in range({low}, {end}):"]
        case Named(names):
            return [f"for {name}_ in range({len(names)}):"]
        case Subset(of, wanted):
            if isinstance(of, Node):
                mask = f"(1 << ({over_constants(of.count, model)} + 1)) - 2"
            else:
                mask = bound("mask", of)
            # The same order as `submasks`, but a generator would take much longer to compile.
            lines = [
                f"mask_{name} = {mask}",
                f"{name}_ = mask_{name}",
                f"for at_{name} in range(1 << size_of(mask_{name})):",
                f"{name}_ = ({name}_ - mask_{name}) & mask_{name}",
            ]
            if wanted is not None:
                count = over_constants(wanted, model)
                lines.append(f"if size_of({name}_) != {count}: continue")
            return lines
        case Sequences(low, high, length):
            low, high, length = bound("low", low), bound("high", high), bound("length", length)
            numbers = f"max(0, checked_add(checked_sub({high}, {low}), 1))"
            return [
                f"for at_{name} in range(checked_pow({numbers}, {length})):",
                f"{name}_ = read_only(sequence(at_{name}, {low}, {high}, {length}))",
            ]
        case Member(path):
            layout = model.layout
            for each in path.split("."):
                layout = layout.fields[each]
            count = "length" if layout.kind == "seq" else "size"
            items = f"before.{path}.items"
            this, last = (f"get_item({items}, at_{name}{less})" for less in ("", " - 1"))
            once = f"if at_{name} > 0 and equal({this}, {last}): continue"
            return [
                f"for at_{name} in range(before.{path}.{count}):",
                *([once] if layout.kind == "bag" else []),
                f"{name}_ = read_only({this})",
            ]
    raise TypeError(f"{domain!r} is not a domain")


def sequence(number: int, low: int, high: int, length: int) -> np.ndarray:
    """The sequence with this number, counted from 0, among those that a `Sequences` gives."""
    items = np.empty(length, np.int64)
    for k in range(length - 1, -1, -1):
        items[k] = low + number % (high - low + 1)
        number //= high - low + 1
    return items


def over_constants(expression: int | str, model: Model) -> str:
    """A bound over names of constants as code that reads them from `c`."""
    tree = ast.parse(str(expression), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = f"c.{node.id}"
    return f"({ast.unparse(checked_operators(tree))})"
