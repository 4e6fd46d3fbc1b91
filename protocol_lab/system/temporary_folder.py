"""Temporary folders that are removed with their owner, or when the process ends."""

import shutil
import tempfile
import weakref
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
