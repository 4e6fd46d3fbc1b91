"""The progress line of a search, in a terminal or under a notebook cell."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import StringIO
from typing import Any

from tqdm import tqdm

from protocol_lab.checker.result import Result
from protocol_lab.system.notebook_shell import display, get_ipython

_DELAY = 1.0
"""Seconds after which the line appears; shorter searches show none."""


Show = Callable[[str], None]

_SHOWN_BY: ContextVar[Show | None] = ContextVar("shown_by", default=None)


@contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """A context in which a notebook's progress lines go to this function, not under the cell."""
    token = _SHOWN_BY.set(show)
    try:
        yield
    finally:
        _SHOWN_BY.reset(token)


class ProgressBar:
    """States, states/s, depth and frontier; appears after a second, and is removed at the end.

    Before the search begins it says what is being compiled. It is silent if not `shown`, or if
    standard error is neither a terminal nor a notebook.
    """

    def __init__(self, name: str, shown: bool = True, total: int | None = None):
        in_notebook = hasattr(get_ipython(), "kernel")  # rather than IPython's terminal
        watched = in_notebook or (sys.stderr is not None and sys.stderr.isatty())
        self._name, self._compiling, self._began = name, False, time.perf_counter()
        self._bar = (_CellLine if in_notebook else tqdm)(
            desc=name,
            total=total,
            unit=" states",
            unit_scale=True,
            leave=False,
            delay=_DELAY,
            mininterval=0.3,
            disable=not (shown and watched),
        )

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.clear()
        self._bar.close()

    def compiling(self, name: str, number: int, count: int) -> None:
        """Show which function of how many is being compiled, or loaded."""
        if self._bar.disable or time.perf_counter() - self._began < _DELAY:
            return
        self._compiling = True
        self._bar.display(
            f"{self._name}: compiling {number + 1} of {count}, {name} (once; then it is kept)"
        )

    def update(self, result: Result, frontier: int) -> None:
        """Show the counts of a running search."""
        if self._bar.disable:
            return
        self._end_compiling()
        doing = [f"depth {result.depth}", f"frontier {frontier:,}", result.activity]
        self._bar.set_postfix_str(", ".join(filter(None, doing)), refresh=False)
        self._bar.update(result.distinct - self._bar.n)

    def count(self, done: int) -> None:
        """Show how many of the `total` states are done."""
        if not self._bar.disable:
            self._end_compiling()
            self._bar.update(done - self._bar.n)

    def _end_compiling(self) -> None:
        if self._compiling:
            self._compiling = False
            self._bar.reset()  # the search's clock, so that the rate excludes compiling


class _CellLine(tqdm):
    """Shows its line as an output of the notebook's cell, and empties it at the end.

    Standard error would leave a red line behind.
    """

    def __init__(self, **options: Any):
        super().__init__(file=StringIO(), **options)

    @staticmethod
    def status_printer(file: Any) -> Show:
        """The function that tqdm calls to replace the line."""
        if elsewhere := _SHOWN_BY.get():
            return elsewhere
        shown = None

        def show(line: str) -> None:
            nonlocal shown
            content = {"text/plain": line}
            if shown is not None:
                shown.update(content, raw=True)
            elif line:
                shown = display(content, raw=True, display_id=True)

        return show
