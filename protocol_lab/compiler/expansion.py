"""Runs a compiled loop over a range of states, up to one that can't be computed.

A loop raises where something can't be computed: a step does not fit into the declared storage, or a
function of the spec asks for what has no value, or fails. Here the states before that one are done.
What is wrong with it is found out uncompiled: that version has the words.

The loop over actions also stops before a state whose successors do not fit into the room for
candidates: with nothing expanded, there is not even room for one state's.
"""

from collections.abc import Callable

import numpy as np


def expand_some(
    begin: int,
    end: int,
    run: Callable[[int, int], tuple[int, int]],
    progress: Callable[[], np.ndarray],
    enlarge: Callable[[], None],
) -> tuple[int, int]:
    """Expand the rows [begin, end), or the first of them: (where it ended, how many successors).

    It ends at `begin` if a step of that state itself can't be computed. run: the compiled loop on
    [begin, end), which returns the same pair; progress: what tells where it was; enlarge: makes
    more room for candidates.
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
        enlarge()


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
    """Check the first `count` rows but for those that can't be, which are returned.

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
