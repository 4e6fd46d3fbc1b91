"""Ctrl-C, or a notebook's stop button, as a request that a search answers when it is ready."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether an interruption was asked for in the meantime.

    So counts are never caught half-written. A second request interrupts at once, as usual. In a
    thread that is not the main one, which Python never interrupts, it always tells False.
    """
    asked = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)
