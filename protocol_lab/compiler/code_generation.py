"""Generates the source of a piece: an action with the loops over its parameters, or a property.

See `loops` for the arguments of a piece. Besides its source a piece has the plain functions that it
calls, under the names that the source uses.

A guard that does not look at the last parameters refuses for all their values if it does for one.
So compiled code returns how many of the first parameters a refusal depends on (`with_depths`), and
the loops over the others are left. Plain Python finds out otherwise (`model.transitions`).
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.model.parameters import (
    Bound,
    Domain,
    Member,
    Sequences,
    functions_of,
    names_used,
    same_for_all,
)
from protocol_lab.model.spec import Action, Model, Property, Situation
from protocol_lab.model.transitions import LookedAt, Unchosen
from protocol_lab.reader.possible_steps import loop_over, over_constants
from protocol_lab.reader.reading import Reading, reading
from protocol_lab.reader.side_effects import Flow, stores
from protocol_lab.reader.source_code import names_read, without_annotations

_NOT_SO = "not truth(function(s, c))"
"""Is a state not in a situation?"""


@dataclass
class Piece:
    """Generated code that is compiled separately.

    name: for messages. functions: the plain functions that it calls, by name; only the one named
    `acts` may change states. parameters: if given, those of its `function`, which is compiled so
    that it gives its answer as a number (see `compiler.Compiler.compiled`). kind: the name of the
    generated function. called: other objects that it uses.
    """

    name: str
    text: str
    functions: dict[str, Callable]
    parameters: tuple[str, ...] | None = None
    acts: str = ""
    kind: str = "piece"
    called: dict[str, Any] = field(default_factory=dict)


_CONSTANTS = "    c = constants_at(number_at(work, CONSTANTS))"


def action_piece(model: Model, action: Action, key: tuple[str, ...]) -> Piece:
    """A piece that writes one state's successors by one action, and returns the place for the next.

    key: parameters, or fields of a message parameter, whose values are written for each successor.
    If it is not proven that a refusal changes nothing, `refused` raises Fault where one has.
    """
    values = [f"{name}_" for name in action.domains]
    times = f"multiplicity({', '.join(['before', 'c', *values])})" if action.multiplicity else "1"
    lines = [
        f"answer = function({', '.join(['s', 'c', *values])})",
        "if answer == 0:",
        *(
            f"    put_number(number_at(work, KEY_OF), written * number_at(work, KEYS)"
            f" + {at}, {_value(path)})"
            for at, path in enumerate(key)
        ),
        f"    written = keep(work, source, written, action, as_number({times}))",
        "    if written < 0:",
        "        return written",
        "    s = state_at(number_at(work, OUT), written)",
        "    copy_state(s, before)",
        "else:",
        "    refused(s, before)",
    ]
    text = _for_all_choices(model, action, "state_at(number_at(work, OUT), written)", lines)
    return Piece(action.name, text, _functions(action), tuple(action.domains), "function")


def guards_piece(model: Model, action: Action, guards: Callable) -> Piece:
    """An action of which there are only these guards; raises NotRefused where they let it happen.

    They change nothing, and so look at the state itself.
    """
    values = [f"{name}_" for name in action.domains]
    lines = [
        f"answer = function({', '.join(['s', 'c', *values])})",
        "if answer == 0:",
        "    raise NotRefused",
    ]
    functions = {**_functions(action), "function": guards}
    text = _for_all_choices(model, action, "before", lines)
    return Piece(f"{action.name} (guards)", text, functions, tuple(action.domains))


def _for_all_choices(model: Model, action: Action, state: str, body: list[str]) -> str:
    """The source of an action's piece: these lines within loops over its parameters.

    state: what the action changes. The lines set `answer` to 0 if it was taken, else to 1 more than
    the number of parameters that the refusal depends on: the loops over the others are left.
    """
    lines = [
        "def piece(work, source, written, action):",
        _CONSTANTS,
        "    before = state_at(number_at(work, ROWS), source)",
        f"    s = {state}",
        "    answer = 0",
    ]
    indent, ends = "    ", []
    for number, (name, domain) in enumerate(action.domains.items(), 1):
        for line in _loop(name, domain, action, model):
            lines.append(indent + line)
            indent += "    " if line.startswith(("for ", "while ")) else ""
        ends.append([indent + line for line in _loop_end(number, action)])
    lines += [indent + line for line in body]
    for end in reversed(ends):
        lines += end
    return "\n".join([*lines, "    return written"]) + "\n"


def _loop_end(number: int, action: Action) -> list[str]:
    """The last lines in the body of the loop over a parameter, the first one having number 1."""
    alike = [depth + 1 for depth in range(number) if same_for_all(action.domains, depth)]
    return [f"if 0 < answer <= {max(alike)}: break"] if alike else []


def property_piece(declared: Property | Situation, asked: str) -> Piece:
    """A piece that returns 1 where `asked` is true, or a state is not in the situation, else 0.
    asked: an expression that calls the property's function on a state s, or, for a step, on
    `earlier` and s."""
    asked = _NOT_SO if isinstance(declared, Situation) else asked
    return _asking_piece(declared.name, declared.function, asked)


def predicate_piece(function: Callable, parameters: list[str]) -> Piece:
    """A piece that returns 1 where a predicate is true; it may take s, c and parameters, whose
    values are given."""
    scope = {each: f"number_at(values, {k})" for k, each in enumerate(parameters)}
    arguments = ", ".join(scope.get(each, each) for each in names_used(function))
    return _asking_piece(function.__name__, function, f"truth(function({arguments}))")


def _asking_piece(name: str, function: Callable, asked: str) -> Piece:
    lines = [
        "def piece(work, row, parent, bit):",
        _CONSTANTS,
        "    s = state_at(number_at(work, ROWS), row)",
        "    earlier = state_at(number_at(work, BEFORE), parent)",
        "    values = number_at(work, VALUES)",
        f"    return 1 if {asked} else 0",
    ]
    return Piece(name, "\n".join(lines) + "\n", {"function": function})


# --- The loops over parameters -------------------------------------------------------------------


def _functions(action: Action) -> dict[str, Callable]:
    """The plain functions that an action's piece calls, by the names that its source uses."""
    functions = {"function": action.function}
    if action.multiplicity:
        functions["multiplicity"] = action.multiplicity
    for name, domain in action.domains.items():
        for which, bound in functions_of(domain).items():
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
            return over_constants(bound)
        return f"{which}_{name}_({', '.join(scope[each] for each in names_used(bound))})"

    found = loop_over(f"{name}_", domain, bound)
    if found is not None:
        return found
    match domain:
        case Sequences(low, high, length):
            sequence = f"sequence_at(at_{name}, low_{name}, numbers_{name}, length_{name})"
            return [
                f"low_{name} = {bound('low', low)}",
                f"numbers_{name} = max(0, {bound('high', high)} - low_{name} + 1)",
                f"length_{name} = {bound('length', length)}",
                f"for at_{name} in range(checked_pow(numbers_{name}, length_{name})):",
                f"{name}_ = read_only({sequence})",
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


# --- How many of an action's first parameters a refusal depends on -------------------------------


def with_depths(tree: ast.FunctionDef, parameters: Sequence[str], names: dict[str, Any]) -> None:
    """Make an action return a number, see `compiler.Compiler.compiled`. names: the values of those
    that it reads."""
    paths = _Depths(parameters)
    paths.block(tree.body, 0)
    for node, depth in paths.returns.items():
        answer = _as_number(node.value or ast.Constant(None), depth, names)
        node.value = ast.fix_missing_locations(ast.copy_location(answer, node))


def _as_number(value: ast.expr, depth: int, names: dict[str, Any]) -> ast.expr:
    match value:
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, *(_as_number(each, depth, names) for each in (body, orelse)))
        case ast.Constant(str(text)):
            return ast.Constant(depth + 1 if text else 0)
        case ast.Name(name) if isinstance(names.get(name), str):
            return ast.Constant(depth + 1 if names[name] else 0)
    length = ast.Call(ast.Name("len", ast.Load()), [value], [])
    refused = ast.Compare(length, [ast.NotEq()], [ast.Constant(0)])
    return ast.IfExp(refused, ast.Constant(depth + 1), ast.Constant(0))


