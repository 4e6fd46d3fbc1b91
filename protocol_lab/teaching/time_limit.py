"""Says when a learner's function takes long, and interrupts one that does not end.

A check may take minutes, since it explores. So not the check is timed, but a single call of a
function that belongs neither to the kit nor to a protocol's package.
"""

import re
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from pathlib import Path
from types import FrameType

from protocol_lab.checker.progress import ProgressBar
from protocol_lab.system.notebook_shell import get_ipython

LIMIT = 30.0
"""Seconds that one call may take."""

PATIENCE = 2.0
"""Seconds after which the learner is told that a call is still running."""

_EVERY = 0.5
"""Seconds between two looks at what is running."""

_PYTHON = (str(Path(sys.prefix)), str(Path(sys.base_prefix)), "<frozen")
_KIT = Path(__file__).parents[2]
_ROOMS = re.compile(re.escape(str(_KIT)) + r"[/\\](protocol_lab|\w+_spec)[/\\]")


class Watch:
    """The outcome: `is_over` if a call took longer than the limit and was interrupted."""

    def __init__(self) -> None:
        self.is_over = False
        self.ended = threading.Event()


@contextmanager
def time_limit(seconds: float | None = None) -> Iterator[Watch]:
    """A context in which a call of a learner's function that takes too long is interrupted, as by
    Ctrl-C.

    seconds: LIMIT if None. Only the main thread can be interrupted; on others nothing happens.
    """
    watch, main = Watch(), threading.main_thread()
    if threading.current_thread() is not main:
        yield watch
        return
    outer = sys._getframe(2)  # the caller; what is timed is called inside it
    limit = LIMIT if seconds is None else seconds
    # In this context, since a notebook then knows which cell the sentence belongs to.
    about = (_look, watch, main.ident, outer, limit)
    thread = threading.Thread(target=copy_context().run, args=about, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there are no threads in a page, which ends its worker instead
        yield watch
        return
    try:
        yield watch
    finally:
        watch.ended.set()
        thread.join()


def _look(watch: Watch, thread: int, outer: FrameType, limit: float) -> None:
    """Say so once the same call has been running for a while, and interrupt, again and again, once
    it has for the whole limit."""
    running, since, is_told = None, time.monotonic(), False
    with ExitStack() as telling:
        while not watch.ended.wait(min(_EVERY, limit / 4)):
            found = _call_of_learner(sys._current_frames().get(thread), outer)
            if found is None or found is not running:
                running, since, is_told = found, time.monotonic(), False
                telling.close()
            elif time.monotonic() - since > limit:
                watch.is_over = True
                interrupt_main()
            elif not is_told and time.monotonic() - since > PATIENCE:
                telling.enter_context(ProgressBar("")).tell(_still_running(limit))
                is_told = True
            del found  # between two looks only the running frame is kept alive


def _still_running(limit: float) -> str:
    how = "the button ■ stops it" if hasattr(get_ipython(), "kernel") else "Ctrl-C stops it"
    return (
        f"Your answer has been running for {PATIENCE:g} seconds in one state. It is stopped after"
        f" {limit:g} seconds; {how} at once."
    )


def _call_of_learner(frame: FrameType | None, outer: FrameType) -> FrameType | None:
    """The outermost frame inside `outer` of a learner's function."""
    found = None
    while frame is not None and frame is not outer:
        file = frame.f_code.co_filename
        if not file.startswith(_PYTHON) and not _ROOMS.match(file):
            found = frame
        frame = frame.f_back
    return found
