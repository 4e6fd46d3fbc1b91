"""Bounds the search for the steps of a trace or a log, and lets it be watched and stopped."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from protocol_lab.errors import LabError

Item = TypeVar("Item")

_TELL_EVERY = 0.2
"""Seconds between two reports."""


class EffortSpent(LabError):
    """The search was stopped, or has used up what it might spend: there is no answer."""


@dataclass
class Effort:
    """What may be spent on one trace: how many steps are tried, how many states may agree with one
    of the trace, and how many seconds, from the first step that is tried.

    stopped: asked again and again; once it is true the search ends. tell(text) is called with the
    progress, a few times a second. advice: what to do if all was spent; of: what the steps are
    those of.
    """

    tried: int = 2_000_000
    rows: int = 10_000
    seconds: float = 120.0
    stopped: Callable[[], bool] = lambda: False
    tell: Callable[[str], None] = lambda text: None
    advice: str = "give a trace in which the actions are named"
    of: str = "trace"
    _count: int = field(default=0, init=False)
    _begun: float = field(default=0.0, init=False)
    _told: float = field(default=0.0, init=False)

    def spent_on(self, items: Iterable[Item], where: str) -> Iterator[Item]:
        """The items, each of which counts as a step that was tried; `where` says for what.

        Raises EffortSpent when the search is stopped, or has used up what it may spend.
        """
        self._begun = self._begun or time.monotonic()
        for each in items:
            self._count += 1
            now = time.monotonic()
            if self.stopped():
                raise EffortSpent(
                    f"The search for the steps of this {self.of} was stopped at {where}."
                )
            if self._count > self.tried or now - self._begun > self.seconds:
                raise self._used_up(where)
            if now - self._told > _TELL_EVERY:
                self._told = now
                self.tell(f"{where}: {self._count:,} steps tried")
            yield each

    def keep(self, rows: int, where: str) -> None:
        """Note that so many states agree with one of the trace. Raises EffortSpent if too many."""
        if rows > self.rows:
            raise self._used_up(where)

    def _used_up(self, where: str) -> EffortSpent:
        seconds = time.monotonic() - self._begun
        return EffortSpent(
            f"The steps of this {self.of} were not found: the search ended at {where}, after"
            f" {self._count:,} tried steps and {seconds:.0f} seconds; {self.advice}."
        )
