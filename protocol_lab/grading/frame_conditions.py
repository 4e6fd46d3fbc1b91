"""Which parts of the state each of a learner's actions may change.

Invariants alone do not tell a protocol from one that edits what the invariants look at: whoever
empties the list of promises breaks none. So a lab says for each action what it may change, as in
"log[{update.dest}] updates", where {...} is a parameter of the step; anything else is a violation.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from protocol_lab.model.layout import ArrayLayout

_PARAMETER = re.compile(r"\{([\w.]+)\}")


def parameters_in(allowed: str) -> tuple[str, ...]:
    """The parameters, or fields of a message parameter, that decide what may change."""
    return tuple(dict.fromkeys(_PARAMETER.findall(allowed)))


def permitted(allowed: str, values: Mapping[str, int]) -> list[str]:
    """The paths that a step with these values of `parameters_in` may change."""
    return _PARAMETER.sub(lambda found: str(values[found[1]]), allowed).split()


def left_alone(layout: Any, paths: list[str]) -> np.ndarray:
    """A mask of the bytes of a row that are in none of these paths."""
    mask = np.ones(layout.size, np.bool_)
    for path in paths:
        part, at = layout, 0
        for name in re.findall(r"\w+", path):
            if isinstance(part, ArrayLayout):
                at, part = at + part.offset(int(name)), part.item
            else:
                at, part = at + part.offsets[name], part.fields[name]
        mask[at : at + part.size] = False
    return mask


def first_breach(paths: list[str], before: Any, after: Any) -> str:
    """The first part of the state, given as plain values, that differs and is in none of these
    paths; "" if there is none."""
    changed = _changed_parts(before, after)
    return next((each for each in changed if not any(_is_within(each, one) for one in paths)), "")


def _changed_parts(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The paths of the fields, and of the items of dicts by node, whose values differ."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            shown = f"[{name}]" if isinstance(name, int) else f".{name}" if path else name
            yield from _changed_parts(before[name], after[name], path + shown)
    else:
        yield path


def _is_within(path: str, permitted_path: str) -> bool:
    """Is the path the permitted one, or inside it?"""
    rest = path.removeprefix(permitted_path)
    return path.startswith(permitted_path) and (not rest or rest[0] in ".[")
