"""Base class of everything that a spec registers: a plain function, its name and its docstring."""

from collections.abc import Callable
from typing import Any


class Declared:
    """A function that is registered with a spec, under its name."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def doc(self) -> str:
        return (self.function.__doc__ or "").strip()
