"""Helper processes: copies of this process that do a share of its work and leave files behind.

They are for work that threads can't share, such as Numba's, which compiles one function at a time
in a process. A copy has everything that this process has imported and defined, so that it starts at
once. Copying a process is safe only on Linux, and while no other thread runs that could hold a
lock.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise

from tqdm import TMonitor

from protocol_lab.system.operating_system import cores, is_linux


def helpers_at_hand() -> int:
    """How many copies of this process can help it: one for each other core, or none."""
    others = [each for each in threading.enumerate() if not isinstance(each, TMonitor)]
    if not is_linux() or others != [threading.main_thread()]:
        return 0
    return cores() - 1


@contextmanager
def helped(work: Sequence[Callable[[], object]], helpers: int) -> Iterator[Iterator[int]]:
    """Divide work among this process and some copies of it.

    A context manager: it gives an iterator over the positions in `work` of the items that this
    process has to do itself; its end waits for the copies. Each process begins with a share of
    neighbouring items, which may have much in common, and then takes items that are left in the
    other shares, so that all end at about the same time. An exception ends a copy silently: whoever
    needs the item does it again. Copies that still run when the context is left are killed. Without
    helpers the iterator is empty.
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
    """A pipe from which each of these items' numbers can be read once."""
    taken_from, numbers = os.pipe()
    os.write(numbers, b"".join(k.to_bytes(_NUMBER, "little") for k in items))
    os.close(numbers)  # so that there is an end to what can be read
    return taken_from


def _next_items(shares: Sequence[int]) -> Iterator[int]:
    """Take items from one share after the other; yields the number of each."""
    for each in shares:
        while number := os.read(each, _NUMBER):
            yield int.from_bytes(number, "little")


def _copy(work: Sequence[Callable[[], object]], shares: Sequence[int]) -> int:
    """Fork a process that does items of these shares and then exits; returns its process id."""
    number = os.fork()
    if number:
        return number
    try:
        for each in _next_items(shares):
            work[each]()
    finally:
        os._exit(0)
