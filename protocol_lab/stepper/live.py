"""The stepper's background computations: the distance to the nearest violation, the path to a
state, the graph of nearby states, the steps of a pasted trace, a challenge's par. Another step
cancels them.
"""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any

from protocol_lab.diagrams.state_graph import LIMIT, around
from protocol_lab.distance.distance_values import EXACT, FROM_HERE, MORE, NEVER, Distance, Near
from protocol_lab.distance.path_to_state import Found, find_state
from protocol_lab.errors import LabError
from protocol_lab.interchange.effort import Effort
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import step_of
from protocol_lab.model.transitions import needed_attempts
from protocol_lab.traces.scenario_format import Scenario
from protocol_lab.traces.walk import Walk

if TYPE_CHECKING:
    from protocol_lab.distance.nearest_violation import Nearness


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


Show = Callable[[dict[str, Any]], None]

_TELL_EVERY = 0.2
"""Seconds between two reports of a search."""

_PICTURE_FIRST = 0.1
"""Seconds before distances are computed, so that sending and painting the picture need not share
the processor with them."""

_MOST_STATES = 40
"""The most states in a graph whose depth the learner did not choose: more can be drawn, but are
hard to read beside the lists."""


class Live(Background):
    """The computations of one widget. It runs its callbacks on the thread that created it; where no
    event loop runs, on its own threads."""

    most_seconds: float | None = None
    """How long a search for a state may take; None: until it is stopped."""

    def __init__(self) -> None:
        super().__init__(_on_this_thread())
        self._nearness: tuple[Any, Nearness] | None = None
        self._enough: dict[str, Event] = {}

    def near(self, model: Model, row: bytes, invariants: list[str], show: Show) -> None:
        """Show the distances from a state, and after each step that can be taken.

        First the result of a short search; then, where all states can be explored, the final one.
        """
        nearness = self._nearness_of(model, invariants)

        def job(stopped: Callable[[], bool]) -> dict[str, Any] | None:
            time.sleep(_PICTURE_FIRST)
            if stopped():
                return None
            possible = [each for each in needed_attempts(model, row) if each.taken]
            steps = [step_of(model, row, each.action, each.args).text for each in possible]
            answer = nearness.ask(row, stopped=stopped)
            if answer and answer.how == FROM_HERE and nearness.too_large is None:
                first = shown(answer, steps)
                self._post(lambda: None if stopped() else show(first))
                if nearness.prepare(stopped):
                    answer = nearness.ask(row, stopped=stopped)
            return answer and shown(answer, steps)

        self._show_once("near", job, show)

    def _show_once(self, key: str, job: Callable[..., Any], show: Show) -> None:
        """Show the result of a job, or why there is none; nothing if it was stopped."""

        def done(answer: dict[str, Any] | LabError | None) -> None:
            if answer is not None:
                show({"notice": str(answer)} if isinstance(answer, LabError) else answer)

        self.submit(key, job, done)

    def _nearness_of(self, model: Model, invariants: list[str]) -> "Nearness":
        """The last computation, if it is about the same model: it remembers what it has
        searched."""
        from protocol_lab.distance.nearest_violation import Nearness

        about = (model, tuple(invariants))
        if self._nearness is None or self._nearness[0] != about:
            self._nearness = about, Nearness(model, invariants)
        return self._nearness[1]

    def graph(self, walk: Walk, depth: int, show: Show) -> None:
        """Show the states around this one, up to `depth` steps; 0: as many as can be read."""
        model, row = walk.model, walk.row
        path, at = walk.path, walk.moment.depth

        def job(stopped: Callable[[], bool]) -> dict[str, Any] | None:
            most = LIMIT if depth else _MOST_STATES
            svg = around(model, row, depth or None, path=path, at=at, stopped=stopped, limit=most)
            return None if svg is None else {"svg": svg}

        self._show_once("graph", job, show)

    def find(
        self,
        walk: Walk,
        condition: str | Callable[..., Any],
        show: Callable[[str], None],
        done: Callable[[Found | LabError], None],
    ) -> None:
        """Search for a shortest path from here to a state; show(text) reports the progress."""
        model, row = walk.model, walk.row

        def job(stopped: Callable[[], bool], tell: Callable[[str], None]) -> Found:
            def progress(states: int, depth: int) -> None:
                tell(f"{states:,} states seen, depth {depth}")

            most = self.most_seconds
            return find_state(
                model, row, condition, stopped=stopped, progress=progress, seconds=most
            )

        self._ask_telling("find", job, show, done)

    def read(
        self,
        text: str,
        model: Model,
        show: Callable[[str], None],
        done: Callable[[Walk | Scenario | LabError], None],
    ) -> None:
        """Find the steps of a pasted trace, as `read_pasted` does; show(text) reports the
        progress."""

        def job(stopped: Callable[[], bool], tell: Callable[[str], None]) -> Walk | Scenario:
            return read_pasted(text, model, Effort(stopped=stopped, tell=tell))

        self._ask_telling("reading", job, show, done)

    def _ask_telling(
        self,
        key: str,
        job: Callable[..., Any],
        show: Callable[[str], None],
        done: Callable[[Any], None],
    ) -> None:
        """Run job(stopped, tell), which can be stopped by `stop`; what it tells is shown a few
        times a second."""
        enough = self._enough[key] = Event()
        told = 0.0

        def tell(progress: str) -> None:
            nonlocal told
            if time.perf_counter() - told > _TELL_EVERY:
                told = time.perf_counter()
                self._post(lambda: None if enough.is_set() else show(progress))

        def run(cancelled: Callable[[], bool]) -> Any:
            try:
                return job(lambda: cancelled() or enough.is_set(), tell)
            finally:
                enough.set()  # a report after the answer would hide it

        self.submit(key, run, done)

    def stop(self, key: str) -> None:
        """Stop the search for a state ("find"), which answers with what it knows, or that for a
        trace's steps ("reading"), which answers with a LabError."""
        if key in self._enough:
            self._enough[key].set()


def shown(answer: Near, steps: list[str]) -> dict[str, Any]:
    """The distances as the stepper shows them; the nearest choices are marked.

    What is not known is left empty: `here`, and the `short` text of a step. That no violation can
    be reached after a step is said only if it can after another.
    """
    known = [each.steps for each in answer.after if each.kind == EXACT]
    nearest = min(known, default=None)
    return {
        "here": "" if answer.here == Distance(MORE, 0) else answer.here.text,
        "how": answer.note,
        "after": {
            step: {
                "text": each.text,
                "short": _short(each, bool(known)),
                "nearest": each.kind == EXACT and each.steps == nearest,
            }
            for step, each in zip(steps, answer.after, strict=True)
        },
    }


def _short(distance: Distance, others_lead_there: bool) -> str:
    """A distance in a few characters, for a button; empty if it is not known."""
    if distance.kind == EXACT:
        return str(distance.steps)
    return "never" if distance.kind == NEVER and others_lead_there else ""


def _on_this_thread() -> Callable[[Callable[[], Any]], Any]:
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        return lambda function: function()
