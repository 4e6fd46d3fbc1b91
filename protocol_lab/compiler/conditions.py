"""Conditions that a learner types: a Python expression over the state `s` and the constants `c`.

    s.quorum_state.leader == 2 and size(s.quorum_state.isr) == 1
    all(s.replica_log[r].end_offset <= 1 for r in range(1, c.replicas + 1))

It may use every name of the spec's modules and the helpers for sets of nodes, and is compiled like
an action.
"""

import ast
import sys
from collections.abc import Callable
from typing import Any

import protocol_lab
from protocol_lab.compiler.dependencies import is_plain
from protocol_lab.errors import LabError
from protocol_lab.semantics.transitions import initial
from protocol_lab.spec.layout import IntegerLayout
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import view


def predicate(model: Model, condition: str | Callable[..., Any]) -> Callable[..., bool]:
    """A function (s, c) for an expression, or the given function itself; tried on one state.

    Raises LabError with one sentence if it is no expression, uses an unknown name or fails.
    """
    function = _from_text(model, condition) if isinstance(condition, str) else condition
    shown = condition if isinstance(condition, str) else function.__name__
    row = next(initial(model)).row
    try:
        function(view(model.layout, row), model.constants)
    except Exception as error:
        raise LabError(f"The condition {shown!r} fails on the initial state: {error}.") from None
    return function


def example(model: Model) -> str:
    """A condition that could be typed for this spec: its first plain number."""
    for name, layout in model.layout.fields.items():
        if isinstance(layout, IntegerLayout):
            return f"s.{name} == 1"
    return "True"


def _from_text(model: Model, text: str) -> Callable[..., bool]:
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        cause = getattr(error, "msg", error)
        raise LabError(
            f"{text!r} is no Python expression ({cause}); write one over s and c, such as"
            f' "{example(model)}".'
        ) from None
    source = f"def predicate(s, c):\n    return bool(\n{text.strip()}\n)\n"  # may end in a comment
    scope = names_in_scope(model)
    exec(compile(source, "<condition>", "exec"), scope)
    function = scope["predicate"]
    function.lab_source = source
    return function


def names_in_scope(model: Model) -> dict[str, Any]:
    """What an expression may use: the helpers for sets of nodes, and the spec's own names."""
    scope: dict[str, Any] = {}
    functions = [action.function for action in model.spec.actions + model.spec.inits]
    functions += [each.function for each in model.spec.invariants]
    for module in dict.fromkeys(["protocol_lab", *(each.__module__ for each in functions)]):
        values = vars(sys.modules.get(module, protocol_lab)).items()
        scope |= {
            name: value
            for name, value in values
            if is_plain(value) or isinstance(value, int | str | type)
        }
    return {**scope, "__name__": __name__}
