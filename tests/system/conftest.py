"""Temporary folders in a place of their own."""

import gc
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol_lab.system.folders import temporary_folder


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def goes_with_its_owner(place) -> Callable[[], None]:
    """Expects a folder to be kept as long as the object that it was made for."""

    def expect() -> None:
        class Owner:
            pass

        owner = Owner()
        folder = temporary_folder("test", owner)
        assert folder.is_dir()
        del owner
        gc.collect()
        assert not folder.exists()

    return expect
