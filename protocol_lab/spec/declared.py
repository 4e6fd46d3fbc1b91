"""Base class of everything that a spec registers: a plain function, its name and its docstring."""

import inspect
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import LabError


class Declared:
    """A function that is registered with a spec, under its name."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def doc(self) -> str:
        return (self.function.__doc__ or "").strip()


def expect_plain(function: Any) -> None:
    """Raise LabError unless it is a plain function, whose code can be read and compiled."""
    name = getattr(function, "__name__", repr(function))
    if not inspect.isfunction(function):
        raise LabError(
            f"{name} is a {type(function).__name__} and no plain function: let no other decorator"
            " stand below that of the spec."
        )
    for kind, found in (
        ("async", inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)),
        ("a generator, with yield", inspect.isgeneratorfunction(function)),
    ):
        if found:
            raise LabError(f"{name} is {kind}: write a plain function, with return.")
