"""What Linux, macOS and Windows do differently, so that no other room has to ask.

Everything is looked up when it is called, so that tests can have the conditions of another system
(`tests/system/test_operating_system.py`). `real` asks for itself: there is no Windows for it.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen


PLATFORM = sys.platform


def is_windows() -> bool:
    """Is this Windows?"""
    return PLATFORM == "win32"


def is_linux() -> bool:
    """Is this Linux, and no page?"""
    return PLATFORM == "linux"


def is_macos() -> bool:
    """Is this macOS?"""
    return PLATFORM == "darwin"


def user_number() -> int | None:
    """The user that this process acts for; None on Windows, whose users have no numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def take_the_lowest_priority() -> None:
    """Let this process run only where no other one wants to."""
    import psutil

    with suppress(OSError, psutil.Error):
        psutil.Process().nice(psutil.IDLE_PRIORITY_CLASS if is_windows() else 19)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def address_space() -> int | None:
    """The most bytes of address space that this process may have; None if there is no limit.
    Windows and pages have none."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def limit_process(cpu_seconds: int, memory_bytes: int) -> None:
    """Limit this process and those that it starts. Windows has no such limits, and macOS does not
    take all of them."""
    try:
        import resource
    except ImportError:
        return
    for which, value in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(which)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (value, value))


def end_with_parent() -> None:
    """Have this process killed when the one that started it ends, however that ends. Only Linux can
    do this; elsewhere a process notices when it next writes to its parent."""
    if is_linux():
        import ctypes

        set_parent_death_signal = 1  # linux/prctl.h
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def kill_with_descendants(process: "Popen") -> None:
    """Kill a process that was started with start_new_session=True, and what it has started; on
    Windows only the process itself."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def signal_name(exit_code: int) -> str:
    """The signal that ended a process, as in SIGKILL; "" if none did, as always on Windows."""
    with suppress(ValueError):
        return signal.Signals(-exit_code).name if exit_code < 0 else ""
    return f"signal {-exit_code}"


# --- File lock ------------------------------------------------------------------------------------
#
# Locks of open files, which the system releases when their process ends, however it ends.
#
# Windows locks bytes, and nobody else can read a locked one: so the byte is one far behind the end
# of the file.


try:
    import fcntl
except ImportError:  # Windows, or a page
    fcntl = None
try:
    import msvcrt
except ImportError:  # everywhere else
    msvcrt = None

_BYTE = 1 << 30


def try_lock(file: IO) -> bool:
    """Lock an open file without waiting; returns whether it is locked, until it is closed.

    Also False where the file's system has no locks, as that of some network folders. A page has
    none either, but only one process: there it is True.
    """
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            place = file.tell()
            file.seek(_BYTE)
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            finally:
                file.seek(place)
    except OSError:
        return False
    return True
