"""The difference between two functions, with what a fix changed marked.

Signatures and docstrings are left out, since they differ even where functions do the same.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from difflib import unified_diff

from protocol_lab.errors import LabError


class Diff(str):
    """Two functions as one text: a removed line begins with -, an added one with +."""

    def _repr_markdown_(self) -> str:
        return f"```diff\n{self}\n```"

    __repr__ = str.__str__


def diff_of(before: Callable, after: Callable) -> Diff:
    """The difference of two functions' bodies. Raises LabError if one of them can't be read."""
    old, new = _body(before), _body(after)
    whole = max(len(old), len(new))
    lines = unified_diff(old, new, _name(before), _name(after), lineterm="", n=whole)
    return Diff("\n".join(each for each in lines if not each.startswith("@@")))


def _body(function: Callable) -> list[str]:
    """The lines of a function after its docstring."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise LabError(f"The source of {function!r} can't be read; give a function.") from None
    declared = ast.parse(source).body[0]
    first = declared.body[1 if ast.get_docstring(declared) else 0]
    return textwrap.dedent("\n".join(source.splitlines()[first.lineno - 1 :])).splitlines()


def _name(function: Callable) -> str:
    return f"{function.__module__.replace('__main__', 'this notebook')}: {function.__name__}"
