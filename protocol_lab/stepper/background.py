"""Background jobs of the stepper, in their own threads; stale jobs are dropped."""

import threading
from collections.abc import Callable
from typing import Any

from protocol_lab.errors import LabError

Job = Callable[[Callable[[], bool]], Any]
"""job(stopped) computes a result in the background, and returns early once stopped() is true."""


class _Task:
    """One submitted job and the callback for its result."""

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
        """Call back with the outcome, unless a newer job of the key was submitted meanwhile."""
        if not self.cancelled.is_set():
            self.done(outcome)


class Background:
    """Runs jobs by key: only the latest job of a key counts, and different keys run concurrently.

    post(function) calls a function on the thread where results are wanted, such as an event loop's
    call_soon_threadsafe. Every job that is not replaced ends in one call of its `done`, with its
    result or a LabError as the argument. No thread is started before the first job of its key.
    Where threads can't be started, as in a page, `post` calls the jobs themselves.
    """

    def __init__(self, post: Callable[[Callable[[], None]], Any]):
        self._post = post
        self._changed = threading.Condition()
        self._waiting: dict[str, _Task] = {}
        self._latest: dict[str, _Task] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._closed = False

    def submit(self, key: str, job: Job, done: Callable[[Any], None]) -> None:
        """Run job(stopped) in the background, then done(result) through `post`.

        The job of this key that is waiting or running is cancelled, and its result dropped. After
        `close` nothing happens.
        """
        with self._changed:
            if self._closed:
                return
            self._cancel(key)
            self._latest[key] = self._waiting[key] = _Task(job, done)
            if key not in self._threads and not self._start_thread(key):
                self._post(lambda: self._run_task(key, self._waiting.pop(key, None)))
            self._changed.notify_all()

    def cancel(self, key: str) -> None:
        """Stop this key's job; its `done` is not called any more."""
        with self._changed:
            self._cancel(key)

    def is_busy(self, key: str) -> bool:
        """Is a job of this key waiting or running?"""
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

    def _start_thread(self, key: str) -> bool:
        """Start the thread of a key; False where there are no threads."""
        thread = threading.Thread(
            target=self._work, args=(key,), name=f"background {key}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            return False
        self._threads[key] = thread
        return True

    def _work(self, key: str) -> None:
        while (task := self._next(key)) is not None:
            self._run_task(key, task)

    def _run_task(self, key: str, task: _Task | None) -> None:
        """Compute a task, unless it was cancelled, and post its outcome."""
        if task is None:
            return
        outcome = task.outcome()
        if task.cancelled.is_set():
            return
        try:
            self._post(lambda: self._deliver(key, task, outcome))
        except RuntimeError:  # the event loop is closed
            self.close()

    def _next(self, key: str) -> _Task | None:
        """Wait for the next job of a key; None after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or key in self._waiting)
            return None if self._closed else self._waiting.pop(key)

    def _deliver(self, key: str, task: _Task, outcome: Any) -> None:
        with self._changed:
            if self._latest.get(key) is task:
                del self._latest[key]
        task.deliver(outcome)
