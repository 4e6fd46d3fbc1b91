"""The plain functions that a function reaches, and a hash that changes when one is edited.

The kernel cache can't see an edit in a called function. So `source_hash` covers every function that
can be reached, and every constant that they read.
"""

import types
from collections.abc import Callable
from typing import Any

from protocol_lab.language import containers, node_sets
from protocol_lab.language.hashing import short_hash
from protocol_lab.language.source_code import names_read, shape_of

_COMPILED_APART = (*containers.COMPILED_APART, *node_sets.COMPILED_APART)


def is_plain(value: Any) -> bool:
    """Is it a plain Python function, to be compiled as the actions are?"""
    return isinstance(value, types.FunctionType) and value not in _COMPILED_APART


def reachable(functions: list[Callable]) -> list[Callable]:
    """These functions and all plain functions that they call, directly or not."""
    found: dict[int, Callable] = {}
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if id(function) in found:
            continue
        found[id(function)] = function
        waiting += [each for each in names_read(function).values() if is_plain(each)]
    return list(found.values())


def source_hash(functions: list[Callable], *more: Any) -> str:
    """A hash of all reachable code, the constants it reads, and whatever else matters."""
    parts = sorted(_as_text(each) for each in reachable(functions))
    return short_hash(*parts, *map(repr, more))


def _as_text(function: Callable) -> str:
    """A function's own code, and the numbers and texts that it reads."""
    values = [
        f"{name}={value!r}"
        for name, value in sorted(names_read(function).items())
        if isinstance(value, int | str | float | tuple)
    ]
    return f"{function.__qualname__} {shape_of(function.__code__)} {values}"


def fields_read(code: types.CodeType) -> set[str]:
    """The names of the attributes that a function reads, and a few more (an over-approximation)."""
    nested = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return {*code.co_names}.union(*map(fields_read, nested))
