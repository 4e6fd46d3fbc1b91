"""Temporary folders that are removed with their owner, even after it was killed.

A process holds a lock on the file `owner` in each of its folders, which the system releases when
the process ends, however it ends. Making the next folder removes those that nobody holds.
"""

import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

from protocol_lab.system.file_lock import try_lock
from protocol_lab.system.operating_system import is_own

_PREFIX = "protocol-lab-"
_OWNER = "owner"

_EMPTY_SECONDS = 86_400
"""An empty folder, or one that was never locked, is removed when it is this old. (A Java that
is still starting when its process ends may make its folder once more.)"""

_held: dict[Path, IO] = {}
"""The locks of this process."""


class _Process:
    """Owns the folders that last as long as the process."""


_process = _Process()


def temporary_folder(purpose: str, owner: object = _process, place: str | None = None) -> Path:
    """A new folder, which is removed with its owner (or by `remove`), or when the process ends.

    purpose: a part of its name; place: where it is made, by default the temporary directory.
    Leftovers in the same place are removed. Raises OSError if it can't be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-", dir=place))
    sweep(folder.parent)
    _claim(folder)
    weakref.finalize(owner, remove, folder)
    return folder


def remove(folder: Path) -> None:
    """Remove one of the process's folders; files that can't be removed stay."""
    lock = _held.pop(folder, None)
    if lock is not None:
        lock.close()  # Windows removes no open file
    shutil.rmtree(folder, ignore_errors=True)


def sweep(place: Path) -> None:
    """Remove the user's folders there whose processes have ended."""
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            known = folder.lstat()
            if folder.is_symlink() or not is_own(known):
                continue
            if not (folder / _OWNER).exists():
                if _is_old(known):
                    folder.rmdir()
            elif _is_left(folder / _OWNER):
                shutil.rmtree(folder, ignore_errors=True)


def _is_left(owner: Path) -> bool:
    """Has the process ended that has made this file? One that is empty is just being locked."""
    known = owner.stat()
    with owner.open("rb") as lock:
        return (known.st_size > 0 or _is_old(known)) and try_lock(lock)


def _is_old(known: os.stat_result) -> bool:
    return time.time() - known.st_mtime > _EMPTY_SECONDS


def _claim(folder: Path) -> None:
    """Lock the folder for this process, and only then write into the lock's file."""
    lock = _held[folder] = (folder / _OWNER).open("wb")
    if try_lock(lock):
        lock.write(b"locked as long as its process lives\n")
        lock.flush()
