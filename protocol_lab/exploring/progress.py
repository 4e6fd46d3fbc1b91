"""A line that shows how a search is doing, in a terminal or under a notebook cell."""

import sys

import numpy as np
from tqdm import tqdm

from protocol_lab.exploring.result import Result


class ProgressBar:
    """States, states/s, depth and frontier; appears after a second, and is removed at the end.

    Silent where nobody watches: when not `shown`, or standard error is no terminal or notebook.
    """

    def __init__(self, name: str, shown: bool = True, total: int | None = None):
        watched = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._bar = tqdm(
            desc=name,
            total=total,
            unit=" states",
            unit_scale=True,
            leave=False,
            delay=1,
            mininterval=0.3,
            disable=not (shown and watched),
        )

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()

    def update(self, result: Result, frontier: int, seconds: float) -> None:
        """Show the counts of a search that is under way."""
        if self._bar.disable:
            return
        doing = [f"depth {result.depth}", f"frontier {frontier:,}", result.activity]
        self._bar.set_postfix_str(", ".join(filter(None, doing)), refresh=False)
        self._bar.update(result.distinct - self._bar.n)

    def count(self, done: int) -> None:
        """Show how many of the `total` states are done."""
        if not self._bar.disable:
            self._bar.update(done - self._bar.n)


_LEVELS_FITTED, _STILL_GROWING = 6, 1.2


def states_to_come(per_depth: list[int]) -> int | None:
    """About how many states the levels still to come have; None as long as they grow fast.

    The sizes of levels rise and fall much like a bell, whose logarithm is a parabola: the one
    that fits the last levels is followed down to nothing.
    """
    sizes = [size for size in per_depth if size][-_LEVELS_FITTED:]
    if len(sizes) < _LEVELS_FITTED or sizes[-1] > _STILL_GROWING * sizes[-2]:
        return None
    at = np.arange(1 - len(sizes), 1)
    bend, slope, _ = np.polyfit(at, np.log(sizes), 2)
    if bend >= 0:
        return None
    ahead = np.arange(1, 10_000)
    return int((sizes[-1] * np.exp(bend * ahead**2 + slope * ahead)).sum())
