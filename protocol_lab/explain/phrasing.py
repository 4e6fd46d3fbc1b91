"""Writes values of the state, and the expressions that read them, as text for people.

    s.replica_log[follower].end_offset     is written   replica_log[follower].end_offset
    mine.end_offset                                     the same, if `mine` stands for that log
    c.max_records                                       max_records
    s.replica_state[leader].isr                         {1, 3} is its value, and none no node

Local names, and the parameters of called functions, are replaced by what they stand for, so that
every text is about the state, the constants and the action's own parameters.
"""

import ast
from collections.abc import Iterable
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.explain.interpreter import CannotFollow, Frame
from protocol_lab.model.constants import as_text, show
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, NamedValue, Node, StructLayout
from protocol_lab.model.node_sets import Nodes
from protocol_lab.model.parameters import Domain
from protocol_lab.model.state_view import View, plain_value
from protocol_lab.reader.source_code import is_of_protocol

LONG = 60
"""Values longer than this many characters are cut off, and few other texts are longer."""

_LONG_INDEX, _LONG_CALL = 16, 45


# --- Values ----------------------------------------------------------------------------------


def number_text(layout: IntegerLayout, value: Any) -> str:
    """A number as text, by its layout: a set of nodes as {1, 3}, NONE as none, a Boolean as yes or
    no."""
    match layout.kind:
        case "nodes":
            return node_set(value)
        case "bool":
            return "yes" if value else "no"
        case "node" if value == 0:
            return "none"
    return str(value)


def node_set(nodes: Iterable[int]) -> str:
    """A set of nodes as text."""
    return "{" + ", ".join(str(node) for node in sorted(nodes)) + "}"


def value_text(value: Any, is_node: bool = False) -> str:
    """The value of an expression as text; `is_node` says whether 0 is NONE."""
    match value:
        case View():
            own = value._layout
            return shortened(_plain_text(own, plain_value(own, value._data, value._at)))
        case bool():
            return "yes" if value else "no"
        case Nodes():
            return node_set(value)
        case NamedValue():
            return value.names[value]
    return "none" if is_node and value == 0 else shortened(str(value))


def _plain_text(layout: Any, value: Any) -> str:
    match layout:
        case IntegerLayout():
            return number_text(layout, value)
        case ArrayLayout(item, _, per_node):
            listed = value.values() if per_node else value
            return "[" + ", ".join(_plain_text(item, each) for each in listed) + "]"
        case StructLayout(kind="struct"):
            parts = [f"{name} {_plain_text(layout.fields[name], value[name])}" for name in value]
            return "(" + ", ".join(parts) + ")"
    items = layout.fields["items"].item
    return "[" + ", ".join(_plain_text(items, each) for each in value) + "]" if value else "empty"


def shortened(text: str) -> str:
    """The text, cut off where it gets too long."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def read(node: ast.Attribute | ast.Subscript, frame: Frame) -> str:
    """The value at a path, as text."""
    base = frame.evaluate(node.value)
    if is_constants(base) and node.attr in base._fields:
        shown = show(base)[node.attr]
        return value_text(shown) if isinstance(shown, bool) else as_text(shown)
    return value_text(frame.evaluate(node), is_node(node, frame, {}))


def is_constants(value: Any) -> bool:
    """Is this the tuple of a model's constants?"""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_node(node: ast.expr, frame: Frame, domains: dict[str, Domain]) -> bool:
    """Is the value a node? A set of nodes and a name say themselves what they are."""
    match node:
        case ast.Attribute(base, name):
            fields = getattr(getattr(frame.evaluate(base), "_layout", None), "fields", {})
            return getattr(fields.get(name), "kind", "") == "node"
        case ast.Subscript(base):
            item = getattr(getattr(frame.evaluate(base), "_layout", None), "item", None)
            return getattr(item, "kind", "") == "node"
        case ast.Name(name):
            stands_for = frame.meant(name)
            if stands_for is not None:
                return is_node(*stands_for, domains)
            return name not in frame.loops and isinstance(domains.get(name), Node)
        case ast.Call():
            inside = inlined(node, frame)
            return inside is not None and is_node(*inside, domains)
    return False


# --- Expressions -----------------------------------------------------------------------------


def called(node: ast.Call, frame: Frame) -> Any:
    """The function or class that a call names; None if it is not called by a plain name."""
    if not isinstance(node.func, ast.Name):
        return None
    return frame.look_up(node.func.id)


def inlined(node: ast.Call, frame: Frame) -> tuple[ast.expr, Frame] | None:
    """The expression that the called function returns, if it does nothing else, and its frame."""
    function = called(node, frame)
    if not is_of_protocol(function):
        return None
    try:
        inside = frame.called(function, node)
    except (LabError, CannotFollow):
        return None
    return None if inside.source.expression is None else (inside.source.expression, inside)


def text_of(node: ast.expr, frame: Frame) -> str:
    """The text of an expression; "" for the state and the constants themselves."""
    shown = _as_read(node, frame)
    return "" if shown is None else ast.unparse(shown)


def _as_read(node: ast.expr, frame: Frame) -> ast.expr | None:
    """The expression over the state, the constants and the action's parameters; None for the state
    and the constants themselves."""
    match node:
        case ast.Name(name) if name in frame.loops:
            # A loop variable could be mistaken for a name of the caller that is the same.
            return ast.Name(value_text(frame.values[name])) if name in frame.names else node
        case ast.Name(name) if name in frame.hidden:
            return None
        case ast.Name(name):
            stands_for = frame.meant(name)
            shown = _as_read(*stands_for) if stands_for else node
            is_given = name in frame.given
            return shown if is_given or len(ast.unparse(shown)) <= LONG else node
        case ast.Attribute(base, name):
            before = _as_read(base, frame)
            return ast.Attribute(before, name) if before else ast.Name(name)
        case ast.Subscript(base, index):
            shown = _as_read(index, frame)
            if len(ast.unparse(shown)) > _LONG_INDEX:
                shown = ast.Name(value_text(frame.evaluate(index)))
            return ast.Subscript(_as_read(base, frame), shown)
        case ast.BinOp(left, op, right):
            return ast.BinOp(_as_read(left, frame), op, _as_read(right, frame))
        case ast.Call(function, given, named):
            inside = inlined(node, frame)
            if inside is not None and is_path(inside[0]):
                return _as_read(*inside)
            shown = [each for each in (_as_read(one, frame) for one in given) if each]
            named = [ast.keyword(each.arg, _as_read(each.value, frame)) for each in named]
            function = _as_read(function, frame)
            return ast.Call(function, shown, named) if shown or named else function
    return node


def is_path(node: ast.expr | None) -> bool:
    """Is it a name followed by fields and indices?"""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name)


def is_long(text: str) -> bool:
    """Is the text of a call too long to read beside its value?"""
    return len(text) > _LONG_CALL


def names_constant(name: str, frame: Frame) -> bool:
    """Is it a name of the module, such as NONE, rather than of the function?"""
    return (
        name not in frame.loops
        and name not in frame.source.parameters
        and frame.source.times_assigned[name] == 0
        and name not in frame.given
    )
