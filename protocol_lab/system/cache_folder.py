"""The user's cache folder: compiled kernels, and a wrapper for Java.

Files in it are executed. Checksums detect damage, but only ownership keeps other users out: the
folder must belong to the user and be writable by nobody else, or another one is used.
"""

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from protocol_lab.system.operating_system import is_own, is_windows, user_number

_OTHERS_MAY_WRITE = 0o022

_said: set[str] = set()
"""The subjects of the sentences that `say_once` has printed in this process."""


def cache_folder(name: str) -> Path | None:
    """The folder of this name in the kit's cache, private to the user; it is made if it does not
    exist.

    The cache is $PROTOCOL_LAB_CACHE, else the user's own cache folder, else a folder in the
    temporary directory; the first that can be used, with one line on stderr if it is not the first
    of all. None if none can be used: then nothing is kept.
    """
    chosen, refusals = os.environ.get("PROTOCOL_LAB_CACHE"), []
    for home in filter(None, [chosen and Path(chosen), *_own_places()]):
        try:
            if str(home) != chosen:
                _reclaim(home)
            for folder in (home, home / name):
                _make_private(folder)
        except OSError as error:
            refusals.append(f"The cache folder {home} is not used ({error.strerror})")
            continue
        if refusals:
            say_once("cache", f"{refusals[0]}; {home} is used instead.")
        return home / name
    say_once("cache", f"{refusals[0]}; nothing is kept, and every start compiles again.")
    return None


def say_once(subject: str, sentence: str) -> None:
    """Print a sentence on stderr, unless one on this subject was printed before."""
    if subject not in _said:
        _said.add(subject)
        with suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or None
            print(sentence, file=sys.stderr, flush=True)


def _own_places() -> list[Path]:
    from platformdirs import user_cache_dir  # a page has neither the package nor a cache

    user = user_number()
    name = "user" if user is None else user
    temporary = Path(tempfile.gettempdir()) / f"protocol-lab-cache-{name}"
    return [Path(user_cache_dir("protocol-lab")), temporary]


def _reclaim(home: Path) -> None:
    """Empty a folder of the kit if others could have written to it, or to a folder in it."""
    if not home.is_dir() or is_windows() or not is_own(home.stat()):
        return
    folders = [home, *(each for each in home.iterdir() if each.is_dir())]
    if any(each.stat().st_mode & _OTHERS_MAY_WRITE for each in folders):
        home.chmod(0o700)
        for each in folders[1:]:
            shutil.rmtree(each)


def _make_private(folder: Path) -> None:
    """Make the folder and its parents for the user alone. Raises OSError if it exists and is not
    the user's, or can't be written."""
    for each in reversed([folder, *folder.parents]):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(0, "it is no folder")
    known = folder.stat()
    if not is_own(known):
        raise PermissionError(0, "it belongs to another user")
    if not is_windows() and known.st_mode & _OTHERS_MAY_WRITE:
        raise PermissionError(0, "others can write to it; chmod go-w would change that")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(0, "it can't be written")
