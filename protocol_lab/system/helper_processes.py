"""Helper processes: copies of this process that do a share of its work and leave files behind.

For work that threads can't share, such as Numba's, which compiles one function at a time in a
process. A copy has everything that is imported and defined here, so that it starts at once; hence
only where copying a process is safe: on Linux, and while no other thread runs that could hold a
lock.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from tqdm import TMonitor


def helpers_at_hand() -> int:
    """How many copies can work beside this process: one less than there are cores, or none."""
    others = [each for each in threading.enumerate() if not isinstance(each, TMonitor)]
    if sys.platform != "linux" or others != [threading.main_thread()]:
        return 0
    return len(os.sched_getaffinity(0)) - 1


@contextmanager
def helped(work: Sequence[Callable[[], object]], helpers: int) -> Iterator[Callable[[], None]]:
    """So many copies of this process do this work, but for this process's own share.

    That share is every (helpers + 1)-th item, the first one included. Gives a function that waits
    until the copies have ended. What a copy raises ends it without a word: who needs the item does
    it again. Copies that still work at the end are killed.
    """
    copies = [_copy(work[each :: helpers + 1]) for each in range(1, helpers + 1)]

    def wait() -> None:
        while copies:
            os.waitpid(copies[-1], 0)
            copies.pop()

    try:
        yield wait
    finally:
        for copy in copies:
            with suppress(ProcessLookupError):
                os.kill(copy, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(copy, 0)


def _copy(share: Sequence[Callable[[], object]]) -> int:
    """The number of a new process that does this share, and nothing of what its parent goes on
    to do."""
    number = os.fork()
    if number:
        return number
    try:
        for each in share:
            each()
    finally:
        os._exit(0)
