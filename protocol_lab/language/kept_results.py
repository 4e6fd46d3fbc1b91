"""Keeps what functions of a state return, while the same states are shown many times.

A recording draws each state once for every step that leads to it. So what a state's invariants say,
and how a drawing describes it, is computed once. Elsewhere nothing is kept: a learner may edit a
function between two calls.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")

_kept: ContextVar[dict[Hashable, object] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping_results() -> Iterator[None]:
    """A context in which `kept` computes nothing twice; no spec may be edited meanwhile."""
    before = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(before)


def kept(key: Hashable, compute: Callable[[], Value]) -> Value:
    """The value for this key: computed, unless it was before in the same `keeping_results`."""
    values = _kept.get()
    if values is None:
        return compute()
    if key not in values:
        values[key] = compute()
    return values[key]
