"""Rejects Python that actions can't use, with a readable error, before Numba sees it.

An action and all that it calls are compiled: they use numbers and the fields of the state, with if,
for, while and return. Anything else is refused here, with the function's name, the line, and what
to do instead.
"""

import ast
import inspect
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.language import containers
from protocol_lab.language.arithmetic import HIGH, LOW
from protocol_lab.language.evaluation import NO_ISINSTANCE
from protocol_lab.language.ineffective import refuse_ineffective
from protocol_lab.language.source_code import names_read
from protocol_lab.language.unassigned import refuse_unassigned
from protocol_lab.spec.layout import Struct

_IMPORT = "an import", "import it at the top of the module"
_TRY = "a try", "ask beforehand, in a guard"
_WITH = "a with", "leave it out: an action changes the state and nothing else"
_FUNCTION = "a function inside a function", "write it beside this one, and give it what it needs"
_CLASS = "a class inside a function", "declare it at the top of the module, as a Struct"
_AWAIT = "an async or await", "leave it out: a step is taken at once"
_GLOBAL = "a global name", "keep what changes in the state"
_RAISE = "a raise", "return the reason, as guards do"
_MATCH = "a match", "use if and elif"
_DELETE = "a del", "set the field to 0, or use the helpers of its container"
_DIVISION = "a division into fractions (/)", "use //"

_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    **dict.fromkeys((ast.Import, ast.ImportFrom), _IMPORT),
    **dict.fromkeys((ast.Try, ast.TryStar), _TRY),
    ast.With: _WITH,
    **dict.fromkeys((ast.FunctionDef, ast.Lambda), _FUNCTION),
    ast.ClassDef: _CLASS,
    **dict.fromkeys((ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await), _AWAIT),
    **dict.fromkeys((ast.Global, ast.Nonlocal), _GLOBAL),
    ast.Raise: _RAISE,
    ast.Match: _MATCH,
    ast.Delete: _DELETE,
    ast.Div: _DIVISION,
}

_REFUSED_CALLS = {
    "divmod": "use // and %",
    "pow": "use **",
    "float": "numbers are whole",
    "round": "numbers are whole",
    "isinstance": NO_ISINSTANCE,
}
"""Python's own functions that compute something different when compiled, and what to do instead."""


def refuse(function: Callable, tree: ast.FunctionDef) -> None:
    """Raise LabError if the function has something that can't be compiled, or not safely."""
    for node in ast.walk(tree):
        told = _REFUSED.get(type(getattr(node, "op", node)))
        match node:
            case ast.Call(func=ast.Name(name)) if name in _REFUSED_CALLS:
                told = f"{name}()", _REFUSED_CALLS[name]
            case ast.FormattedValue() if node.format_spec is not None or node.conversion != -1:
                told = "a format in an f-string", "write the value alone, as in f'{s.n}'"
            case ast.Constant(float() | complex()):
                told = f"the number {node.value}", "numbers are whole"
            case ast.Constant(int()) if node.value > HIGH:
                told = f"the number {node.value}", "it needs more than 64 bits"
        if node is not tree and told is not None:
            what, instead = told
            raise LabError(
                f"{function.__qualname__} can't be compiled with {what} (line {node.lineno}):"
                f" {instead}."
            )
    for name, value in names_read(function).items():
        if isinstance(value, float) or (isinstance(value, int) and not LOW <= value <= HIGH):
            raise LabError(
                f"{function.__qualname__} can't be compiled with {name}, which is {value}: use a"
                " whole number of 64 bits."
            )
    refuse_ineffective(function, tree)
    _refuse_calls_through_modules(function, tree)
    _refuse_records_of_an_earlier_turn(function, tree)
    refuse_unassigned(function, tree)


def _refuse_calls_through_modules(function: Callable, tree: ast.FunctionDef) -> None:
    """A call like module.helper(s) would escape the hash of all that can be reached."""
    values = names_read(function)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = values.get(node.value.id)
            if inspect.ismodule(module) and inspect.isfunction(getattr(module, node.attr, None)):
                raise LabError(
                    f"{function.__qualname__} uses {node.value.id}.{node.attr}: import it by its"
                    f" name, `from {module.__name__} import {node.attr}`."
                )


def _refuse_records_of_an_earlier_turn(function: Callable, tree: ast.FunctionDef) -> None:
    """`before = note` in a loop that makes a new `note` in each turn.

    In compiled code a record that is made in a loop has the same place in every turn, so that
    `before` would become the new one.
    """
    values = names_read(function)
    for loop in ast.walk(tree):
        if not isinstance(loop, ast.For | ast.While):
            continue
        assigned = [each for each in ast.walk(loop) if isinstance(each, ast.Assign)]
        made = {
            target.id
            for each in assigned
            for target in each.targets
            if isinstance(target, ast.Name) and _makes_record(each.value, values)
        }
        for each in assigned:
            if kept := sorted(_passed_on(each.value) & made):
                raise LabError(
                    f"{function.__qualname__} can't be compiled with a second name for {kept[0]},"
                    f" which is made in each turn of a loop (line {each.lineno}): keep its fields,"
                    " or store it in the state."
                )


def _makes_record(value: ast.expr, values: dict[str, Any]) -> bool:
    """Is it, or may it be, a new record?"""
    if isinstance(value, ast.IfExp):
        return _makes_record(value.body, values) or _makes_record(value.orelse, values)
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    called = values.get(value.func.id)
    is_struct = isinstance(called, type) and issubclass(called, Struct)
    return is_struct or called is containers.pop_first


def _passed_on(value: ast.expr) -> set[str]:
    """The variables whose values an expression gives as they are."""
    match value:
        case ast.Name(name):
            return {name}
        case ast.IfExp(_, body, orelse):
            return _passed_on(body) | _passed_on(orelse)
        case ast.Tuple(parts):
            return set().union(*map(_passed_on, parts))
    return set()
