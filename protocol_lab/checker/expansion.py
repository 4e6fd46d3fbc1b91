"""Expanding a stretch of states with the compiled loop, whatever may stop it on the way.

The loop stops before a state whose successors do not fit into the room for candidates: with nothing
expanded, there is not even room for one state's. It raises where a step does not fit into the
declared storage, and where an action is faulty; `progress` then tells at which state.
"""

from collections.abc import Callable

import numpy as np

from protocol_lab.errors import CapacityExceeded
from protocol_lab.semantics.transitions import successors
from protocol_lab.spec.spec import Model


def expand_some(
    model: Model,
    rows: np.ndarray,
    begin: int,
    end: int,
    run: Callable[[int, int], tuple[int, int]],
    progress: Callable[[], np.ndarray],
    enlarge: Callable[[], None],
) -> tuple[int, int]:
    """Expand rows[begin:end], or the first of them: (where it ended, how many successors).

    It ends at `begin` if that state itself has a step that does not fit into the storage. run: the
    compiled loop on rows[begin:end], which returns the same pair; progress: what tells where it
    was; enlarge: makes more room for candidates. Raises LabError if an action is faulty.
    """
    while True:
        try:
            done, count = run(begin, end)
        except CapacityExceeded:
            end = int(progress()[0])  # first the states before the one that does not fit
            if end == begin:
                return begin, 0
            continue
        except Exception as error:
            list(successors(model, rows[int(progress()[0])].tobytes()))  # has the words
            raise error
        if done > begin:
            return done, count
        enlarge()