class _Depths(Flow[int]):
    """The paths through an action: how many of the first parameters it depends on that they lead
    where they do. returns: for each return, with its value."""

    def __init__(self, parameters: Sequence[str]):
        super().__init__()
        self.number = {name: k for k, name in enumerate(parameters, 1)}
        self.returns: dict[ast.Return, int] = {}

    def read(self, node: ast.AST | None, depth: int) -> int:
        nodes = () if node is None else ast.walk(node)
        return max(depth, *(self.number.get(getattr(each, "id", ""), 0) for each in nodes), 0)

    def meet(self, paths: list[int]) -> int:
        return max(paths)

    def returned(self, node: ast.Return, depth: int) -> None:
        self.returns[node] = self.read(node.value, depth)


# --- Actions that a constant rules out, such as a crash where none is allowed ---------------------


def first_guards(function: Callable, constants: Any) -> Callable | None:
    """The guards of an action up to one that refuses with these constants, as a function that
    returns TAKEN where none of them refuses. None if there is no such guard.

    That it refuses is a guess: the state's numbers are taken to be 0 or more. Only guards before
    which nothing stands but guards are looked at.
    """
    code, names = reading(function), names_read(function)
    for k, each in enumerate(code.body, 1):
        if not _is_guard(each) or stores(each.test, names, frozenset()):
            return None
        if _is_always_true(each.test, code, constants, names):
            return _shortened(function, code.body[:k])
    return None


