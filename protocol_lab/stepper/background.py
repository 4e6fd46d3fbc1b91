"""Background work of the stepper, in threads of its own; stale jobs are dropped."""

import threading
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import LabError

Job = Callable[[Callable[[], bool]], Any]
"""job(stopped) works in the background and gives a result; it returns soon once stopped()."""


class _Task:
    """One submitted job and whom to tell."""

    def __init__(self, job: Job, done: Callable[[Any], None]):
        self.job, self.done = job, done
        self.cancelled = threading.Event()

    def outcome(self) -> Any:
        """The job's result, or a LabError for whatever went wrong."""
        try:
            return self.job(self.cancelled.is_set)
        except LabError as error:
            return error
        except Exception as error:
            return LabError(f"That did not work ({type(error).__name__}: {error}).")

    def deliver(self, outcome: Any) -> None:
        """Tell, unless something newer was asked for in the meantime."""
        if not self.cancelled.is_set():
            self.done(outcome)


class Background:
    """Jobs by key, of which only the latest of each key counts; keys run side by side.

    post(function) has a function called where results are wanted, such as an event loop's
    call_soon_threadsafe. Every job that is not overtaken ends in one call of its `done`: with its
    result, or with a LabError, as a value. No thread is started before the first job of its key.
    """

    def __init__(self, post: Callable[[Callable[[], None]], Any]):
        self._post = post
        self._changed = threading.Condition()
        self._waiting: dict[str, _Task] = {}
        self._latest: dict[str, _Task] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._closed = False

    def submit(self, key: str, job: Job, done: Callable[[Any], None]) -> None:
        """Run job(stopped) in the background, then done(result) where `post` calls it.

        The job of this key that is waiting or running is cancelled, and its result dropped. After
        `close` nothing happens.
        """
        with self._changed:
            if self._closed:
                return
            self._cancel(key)
            self._latest[key] = self._waiting[key] = _Task(job, done)
            if key not in self._threads:
                thread = threading.Thread(
                    target=self._work, args=(key,), name=f"background {key}", daemon=True
                )
                self._threads[key] = thread
                thread.start()
            self._changed.notify_all()

    def cancel(self, key: str) -> None:
        """Stop this key's job; its `done` is not called any more."""
        with self._changed:
            self._cancel(key)

    def is_busy(self, key: str) -> bool:
        """Is a result of this key still to come?"""
        with self._changed:
            return key in self._latest

    def close(self) -> None:
        """Cancel everything and let the threads end; does not wait for them."""
        with self._changed:
            self._closed = True
            for key in list(self._latest):
                self._cancel(key)
            self._changed.notify_all()

    def _cancel(self, key: str) -> None:
        self._waiting.pop(key, None)
        task = self._latest.pop(key, None)
        if task is not None:
            task.cancelled.set()

    def _work(self, key: str) -> None:
        while (task := self._next(key)) is not None:
            outcome = task.outcome()
            if task.cancelled.is_set():
                continue
            try:
                self._post(lambda task=task, outcome=outcome: self._deliver(key, task, outcome))
            except RuntimeError:  # the event loop is closed: nobody listens any more
                self.close()

    def _next(self, key: str) -> _Task | None:
        """The next job of a key, as soon as there is one; None after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or key in self._waiting)
            return None if self._closed else self._waiting.pop(key)

    def _deliver(self, key: str, task: _Task, outcome: Any) -> None:
        with self._changed:
            if self._latest.get(key) is task:
                del self._latest[key]
        task.deliver(outcome)
