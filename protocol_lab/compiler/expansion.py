"""Runs a compiled loop over a range of states, up to one that can't be computed.

A loop raises where something can't be computed: a step does not fit into the declared storage, or
an expression has no value, or a function fails. The functions here then process the states before
that one. The error's message is found by repeating the state in plain Python.

The loop over actions also stops before a state whose successors do not fit into the buffer; if it
has expanded nothing, the buffer is too small even for one state.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


class SuccessorBuffer:
    """Room for the successors of some states, filled by the compiled loop over actions.

    By successor: `out`, the row; parent_of, the position of the state that it follows; action_of;
    multiplicity_of, how often TLC counts it; key_of, the keys that tell an action's steps apart, if
    there are any. By state: degree_of, the number of successors. progress: see `loops.expand`.
    """

    def __init__(self, room: int, words: int, states: int, keys: int | None = None):
        self.out = np.empty((room, words), np.uint64)
        self.parent_of, self.action_of, self.multiplicity_of = (
            np.zeros(room, np.int64) for _ in "123"
        )
        self.key_of = None if keys is None else np.zeros((room, keys), np.int64)
        self.degree_of = np.zeros(states, np.int64)
        self.progress = np.zeros(1, np.int64)

    def fill(self, compiled: Any, rows: np.ndarray, begin: int, end: int) -> tuple[int, int]:
        """Expand rows[begin:end], as many as there is room for: (where it ended, successors).

        compiled: has the loop `expand`, and the `constants`.
        """
        return compiled.expand(
            rows, begin, end, compiled.constants, self.out, self.parent_of,
            self.action_of, self.multiplicity_of, self.degree_of, self.progress, key_of=self.key_of,
        )  # fmt: skip


def grown(array: np.ndarray, size: int, fill: int | None = None) -> np.ndarray:
    """The array with this many rows; new rows have the value `fill`, or any if that is None."""
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    if fill is not None:
        larger[len(array) :] = fill
    return larger


def expand_some(
    begin: int,
    end: int,
    run: Callable[[int, int], tuple[int, int]],
    progress: Callable[[], np.ndarray],
    enlarge: Callable[[], bool | None],
) -> tuple[int, int]:
    """Expand the rows [begin, end), or the first of them: (where it ended, how many successors).

    It ends at `begin` if a step of that state itself can't be computed. run: the compiled loop on
    [begin, end), which returns the same pair; progress: gives the array with the row it was at;
    enlarge: makes more room for candidates, or returns False, which also ends it.
    """
    while True:
        try:
            done, count = run(begin, end)
        except MemoryError:
            raise
        except Exception:
            end = int(progress()[0])  # first the states before the one that stopped it
            if end == begin:
                return begin, 0
            continue
        if done > begin:
            return done, count
        if enlarge() is False:
            return begin, 0


def check_some(count: int, run: Callable[[int], None]) -> int:
    """Check the first `count` rows, or those before the first that can't be: how many these are.

    run(n) is the compiled loop on the first n rows, which raises if one of them can't be checked.
    """
    if _runs(run, count):
        return count
    fine, end = 0, count  # the first `fine` rows can be checked, not so the first `end`
    while end - fine > 1:
        middle = (fine + end) // 2
        if _runs(run, middle):
            fine = middle
        else:
            end = middle
    run(fine)  # for what it writes
    return fine


def check_all(count: int, wanted: np.ndarray, run: Callable[[int], None]) -> list[int]:
    """Check those of the first `count` rows that can be checked; returns the others.

    As `check_some`; run(n) leaves out what is not wanted, and these are not wanted from now on.
    """
    faulty: list[int] = []
    while (fine := check_some(count, run)) < count:
        faulty.append(fine)
        wanted[fine] = 0
    return faulty


def _runs(run: Callable[[int], None], count: int) -> bool:
    try:
        run(count)
    except MemoryError:
        raise
    except Exception:
        return False
    return True
