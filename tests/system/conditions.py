"""The conditions of Windows and macOS on Linux, as far as the kit can notice them.

`windows` and `macos` change this process: a test hands them its monkeypatch.
"""

import errno
import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from protocol_lab.system import operating_system


class Msvcrt:
    """Windows' locks of bytes: one that another open file has is refused, without waiting."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        import fcntl  # Windows itself has none, and imports this file, too

        self._fcntl = fcntl

    def locking(self, number: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        assert os.lseek(number, 0, os.SEEK_CUR) > os.fstat(number).st_size, "it could not be read"
        try:
            self._fcntl.flock(number, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


def windows(patch: pytest.MonkeyPatch) -> None:
    """No fcntl, no resource, no users with numbers, no process groups, no fork, no masked signals;
    and an open file can neither be removed nor renamed."""
    patch.setattr(operating_system, "PLATFORM", "win32")
    patch.setattr(operating_system, "fcntl", None)
    patch.setattr(operating_system, "msvcrt", Msvcrt())
    for module in ("fcntl", "resource"):
        patch.setitem(sys.modules, module, None)
    for name in ("geteuid", "getuid", "killpg", "fork", "waitid", "sched_getaffinity"):
        patch.delattr(os, name)
    for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "pthread_sigmask"):
        patch.delattr(signal, name)
    patch.setattr(shutil, "_use_fd_functions", False)
    for name in ("unlink", "remove", "rename", "replace", "rmdir"):
        patch.setattr(os, name, _unless_open(getattr(os, name)))


def macos(patch: pytest.MonkeyPatch) -> None:
    """No affinity to cores, no /proc, and a limit of the address space that can't be set."""
    import resource

    def setrlimit(which: int, limits: tuple[int, int]) -> None:
        if which == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")

    patch.setattr(operating_system, "PLATFORM", "darwin")
    patch.setattr(resource, "setrlimit", setrlimit)
    patch.delattr(os, "sched_getaffinity")


def _unless_open(function: Callable) -> Callable:
    """The function of `os`, refused for a file that this process has open, or a folder of one."""

    def refusing(*paths: str | Path, **options: object) -> object:
        for path in paths:
            wanted = os.path.realpath(path)
            if any(each == wanted or each.startswith(wanted + os.sep) for each in _open_files()):
                raise PermissionError(errno.EACCES, "it is used by another process", str(path))
        return function(*paths, **options)

    return refusing


def _open_files() -> Iterator[str]:
    """The regular files that this process has open."""
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if stat.S_ISREG(os.stat(f"/proc/self/fd/{number}").st_mode):
                yield os.readlink(f"/proc/self/fd/{number}")
