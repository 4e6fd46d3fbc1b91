"""Rejects Python that actions can't use, with a readable error, before Numba sees it.

An action and all that it calls are compiled: they use numbers and the fields of the state, with if,
for, while and return. Anything else is refused here, with the function's name, the line, and what
to do instead.
"""

import ast
import inspect
from collections.abc import Callable

from protocol_lab.errors import LabError
from protocol_lab.language.arithmetic import HIGH, LOW
from protocol_lab.language.source_code import names_read

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
}
"""Python's own functions that compute something different when compiled, and what to do instead."""


def refuse(function: Callable, tree: ast.FunctionDef) -> None:
    """Raise LabError if the function has something that can't be compiled, or not safely."""
    for node in ast.walk(tree):
        told = _REFUSED.get(type(getattr(node, "op", node)))
        match node:
            case ast.Call(func=ast.Name(name)) if name in _REFUSED_CALLS:
                told = f"{name}()", _REFUSED_CALLS[name]
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
    _refuse_calls_through_modules(function, tree)


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
