"""Ctrl-C, or a notebook's stop button, as a request that a search answers when ready."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """A context that gives a function: was an interruption requested since it began?

    So counts are never left half-written, and no library swallows the interruption. If the function
    was not asked after a request, KeyboardInterrupt is raised at the end. A second request
    interrupts at once, as usual. In a thread other than the main one, which Python never
    interrupts, the function always returns False.
    """
    asked, told = [], []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)

    def is_asked() -> bool:
        told.extend(asked)
        return bool(asked)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield is_asked
    finally:
        signal.signal(signal.SIGINT, before)
    if asked and not told:
        raise KeyboardInterrupt
