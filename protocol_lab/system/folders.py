"""Temporary folders that are removed with their owner, or when a process ends."""

import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any


def temporary_folder(purpose: str, owner: object = sys, place: str | None = None) -> Path:
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


# --- Cache folder ---------------------------------------------------------------------------------
#
# The user's cache folder: compiled kernels, jars, and a wrapper for Java.


_said: set[str] = set()
"""The subjects of the sentences that `say_once` has printed in this process."""


def cache_folder(name: str) -> Path | None:
    """The folder of this name in the kit's cache, for the user alone; it is made if it does not
    exist.

    The cache is $PROTOCOL_LAB_CACHE, else the user's own cache folder. None, with one line on
    stderr, if it can't be written: then nothing is kept.
    """
    home = os.environ.get("PROTOCOL_LAB_CACHE")
    if not home:
        from platformdirs import user_cache_dir  # a page has neither the package nor a cache

        home = user_cache_dir("protocol-lab")
    folder = Path(home) / name
    try:
        for each in reversed([folder, *folder.parents]):
            if not each.exists():
                each.mkdir(mode=0o700, exist_ok=True)
        if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
            return folder
        why = "it can't be written"
    except OSError as error:
        why = error.strerror
    say_once(
        "cache",
        f"The cache folder {folder} is not used ({why}), and every start compiles again: set"
        " PROTOCOL_LAB_CACHE to a folder of yours.",
    )
    return None


PRIVATE, SHARED, PROGRAM = 0o600, 0o644, 0o755
"""Modes of files that only the user reads, that others read as well, or run."""


def write_whole(path: Path, content: Any, mode: int = PRIVATE) -> None:
    """Write bytes, or another buffer, to a file whole or not at all, since several processes may do
    so at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(part, mode)
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)


def say_once(subject: str, sentence: str) -> None:
    """Print a sentence on stderr, unless one on this subject was printed before."""
    if subject not in _said:
        _said.add(subject)
        with suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or None
            print(sentence, file=sys.stderr, flush=True)
