"""The plain functions that a function reaches, and a hash that changes when one is edited.

The kernel cache can't see an edit in a called function. So `source_hash` covers every function that
can be reached, which of them each name stands for, and every constant that they read.
"""

import hashlib
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from enum import Enum, EnumType
from functools import cache
from typing import Any

from protocol_lab.model.evaluation import is_of_numpy
from protocol_lab.model.transitions import enabled
from protocol_lab.reader.possible_steps import reached
from protocol_lab.reader.source_code import is_plain, names_read, shape_of


def reachable(functions: list[Callable]) -> list[Callable]:
    """These functions and all plain functions that they call, directly or not."""
    found: dict[int, Callable] = {}
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if id(function) in found:
            continue
        found[id(function)] = function
        names = names_read(function)
        for each in names.values():
            if is_plain(each):
                waiting.append(each)
            elif each is enabled:
                waiting += reached(names)
    return list(found.values())


def source_hash(functions: list[Callable], *more: Any) -> str:
    """A hash of all reachable code, the constants it reads, and whatever else matters.

    The order of the functions counts: of two bounds one is the lower.
    """
    found = reachable(functions)
    often = Counter(each.__name__ for each in found)
    ambiguous = {name for name, count in often.items() if count > 1}
    parts = sorted(_as_text(each, ambiguous) for each in found)
    in_order = [_as_text(each) for each in functions] if len(functions) > 1 else []
    return short_hash(*parts, *in_order, *map(repr, more))


def _as_text(function: Callable, ambiguous: Collection[str] = (), within: tuple = ()) -> str:
    """A function's own code, its parameters' defaults, and the values that it reads.

    ambiguous: names that several functions have; within: what the function was read by.
    """
    fields = fields_read(function.__code__)

    def read(name: str, value: Any, within: tuple) -> Iterator[str]:
        """What compiled code contains of a value: of a function or class, which one it is, where
        its name alone does not tell."""
        match value:
            case int() | str() | float() | tuple() | Enum():
                yield f"{name}={value!r}"
            case EnumType():
                yield f"{name}={[*value]!r}"
            case _ if any(value is each for each in within):
                pass
            case types.FunctionType():
                if value.__name__ != name or name in ambiguous:
                    yield f"{name} is {_as_text(value, ambiguous, (*within, value))}"
            case type():
                if value.__name__ != name:
                    yield f"{name} is {value.__qualname__}"
            case types.ModuleType():
                for field in sorted(fields & vars(value).keys()):
                    yield from read(f"{name}.{field}", vars(value)[field], (*within, value))
            case _ if is_of_numpy(value):
                yield f"{name}={value.dtype} {value.shape} {value.tobytes().hex()}"

    values = [
        text
        for name, value in sorted(names_read(function).items())
        for text in read(name, value, (*within, function))
    ]
    values += [f"defaults={function.__defaults__!r}"] * bool(function.__defaults__)
    return f"{function.__qualname__} {shape_of(function.__code__)} {values}"


@cache
def fields_read(code: types.CodeType) -> set[str]:
    """The names of the attributes that a function reads, and a few more (an over-approximation)."""
    nested = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return {*code.co_names}.union(*map(fields_read, nested))


def short_hash(*parts: str) -> str:
    """A hash of texts that is short enough for a folder's name."""
    digest = hashlib.sha256()
    for each in parts:
        digest.update(each.encode())
    return digest.hexdigest()[:24]
