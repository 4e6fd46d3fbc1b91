"""A line that shows how a search is doing, in a terminal or under a notebook cell."""

import sys

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
        self._bar.set_postfix_str(f"depth {result.depth}, frontier {frontier:,}", refresh=False)
        self._bar.update(result.distinct - self._bar.n)

    def count(self, done: int) -> None:
        """Show how many of the `total` states are done."""
        if not self._bar.disable:
            self._bar.update(done - self._bar.n)
