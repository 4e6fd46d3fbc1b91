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

try:
    import fcntl
except ImportError:  # Windows: leftovers of killed processes stay
    fcntl = None

_PREFIX = "protocol-lab-"
_OWNER = "owner"

_EMPTY_SECONDS = 86_400
"""An empty folder without a lock is removed when it is this old. (A Java that is still starting
when its process ends may make its folder once more.)"""

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
    shutil.rmtree(folder, ignore_errors=True)
    lock = _held.pop(folder, None)
    if lock is not None:
        lock.close()


def sweep(place: Path) -> None:
    """Remove the user's folders there whose processes have ended."""
    if fcntl is None:
        return
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            known = folder.lstat()
            if folder.is_symlink() or known.st_uid != os.geteuid():
                continue
            if not (folder / _OWNER).exists():
                if time.time() - known.st_mtime > _EMPTY_SECONDS:
                    folder.rmdir()
                continue
            with (folder / _OWNER).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


def _claim(folder: Path) -> None:
    if fcntl is None:
        return
    lock = (folder / "claim").open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    Path(lock.name).rename(folder / _OWNER)  # it is never visible without its lock
    _held[folder] = lock
