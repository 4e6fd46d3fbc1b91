"""Writes values of the state, and the expressions that read them, as text for people.

    s.replica_log[follower].end_offset     is written   replica_log[follower].end_offset
    mine.end_offset                                     the same, if `mine` stands for that log
    c.max_records                                       max_records
    s.replica_state[leader].isr                         {1, 3} is its value, and none no node

Local names, and the parameters of called functions, are replaced by what they stand for, so that
every text is about the state, the constants and the action's own parameters.
"""

import ast
import types
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.explain.interpreter import CannotFollow, Frame
from protocol_lab.model.constants import as_text, show
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, Named, Node, Struct, StructLayout
from protocol_lab.model.parameters import Domain, Subset, TrueOrFalse
from protocol_lab.model.state_view import ArrayView, StructView, View, plain_value

LONG = 60
"""Values longer than this many characters are cut off, and few other texts are longer."""

_LONG_INDEX, _LONG_CALL = 16, 45

NODE, NODES = IntegerLayout("int8", kind="node"), IntegerLayout("int32", kind="nodes")

_HELPERS_OF_SETS = ("with_node", "without_node", "only", "nodes_up_to")

_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}


# --- Values ----------------------------------------------------------------------------------


def number_text(layout: IntegerLayout, value: Any) -> str:
    """A number as text, by its layout: a set of nodes as {1, 3}, NONE as none, a Boolean as yes or
    no."""
    match layout.kind:
        case "nodes":
            return "{" + ", ".join(str(node) for node in sorted(value)) + "}"
        case "bool":
            return "yes" if value else "no"
        case "node" if value == 0:
            return "none"
    return str(value)


def value_text(value: Any, layout: IntegerLayout | None = None) -> str:
    """The value of an expression as text; `layout` says if a number is a node, a set or a name."""
    if isinstance(value, View):
        own = value._layout
        return shortened(_plain_text(own, plain_value(own, value._data, value._at)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and layout is not None:
        if layout.kind == "named" and 0 <= value < len(layout.names):
            return layout.names[value]
        if layout.kind == "nodes":
            value = {bit for bit in range(value.bit_length()) if value >> bit & 1}
        return number_text(layout, value)
    return shortened(str(value))


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
    if isinstance(node, ast.Subscript):
        value = base[frame.evaluate(node.slice)]
        return value_text(value, base._layout.item if isinstance(base, ArrayView) else None)
    if isinstance(base, StructView):
        return value_text(getattr(base, node.attr), base._layout.fields.get(node.attr))
    if is_constants(base) and node.attr in base._fields:
        shown = show(base)[node.attr]
        return value_text(shown) if isinstance(shown, bool) else as_text(shown)
    return value_text(getattr(base, node.attr))


def is_constants(value: Any) -> bool:
    """Is this the tuple of a model's constants?"""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def kind_of(node: ast.expr, frame: Frame, domains: dict[str, Domain]) -> IntegerLayout | None:
    """The layout of an expression's value, as far as it is known without a declaration."""
    match node:
        case ast.Attribute(value=base, attr=name):
            view = frame.evaluate(base)
            return view._layout.fields.get(name) if isinstance(view, StructView) else None
        case ast.Subscript(value=base):
            view = frame.evaluate(base)
            return view._layout.item if isinstance(view, ArrayView) else None
        case ast.Name(id=name):
            return _kind_of_name(name, frame, domains)
        case ast.BinOp(left=left, right=right):
            kind = kind_of(left, frame, domains) or kind_of(right, frame, domains)
            return kind if kind is not None and kind.kind == "nodes" else None
        case ast.Call(func=ast.Name(id=name)) if name in _HELPERS_OF_SETS:
            return NODES
        case ast.Call():
            inside = inlined(node, frame)
            return kind_of(*inside, domains) if inside else None
    return None


def _kind_of_name(name: str, frame: Frame, domains: dict[str, Domain]) -> IntegerLayout | None:
    if name in frame.loops:
        return None
    if name in frame.given:
        return kind_of(*frame.given[name], domains)
    alias = frame.alias(name)
    if alias is not None:
        return kind_of(alias, frame, domains)
    match domains.get(name):
        case Node():
            return NODE
        case Subset():
            return NODES
        case Named(names):
            return IntegerLayout("int8", kind="named", names=names)
        case TrueOrFalse():
            return IntegerLayout("uint8", kind="bool")
    return None


# --- Expressions -----------------------------------------------------------------------------


def called(node: ast.Call, frame: Frame) -> Any:
    """The function or class that a call names; None if it is not called by a plain name."""
    if not isinstance(node.func, ast.Name):
        return None
    return frame.look_up(node.func.id)


def is_of_protocol(function: Any) -> bool:
    """Is it a plain function of a spec or a notebook, rather than a helper of the kit?"""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, types.FunctionType) and not module.startswith("protocol_lab.")


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


def is_struct(called: Any) -> bool:
    """Is it a class of declared records?"""
    return isinstance(called, type) and issubclass(called, Struct)


def text_of(node: ast.expr, frame: Frame) -> str:
    """The text of an expression; "" for the state and the constants themselves."""
    match node:
        case ast.Name(id=name):
            return _name(name, frame)
        case ast.Attribute(value=base, attr=name):
            before = text_of(base, frame)
            return f"{before}.{name}" if before else name
        case ast.Subscript(value=base, slice=index):
            return f"{text_of(base, frame)}[{_index(index, frame)}]"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return f"{_part(left, frame)} {_OPERATORS[type(op)]} {_part(right, frame)}"
        case ast.Call():
            return _call(node, frame)
    return ast.unparse(node)


def _name(name: str, frame: Frame) -> str:
    if name in frame.loops:
        # A loop variable could be mistaken for a name of the caller that is the same.
        return value_text(frame.values[name]) if name in frame.names else name
    if name in frame.given:
        return text_of(*frame.given[name])
    if name in frame.hidden:
        return ""
    alias = frame.alias(name)
    text = name if alias is None else text_of(alias, frame)
    return text if len(text) <= LONG else name


def _index(node: ast.expr, frame: Frame) -> str:
    text = text_of(node, frame)
    return text if len(text) <= _LONG_INDEX else value_text(frame.evaluate(node))


def _part(node: ast.expr, frame: Frame) -> str:
    text = text_of(node, frame)
    return f"({text})" if " " in text and not text.endswith((")", "]")) else text


def _call(node: ast.Call, frame: Frame) -> str:
    inside = inlined(node, frame)
    if inside is not None and is_path(inside[0]):
        return text_of(*inside)
    arguments = [text_of(each, frame) for each in node.args]
    arguments += [f"{each.arg}={text_of(each.value, frame)}" for each in node.keywords]
    listed = ", ".join(each for each in arguments if each)
    return f"{text_of(node.func, frame)}({listed})" if listed else text_of(node.func, frame)


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
