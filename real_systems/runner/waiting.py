"""Waits until something has come about on a real system, with a bound, instead of sleeping."""

import time
from collections.abc import Callable
from typing import TypeVar

from protocol_lab.errors import LabError

BOUND = 120
"""Seconds that anything may take, unless a story says otherwise."""

Seen = TypeVar("Seen")


class DidNotHappen(LabError):
    """What a story waits for did not come about in time: no verdict, neither pass nor failure."""


def wait_until(
    condition: Callable[[], Seen | None],
    what: str,
    seconds: float = BOUND,
    pause: float = 0.2,
    describe: Callable[[], str] | None = None,
) -> Seen:
    """The first answer of `condition` that counts as true. It is asked every `pause` seconds.

    what: what must come about, as a sentence without its full stop. describe: what is there
    instead, for the message. Raises DidNotHappen after `seconds`.
    """
    end = time.monotonic() + seconds
    while True:
        seen = condition()
        if seen:
            return seen
        if time.monotonic() > end:
            instead = f" (seen instead: {describe()})" if describe else ""
            raise DidNotHappen(
                f"This did not come about within {seconds:.0f} s: {what}{instead}. The machine may"
                " be busy: run it again. If it is the same again, --keep FOLDER keeps what each"
                " process logged."
            )
        time.sleep(pause)
