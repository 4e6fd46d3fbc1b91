"""Compares a learner's guess with the fact, however the guess was typed.

"49", 49, [49] and "49 states" are the same guess; so are "a, b", {"b", "a"} and "b and a", "37%"
and 0.37, "yes" and True. True is not 1. A guess with fewer digits than the fact is right if the
fact rounds to it.
"""

import re
from collections.abc import Iterable
from math import isclose
from numbers import Real
from typing import Any

_COLLECTIONS = (list, tuple, set, frozenset)
_TRUTH = {"yes": True, "true": True, "y": True, "no": False, "false": False, "n": False}
_NOTHING = {"", "none", "nothing", "nobody", "no one", "the empty set"}
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:[, _']\d{3})+(?!\d)|\d+)(?:\.\d+)?")


def is_same(guess: Any, fact: Any) -> bool:
    """Does the guess agree with the fact?"""
    if isinstance(fact, _COLLECTIONS):
        members = _members(guess)
        return _missing(members, fact) == [] and _missing(fact, members) == []
    if isinstance(guess, _COLLECTIONS):
        return len(guess) == 1 and is_same(next(iter(guess)), fact)
    if _truth(fact) is not None:
        if _goes_on(guess) and _goes_on(fact):  # two reasons for a yes are two answers
            return _plain(guess) == _plain(fact)
        return _truth(guess) is _truth(fact)
    if _truth(guess) is not None:
        return False
    if is_number(fact):
        return _rounds_to(fact, guess)
    return _plain(guess) == _plain(fact)


def how_far(guess: Any, fact: Any) -> str:
    """How a wrong guess differs from the fact, as a sentence; empty if there is nothing useful to
    say."""
    if isinstance(fact, _COLLECTIONS):
        members = _members(guess)
        missing, extra = _missing(members, fact), _missing(fact, members)
        parts = [f"it lacks {shown(missing)}"] if missing else []
        parts += [f"{shown(extra)} is not among them"] if extra else []
        return f"{', and '.join(parts)}.".capitalize() if members else ""
    if not is_number(fact):
        return ""
    number = _number(guess)
    if number is None:
        return ""
    value, actual = number[0], _number(fact)[0]
    way = "high" if value > actual else "low"
    larger, smaller = max(value, actual), min(value, actual)
    if smaller > 0 and larger / smaller >= 3:
        return f"It is {larger / smaller:,.0f} times too {way}."
    return f"It is {_rounded(abs(value - actual))} too {way}."


def shown(value: Any) -> str:
    """A value as people write it: thousands separated, sets in order and without braces."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, set | frozenset):
        return shown(sorted(value, key=_order))
    if isinstance(value, list | tuple):
        return ", ".join(shown(each) for each in value) or "nothing"
    return str(value)


def is_number(value: Any) -> bool:
    """A number, or a text that is nothing but a number."""
    if isinstance(value, str):
        found = _NUMBER.search(value)
        return bool(found) and value.replace(found[0], "", 1).strip() in ("", "%")
    return isinstance(value, Real) and not isinstance(value, bool)


# --- Numbers ---------------------------------------------------------------------------------


def _number(value: Any) -> tuple[float, int, bool] | None:
    """The one number in a guess, its digits after the point, and whether it is in percent."""
    if isinstance(value, _COLLECTIONS) and len(value) == 1:
        value = next(iter(value))
    if isinstance(value, str):
        plain = _plain(value)
        if plain in _WORDS:
            return float(_WORDS.index(plain)), 0, False
        found = _NUMBER.findall(value)
        if len(found) != 1:
            return None
        digits = re.sub(r"[, _']", "", found[0])
        return float(digits), _decimals(digits), "%" in value
    if is_number(value):
        return float(value), _decimals(str(value)), False
    return None


def _decimals(digits: str) -> int:
    return len(digits.partition(".")[2])


def _rounds_to(fact: Any, guess: Any) -> bool:
    number, actual = _number(guess), _number(fact)
    if number is None or actual is None:
        return False
    value, decimals, percent = number
    if isclose(value, actual[0], rel_tol=1e-9):
        return True
    truth = actual[0]
    if percent and not actual[2] and abs(truth) <= 1:
        truth *= 100
    elif actual[2] and not percent and abs(value) <= 1 and decimals:
        truth, decimals = truth / 100, max(decimals, 2)
    return isclose(round(truth, decimals), value, rel_tol=1e-9)


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"


# --- Words and sets --------------------------------------------------------------------------


def _plain(value: Any) -> str:
    """A text without case, underscores, quotes and full stop, which do not matter."""
    words = str(value).replace("_", " ").replace("-", " ").casefold().strip(" .!?\"'`“”‘’")
    return " ".join(words.removeprefix("the ").split())


def _truth(value: Any) -> bool | None:
    """True or False for a yes or no, which may go on after a comma; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _TRUTH.get(_plain(re.split(r"[,;:.]", value, maxsplit=1)[0]))
    return None


def _goes_on(value: Any) -> bool:
    """Does a yes or no go on, as in "no: nobody asks"?"""
    return isinstance(value, str) and _plain(value) not in _TRUTH


def _members(guess: Any) -> list[Any]:
    """The items that a guess lists."""
    if isinstance(guess, _COLLECTIONS):
        return list(guess)
    if not isinstance(guess, str):
        return [guess]
    bare = guess.strip(" []{}()")
    if _plain(bare) in _NOTHING:
        return []
    return [each for each in re.split(r"[,;\n]|\band\b", bare) if each.strip()]


def _missing(members: Iterable[Any], wanted: Iterable[Any]) -> list[Any]:
    """The wanted items that are not among the members, in order."""
    there = list(members)
    lacking = [each for each in wanted if not any(is_same(one, each) for one in there)]
    return [_tidy(each) for each in sorted(lacking, key=_order)]


def _tidy(value: Any) -> Any:
    return value.strip(" \"'`") if isinstance(value, str) else value


def _order(value: Any) -> tuple[bool, float, str]:
    """A sort key: numbers before words."""
    return not is_number(value), float(value) if isinstance(value, Real) else 0.0, str(value)
