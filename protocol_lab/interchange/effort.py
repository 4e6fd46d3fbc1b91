"""Bounds the search for the steps of a trace or a log, and lets it be watched and stopped."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from protocol_lab.errors import LabError

Item = TypeVar("Item")

MOST_TRIED, MOST_ROWS, MOST_SECONDS = 2_000_000, 10_000, 120.0
"""A search ends after so many steps were tried, or so many seconds, or where so many states agree
with one state of the trace."""

_TELL_EVERY = 0.2
"""Seconds between two reports."""


class EffortSpent(LabError):
    """The search was stopped, or has used up what it might spend: there is no answer."""


class Effort:
    """What may be spent on one trace, and what was.

    stopped: asked again and again; once it is true the search ends. tell(text) is called with the
    progress, a few times a second. The time counts from the first step that is tried. advice: what
    to do if all was spent; of: what the steps are those of.
    """

    def __init__(
        self,
        *,
        tried: int = MOST_TRIED,
        rows: int = MOST_ROWS,
        seconds: float = MOST_SECONDS,
        stopped: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda text: None,
        advice: str = "give the model with the constants that TLC had, or a trace in which the"
        " actions are named",
        of: str = "trace",
    ):
        self._advice, self._of = advice, of
        self._most, self._rows, self._seconds = tried, rows, seconds
        self._stopped, self._tell = stopped, tell
        self._tried = 0
        self._begun = self._told = 0.0

    def spent_on(self, items: Iterable[Item], where: str) -> Iterator[Item]:
        """The items, each of which counts as a step that was tried; `where` says for what.

        Raises EffortSpent when the search is stopped, or has used up what it may spend.
        """
        self._begun = self._begun or time.monotonic()
        for each in items:
            self._tried += 1
            now = time.monotonic()
            if self._stopped():
                raise EffortSpent(
                    f"The search for the steps of this {self._of} was stopped at {where}."
                )
            if self._tried > self._most or now - self._begun > self._seconds:
                raise self._used_up(where)
            if now - self._told > _TELL_EVERY:
                self._told = now
                self._tell(f"{where}: {self._tried:,} steps tried")
            yield each

    def keep(self, rows: int, where: str) -> None:
        """Note that so many states agree with one of the trace. Raises EffortSpent if too many."""
        if rows > self._rows:
            raise self._used_up(where)

    def _used_up(self, where: str) -> "EffortSpent":
        seconds = time.monotonic() - self._begun
        return EffortSpent(
            f"The steps of this {self._of} were not found: the search ended at {where}, after"
            f" {self._tried:,} tried steps and {seconds:.0f} seconds; {self._advice}."
        )
