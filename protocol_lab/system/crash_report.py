"""Writes the details of a crash to a file, so that people see one sentence.

The newest reports are kept, in the user's folder for logs, or in the temporary directory if that
can't be written.
"""

import os
import platform
import tempfile
import time
import traceback
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from platformdirs import user_log_dir

from protocol_lab.errors import shortened

_KEPT = 20
"""How many reports are kept; older ones are removed."""

_PACKAGES = ("replication-protocol-lab", "numba", "llvmlite", "numpy", "pyspark", "pyarrow")
_CHARACTERS = 1_000
"""The most characters of each word of the command line in a report."""


def told(error: BaseException, words: list[str]) -> str:
    """One sentence for an unexpected error, which names the file with the details."""
    said = " ".join(str(error).split()).rstrip(".")
    cause = shortened(f"{type(error).__name__}: {said}" if said else type(error).__name__)
    path = _write(_report(error, words))
    where = f"please send {path}" if path else "and no file could be written with the details"
    return f"The kit failed, and this is no verdict ({cause}): {where}."


def _report(error: BaseException, words: list[str]) -> str:
    versions = [f"Python {platform.python_version()} on {platform.platform()}"]
    for package in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions.append(f"{package} {metadata.version(package)}")
    command = " ".join(repr(shortened(word, _CHARACTERS)) for word in words)
    details = "".join(traceback.format_exception(error))
    return "\n".join([f"protocol_lab {command}", *versions, "", details])


def _write(text: str) -> Path | None:
    """Write the text to a file that only the user can read; returns its path, None if it can't be
    written."""
    name = time.strftime(f"crash-%Y%m%d-%H%M%S-{os.getpid()}.txt")
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / name
            place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(place, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            for old in sorted(folder.glob("crash-*.txt"))[:-_KEPT]:
                with suppress(OSError):
                    old.unlink()
            return path
    return None


def _folders() -> list[Path]:
    chosen = os.environ.get("PROTOCOL_LAB_CACHE")
    own = Path(chosen) if chosen else Path(user_log_dir("protocol-lab"))
    return [own / "crashes", Path(tempfile.gettempdir())]