def _is_guard(statement: ast.stmt) -> bool:
    """Is it `if ...: return "a reason"`?"""
    match statement:
        case ast.If(body=[ast.Return(value=ast.Constant(value=str(reason)))], orelse=[]):
            return bool(reason)
    return False


class _NotNegative(Unchosen):
    """Stands for the state and its numbers, which are taken to be 0 or more; whatever else looks
    at it raises LookedAt."""

    def __getattribute__(self, name: str) -> "_NotNegative":
        return self

    def __ge__(self, other: Any) -> bool:
        if other <= 0:
            return True
        raise LookedAt

    def __gt__(self, other: Any) -> bool:
        if other < 0:
            return True
        raise LookedAt

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __le__(self, other: Any) -> bool:
        return not self > other


def _is_always_true(test: ast.expr, code: Reading, constants: Any, names: dict[str, Any]) -> bool:
    """Is a test true in every state, as far as that can be told without its calls?"""
    if isinstance(test, ast.BoolOp):
        decide = any if isinstance(test.op, ast.Or) else all
        return decide(_is_always_true(each, code, constants, names) for each in test.values)
    scope = {name: value for name, value in names.items() if type(value) is int}
    try:
        return bool(eval(code.compiled(test)[0], scope, {"s": _NotNegative(), "c": constants}))
    except (Exception, LookedAt):
        return False


def _shortened(function: Callable, body: list[ast.stmt]) -> Callable:
    """A function with the same name and parameters that does this, and returns TAKEN."""
    shorter = without_annotations(reading(function).as_written)
    shorter.body = [*body, ast.Return(ast.Constant(""))]
    text = ast.unparse(ast.fix_missing_locations(shorter)) + "\n"
    scope = {**function.__globals__, **names_read(function)}
    exec(text, scope)
    made = scope[function.__name__]
    made.lab_source, made.__module__ = text, function.__module__
    return made
