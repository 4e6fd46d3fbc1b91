"""Checks numbers that people give, as text or as Python values: counts, seconds, GiB; and says how
many there are of something.

Anything that is not a number, not finite, or out of bounds is refused with one sentence that names
the option and its bounds.
"""

import math
import operator
from typing import Any

from protocol_lab.errors import LabError, quoted, shortened


def counted(count: int, noun: str) -> str:
    """A number of things in words: "1 step", "2,000 steps"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def whole_number_of(text: str) -> int | None:
    """The number that a text spells; None if it spells none."""
    try:
        return int(text)
    except ValueError:
        return None


def whole_number(name: str, value: Any, low: int, high: int) -> int:
    """The value as an int between two bounds, both included. Raises LabError."""
    found = whole_number_of(value) if isinstance(value, str) else _as_int(value)
    if found is None:
        raise LabError(f"{name}={_shown(value)} is not a whole number; use {low:,} to {high:,}.")
    if not low <= found <= high:
        raise LabError(f"{name}={_shown(value)} is out of bounds; use {low:,} to {high:,}.")
    return found


def amount(name: str, value: Any, low: float, high: float, unit: str) -> float:
    """The value as a float between two bounds, such as seconds or GiB. Raises LabError."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not low <= found <= high:  # false for NaN
        raise LabError(f"{name}={_shown(value)} is not possible; use {low:,g} to {high:,g} {unit}.")
    return found


def _as_int(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _shown(value: Any) -> str:
    return shortened(value) if isinstance(value, str | int | float) else quoted(value)
