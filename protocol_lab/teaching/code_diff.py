"""The difference between two functions, with what a fix changed marked.

A removed line begins with −, an added one with +, so that colour is not needed to distinguish them.
Signatures and docstrings are left out, since they differ even where functions do the same.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape

from protocol_lab.drawing import palette
from protocol_lab.errors import LabError

_LOOK = {
    "- ": ("−", f"background: {palette.BAD_PAPER}; color: {palette.BAD}"),
    "+ ": ("+", f"background: #e4f3ea; color: {palette.GOOD}"),
    "  ": (" ", ""),
}


@dataclass(frozen=True)
class Diff:
    """Two functions as one text. lines: (kind, text), the kind being "- ", "+ " or "  "."""

    before: str
    after: str
    lines: list[tuple[str, str]]

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<div style="{_LOOK[kind][1]}">{_LOOK[kind][0]} {escape(text) or " "}</div>'
            for kind, text in self.lines
        )
        head = (
            f'<div style="color: {palette.BAD}">− {escape(self.before)}</div>'
            f'<div style="color: {palette.GOOD}">+ {escape(self.after)}</div>'
        )
        style = (
            f"font: 12.5px/1.5 monospace; white-space: pre; overflow-x: auto; color: {palette.INK};"
            f" background: {palette.PAPER}; border: 1px solid {palette.LINE}; border-radius: 8px;"
            " padding: 8px 12px; margin: 6px 0"
        )
        rule = f"border-bottom: 1px solid {palette.LINE}; margin: 6px 0"
        return f'<div style="{style}">{head}<div style="{rule}"></div>{rows}</div>'

    def __repr__(self) -> str:
        head = [f"--- {self.before}", f"+++ {self.after}"]
        return "\n".join([*head, *(f"{kind}{text}".rstrip() for kind, text in self.lines)])


def diff_of(before: Callable, after: Callable) -> Diff:
    """The difference of two functions' bodies. Raises LabError if one of them can't be read."""
    old, new = _body(before), _body(after)
    lines: list[tuple[str, str]] = []
    for kind, i, end_i, j, end_j in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [("  ", line) for line in old[i:end_i]]
        else:
            lines += [("- ", line) for line in old[i:end_i]]
            lines += [("+ ", line) for line in new[j:end_j]]
    return Diff(_name(before), _name(after), lines)


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
