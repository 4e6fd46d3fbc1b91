"""Which parts of the state each of a learner's actions may change.

Invariants alone do not tell a protocol from one that edits what the invariants look at: whoever
empties the list of promises breaks none. So a lab says for each action what it may change, as in
"log[{update.dest}] updates", where {...} is a parameter of the step; anything else is a violation.
"""

from collections.abc import Iterator
from typing import Any


def changed_parts(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The paths of the fields, and of the items of dicts by node, whose values differ."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            shown = f"[{name}]" if isinstance(name, int) else f".{name}" if path else name
            yield from changed_parts(before[name], after[name], path + shown)
    else:
        yield path


def breach(allowed: str, args: dict[str, Any], before: Any, after: Any) -> str:
    """The first part of the state that a step changed and may not change; "" if there is none."""
    permitted = allowed.format(**args).split()
    for path in changed_parts(before, after):
        if not any(_is_within(path, each) for each in permitted):
            return path
    return ""


def _is_within(path: str, permitted: str) -> bool:
    """Is the path the permitted one, or inside it?"""
    rest = path.removeprefix(permitted)
    return path.startswith(permitted) and (not rest or rest[0] in ".[")
