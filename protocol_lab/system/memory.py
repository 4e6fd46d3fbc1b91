"""The memory that a search may use: as requested, or half of what this process can have.

Besides the machine's memory, the limits of a container and of the process (`ulimit -v`) count:
beyond them the system would kill the process, and the search's result would be lost.
"""

import threading
from pathlib import Path

from protocol_lab.quantities import amount
from protocol_lab.system.operating_system import address_space

LEAST_GIB, MOST_GIB = 1e-5, 1e6

_CONTAINER_LIMITS = [
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
]
"""Where a container finds its limit: control groups of version 2, and 1."""

_IN_A_PAGE = 1 << 30


class Budget:
    """The bytes that a search may use, and those that it uses; threads may share a budget.

    most: the most that was used at a time.
    """

    def __init__(self, bound: int):
        self.bound = bound
        self.used = self.most = 0
        self._lock = threading.Lock()

    def take(self, count: int, at_least: bool = False) -> bool:
        """Reserve bytes if that many are left; returns whether. at_least: reserve these in any
        case, since the search can't do without."""
        with self._lock:
            if self.used + count > self.bound and not at_least:
                return False
            self.used += count
            self.most = max(self.most, self.used)
            return True

    def give_back(self, count: int) -> None:
        """Release bytes that are no longer used."""
        with self._lock:
            self.used -= count


def allowed_bytes(gib: float | None) -> int:
    """The bytes that a search may use: the given GiB, or by default half of what is available.

    Raises LabError for an amount that is not a number, not finite, too small or too large.
    """
    if gib is None:
        return available_bytes() // 2
    return int(amount("memory_gib", gib, LEAST_GIB, MOST_GIB, "GiB") * 2**30)


def available_bytes() -> int:
    """The memory that this process can have: the machine's, or less if a limit says so."""
    return min([_of_machine(), *_container_limits(), *_address_space_left()])


def _of_machine() -> int:
    """The machine's memory; in a page, which can't ask, what a browser lets it have at least."""
    try:
        import psutil
    except ImportError:
        return _IN_A_PAGE
    return psutil.virtual_memory().total


def _container_limits() -> list[int]:
    """The limit of the container that this process runs in, if it is in one."""
    said = [
        each.read_text(encoding="ascii").strip() for each in _CONTAINER_LIMITS if each.is_file()
    ]
    return [int(each) for each in said if each.isdigit()]  # else it is "max"


def _address_space_left() -> list[int]:
    """What `ulimit -v` leaves beyond the address space in use, if there is such a limit."""
    limit = address_space()
    if limit is None:
        return []
    import psutil

    return [max(0, limit - psutil.Process().memory_info().vms)]
