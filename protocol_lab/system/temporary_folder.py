"""Temporary folders that are removed with their owner, or when a process ends."""

import shutil
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path


class _Process:
    """Owns the folders that last as long as the process."""


_process = _Process()


def temporary_folder(purpose: str, owner: object = _process, place: str | None = None) -> Path:
    """A new folder, which is removed with its owner (or by `remove`), or when the process ends.

    purpose: a part of its name; place: where it is made, by default the temporary directory.
    Raises OSError if it can't be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"protocol-lab-{purpose}-", dir=place))
    weakref.finalize(owner, remove, folder)
    return folder


def remove(folder: Path) -> None:
    """Remove a folder; files that can't be removed stay."""
    shutil.rmtree(folder, ignore_errors=True)


def remover(folder: Path) -> subprocess.Popen | None:
    """A process that removes a folder once all who can write to its standard input have closed it,
    or have ended in any way. None in a page, which has no processes.

    `remover(...).communicate()` removes it now.
    """
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.Popen(
            [sys.executable, "-ISc", _REMOVE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


_REMOVE = """
import os, shutil, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.read()
for _ in range(20):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not os.path.exists(sys.argv[1]):
        break
    time.sleep(0.05)
"""
"""Tried again, since a process that is being killed may write into the folder for a moment."""
