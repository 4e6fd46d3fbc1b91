"""Background jobs of the stepper, in their own threads; stale jobs are dropped."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import LabError

Job = Callable[[Callable[[], bool]], Any]
"""job(stopped) computes a result in the background, and returns early once stopped() is true."""


class Background:
    """Runs jobs by key: only the latest job of a key counts, and different keys run concurrently.

    post(function) calls a function on the thread where results are wanted, such as an event loop's
    call_soon_threadsafe. Every job that is not replaced ends in one call of its `done`, with its
    result or a LabError as the argument. Where threads can't be started, as in a page, `post` calls
    the jobs themselves.
    """

    def __init__(self, post: Callable[[Callable[[], None]], Any]):
        self._post = post
        self._cancelled: dict[str, threading.Event] = {}
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._closed = False

    def submit(self, key: str, job: Job, done: Callable[[Any], None]) -> None:
        """Run job(stopped) in the background, then done(result) through `post`.

        The job of this key that is waiting or running is cancelled, and its result dropped; the new
        one begins when that has ended. After `close` nothing happens.
        """
        self.cancel(key)
        if self._closed:
            return
        cancelled = self._cancelled[key] = threading.Event()
        turn = self._turns[key]

        def run() -> None:
            with turn:
                outcome = None if cancelled.is_set() else _outcome(job, cancelled.is_set)
            if cancelled.is_set():
                return
            try:
                self._post(lambda: cancelled.is_set() or done(outcome))
            except RuntimeError:  # the event loop is closed
                self.close()

        try:
            threading.Thread(target=run, name=f"background {key}", daemon=True).start()
        except RuntimeError:  # there are no threads
            self._post(run)

    def cancel(self, key: str) -> None:
        """Stop this key's job; its `done` is not called any more."""
        if (cancelled := self._cancelled.pop(key, None)) is not None:
            cancelled.set()

    def close(self) -> None:
        """Cancel everything; does not wait for it."""
        self._closed = True
        for key in list(self._cancelled):
            self.cancel(key)


def _outcome(job: Job, stopped: Callable[[], bool]) -> Any:
    """The job's result, or a LabError for whatever went wrong."""
    try:
        return job(stopped)
    except LabError as error:
        return error
    except Exception as error:
        return LabError(f"That did not work ({type(error).__name__}: {error}).")
