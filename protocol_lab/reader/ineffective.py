"""Rejects code without effect that Python accepts: comparisons with None, unused results.

    s.holder is not None       is always true: nobody is NONE, which is a number
    with_node(s.holds, 1)      gives another set, which is not used: s.holds stays as it is

A guard of the first kind may switch an action off, and then every invariant holds.
"""

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import shortened
from protocol_lab.model import containers, node_sets
from protocol_lab.reader.reading import names_assigned, reading
from protocol_lab.reader.source_code import code_text, error_at, names_read

_ONLY_RETURN = (
    *(
        each
        for each in vars(node_sets).values()
        if inspect.isfunction(each) and each is not node_sets.refuse_negative
    ),
    *(each for each in containers.ONLY_LOOK if each is not containers.overflow),
    *(abs, all, any, enumerate, len, max, min, range, reversed, sorted, sum, zip),
)
"""The functions that change nothing: a call whose result is not used has no effect."""

_CHANGED = {
    node_sets.with_node: "the set itself stays as it is: write {0} = with_node({0}, ...)",
    node_sets.without_node: "the set itself stays as it is: write {0} = without_node({0}, ...)",
}
"""What to write instead, where that is known."""


def refuse_ineffective(function: Callable) -> None:
    """Raise LabError if the function has such code."""
    tree = reading(function).apart
    values, maybe_none = names_read(function), _maybe_none(function, tree)
    for node in ast.walk(tree):
        told = None
        if isinstance(node, ast.Compare):
            told = _of_comparison(node, values, maybe_none)
        elif isinstance(node, ast.Expr):
            told = _of_statement(node.value, values)
        if told is not None:
            raise error_at(function, node, told)


# --- Comparisons ---------------------------------------------------------------------------------


def _of_comparison(node: ast.Compare, values: dict[str, Any], maybe_none: set[str]) -> str | None:
    sides = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if not isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            continue
        other = right if _is_none(left) else left
        sign = "==" if isinstance(op, ast.Is | ast.Eq) else "!="
        if _is_none(left) or _is_none(right):
            if _is_never_none(other, values, maybe_none):
                shown = shortened(code_text(other), 60)
                return (
                    f"no value of a state is None: write {shown} {sign} NONE for a node, and"
                    " compare a number with 0 or -1"
                )
        elif isinstance(op, ast.Is | ast.IsNot):
            return f"this does not compare values: write {sign}"
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_never_none(node: ast.expr, values: dict[str, Any], maybe_none: set[str]) -> bool:
    """Is it an expression that can't be None? Some local variables and results can."""
    match node:
        case ast.Name(name):
            return name not in maybe_none
        case ast.Call(ast.Name(name)):
            called = values.get(name)
            return isinstance(called, type) or called in (*_ONLY_RETURN, containers.pop_first)
    return not (_is_none(node) or isinstance(node, ast.Call | ast.IfExp | ast.Tuple))


def _maybe_none(function: Callable, tree: ast.FunctionDef) -> set[str]:
    """The local variables that may really be None: those assigned None, or a call's result."""
    given = inspect.signature(function).parameters.values()
    found = {each.name for each in given if each.default is None}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(value=value) if not _is_never_none(value, {}, found):
                found |= {*names_assigned(node)}
    return found


# --- Statements ----------------------------------------------------------------------------------


def _of_statement(value: ast.expr, values: dict[str, Any]) -> str | None:
    if isinstance(value, ast.Constant) or not only_returns(value, values):
        return None
    match value:
        case ast.Call(ast.Name(name), [nodes, *_]) if values.get(name) in _CHANGED:
            return _CHANGED[values[name]].format(code_text(nodes))
        case ast.Compare(left, [ast.Eq()], [right]):
            assigned = f"{code_text(left)} = {code_text(right)}"
            return f"this only compares: write {assigned} to assign, or use the result"
    return "this changes nothing, and its value is not used: assign or return it, or leave it out"


def only_returns(value: ast.expr, values: dict[str, Any]) -> bool:
    """Is every function that the expression calls known to change nothing?"""
    for node in ast.walk(value):
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if not isinstance(node, ast.Call):
            continue
        if not isinstance(node.func, ast.Name):
            return False
        called = values.get(node.func.id, getattr(builtins, node.func.id, None))
        if not isinstance(called, type) and called not in _ONLY_RETURN:
            return False
    return True
