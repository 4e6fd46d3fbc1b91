"""Conditions typed by a learner: Python expressions over the state `s` and the constants `c`.

    s.quorum_state.leader == 2 and size(s.quorum_state.isr) == 1
    all(s.replica_log[r].end_offset <= 1 for r in range(1, c.replicas + 1))

It may use the names of the spec's modules, the helpers for sets of nodes, the functions of Python
in `BUILT_IN`, and the kinds of expressions in `_ALLOWED`: numbers, names, comparisons, fields,
items, calls by name, and all, any, sum, min and max over a generator. It can't assign, print,
import or call a method. It is compiled like an action.
"""

import ast
import builtins
import sys
from collections.abc import Callable
from typing import Any

import protocol_lab
from protocol_lab.errors import EvaluationError, LabError, SpecError, quoted, shortened
from protocol_lab.model.evaluation import CONDITION
from protocol_lab.model.layout import IntegerLayout, is_struct
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import enabled, initial, is_true
from protocol_lab.reader.source_code import is_plain
from protocol_lab.reader.unsupported_syntax import CALLED, EXPRESSIONS, kind_of_syntax

BUILT_IN = CALLED | {"bool", "int"}
"""Python's own functions that a condition may call."""

_ALLOWED = (
    *(ast.Expression, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
    *EXPRESSIONS,
)
"""The nodes that a condition's syntax tree may have."""


def predicate(model: Model, condition: str | Callable[..., Any]) -> Callable[..., bool]:
    """A function (s, c) for an expression, or the given function itself; tried on one state.

    Raises LabError with one sentence if it is no expression, uses what a condition can't, or fails.
    """
    function = _from_text(model, condition) if isinstance(condition, str) else condition
    shown = condition if isinstance(condition, str) else function.__name__
    try:
        row = next(initial(model), None)
        if row is not None:  # else the search reports that there is no initial state
            is_true(model, row.row, function)
    except EvaluationError:
        pass  # the search meets it as well, and reports where
    except SpecError as error:
        raise LabError(
            f"The condition {quoted(shown)} fails on the initial state: {shortened(error)}"
        ) from None
    return function


def example(model: Model) -> str:
    """A condition that could be typed for this spec: its first plain number."""
    for name, layout in model.layout.fields.items():
        if isinstance(layout, IntegerLayout):
            return f"s.{name} == 1"
    return "True"


def _from_text(model: Model, text: str) -> Callable[..., bool]:
    scope = names_in_scope(model)
    source = f"def predicate(s, c):\n    return bool(\n{text.strip()}\n)\n"  # may end in a comment
    try:
        _refuse(model, ast.parse(text.strip(), mode="eval"), scope)
        exec(compile(source, CONDITION, "exec"), scope)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        cause = shortened(getattr(error, "msg", error))
        raise LabError(
            f"{quoted(text)} is not a Python expression ({cause}); write one over s and c, such as"
            f' "{example(model)}".'
        ) from None
    function = scope["predicate"]
    function.lab_source = source
    return function


def _refuse(model: Model, tree: ast.Expression, scope: dict[str, Any]) -> None:
    """Raise LabError for what a condition can't use."""
    own = {"s", "c", *(node.id for node in ast.walk(tree) if _is_bound(node))}
    for node in ast.walk(tree):
        what = None
        match node:
            case ast.Call(func=ast.Attribute() | ast.Subscript()):
                what = f"the call of {quoted(ast.unparse(node.func))}: call functions by name"
            case ast.Call(func=ast.Name(name)) if name in own:
                what = f"the call of {quoted(name)}, which is not a function"
            case ast.Attribute(attr=name) if name.startswith("_"):
                what = f"the name {quoted(name)}, which begins with an underscore"
            case ast.Name(name) if name.startswith("_"):
                what = f"the name {quoted(name)}, which begins with an underscore"
            case ast.Name(name) if not (name in own or name in scope or name in BUILT_IN):
                what = f"the name {quoted(name)}, which neither the spec nor the kit has"
            case ast.Constant(value) if not isinstance(value, int | str):
                what = f"the value {quoted(value)}: a state holds whole numbers and names"
            case ast.comprehension(is_async=1):
                what = "async"
            case _ if not isinstance(node, _ALLOWED):
                what = kind_of_syntax(node)
        if what is not None:
            raise LabError(
                f"A condition can't use {what}; write an expression over s and c, such as"
                f' "{example(model)}".'
            )


def _is_bound(node: ast.AST) -> bool:
    """Is it a name that a generator expression binds?"""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def names_in_scope(model: Model) -> dict[str, Any]:
    """The names that an expression may use: the helpers for sets of nodes, and the spec's own."""
    scope: dict[str, Any] = {}
    functions = [action.function for action in model.spec.actions + model.spec.inits]
    functions += [each.function for each in model.spec.invariants]
    for module in dict.fromkeys(["protocol_lab", *(each.__module__ for each in functions)]):
        values = vars(sys.modules.get(module, protocol_lab)).items()
        scope |= {
            name: value
            for name, value in values
            if is_plain(value)
            or isinstance(value, int | str)
            or is_struct(value)
            or value is enabled
        }
    known = {each: getattr(builtins, each) for each in BUILT_IN}
    return {**scope, "__name__": __name__, "__builtins__": known}
