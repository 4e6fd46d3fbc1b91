"""The user's cache folder: compiled kernels, jars, and a wrapper for Java."""

import os
import sys
from contextlib import suppress
from pathlib import Path

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


def say_once(subject: str, sentence: str) -> None:
    """Print a sentence on stderr, unless one on this subject was printed before."""
    if subject not in _said:
        _said.add(subject)
        with suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or None
            print(sentence, file=sys.stderr, flush=True)
