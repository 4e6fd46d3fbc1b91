"""Helper processes: copies of this process that do a share of its work and leave files behind.

They are for work that threads can't share, such as Numba's, which compiles one function at a time
in a process. A copy has everything that this process has imported and defined, so that it starts at
once. Copying a process is safe only on Linux, and while no other thread runs that could hold a
lock.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise

from tqdm import TMonitor


def helpers_at_hand() -> int:
    """How many copies can work beside this process: one less than the number of cores, or none."""
    others = [each for each in threading.enumerate() if not isinstance(each, TMonitor)]
    if sys.platform != "linux" or others != [threading.main_thread()]:
        return 0
    return len(os.sched_getaffinity(0)) - 1


@contextmanager
def helped(work: Sequence[Callable[[], object]], helpers: int) -> Iterator[Iterator[int]]:
    """So many copies of this process do this work, with this process's help.

    Gives the positions in `work` of the items that this process is to do. Each process begins with
    a share of neighbours, which may have much in common, and goes on with what is left of the
    others' shares, so that all end at about the same time; then the copies are waited for. What a
    copy raises ends it without a word: who needs the item does it again. Copies that still work at
    the end are killed. Without helpers there is nothing to do.
    """
    edges = [len(work) * k // (helpers + 1) for k in range(helpers + 2)]
    shares = [_share(range(*each)) for each in pairwise(edges)]
    copies = [_copy(work, [*shares[k:], *shares[:k]]) for k in range(1, helpers + 1)]

    def own() -> Iterator[int]:
        if copies:
            yield from _next_items(shares)
        while copies:
            os.waitpid(copies[-1], 0)
            copies.pop()

    try:
        yield own()
    finally:
        for each in shares:
            os.close(each)
        for copy in copies:
            with suppress(ProcessLookupError):
                os.kill(copy, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(copy, 0)


_NUMBER = 2
"""Bytes of an item's number in a pipe, from which one process at a time takes one."""


def _share(items: range) -> int:
    """A pipe from which the numbers of these items can be taken, each once."""
    taken_from, numbers = os.pipe()
    os.write(numbers, b"".join(k.to_bytes(_NUMBER, "little") for k in items))
    os.close(numbers)  # so that there is an end to what can be read
    return taken_from


def _next_items(shares: Sequence[int]) -> Iterator[int]:
    """The numbers of the items that nobody else takes, from one share after the other."""
    for each in shares:
        while number := os.read(each, _NUMBER):
            yield int.from_bytes(number, "little")


def _copy(work: Sequence[Callable[[], object]], shares: Sequence[int]) -> int:
    """The number of a new process that takes items, and does nothing of what its parent goes on
    to do."""
    number = os.fork()
    if number:
        return number
    try:
        for each in _next_items(shares):
            work[each]()
    finally:
        os._exit(0)
