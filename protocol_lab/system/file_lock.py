"""Locks of open files, which the system releases when their process ends, however it ends.

Windows locks bytes, and nobody else can read a locked one: so the byte is one far behind the end of
the file.
"""

from typing import IO

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
