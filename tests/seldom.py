"""Cases of which each run tests one in so many; the others are marked `rarely`."""

from collections.abc import Iterable
from typing import Any

import pytest

Parameters = type(pytest.param())


def one_in(count: int, cases: Iterable[Any]) -> list:
    """The cases as test parameters: the first, and each that is so many after one, is in every run.

    cases: values of one parameter, or what `pytest.param` returns.
    """
    found = []
    for place, each in enumerate(cases):
        values, marks, name = each if isinstance(each, Parameters) else ((each,), (), None)
        marks = (*marks, pytest.mark.rarely) if place % count else marks
        found.append(pytest.param(*values, marks=marks, id=name))
    return found
