"""Temporary folders in a place of their own, and processes that have one."""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol_lab.system.temporary_folder import sweep, temporary_folder
from tests import ROOT

MAKE_ONE = """
import sys
{conditions}
from protocol_lab.system.temporary_folder import temporary_folder
folder = temporary_folder("test")
(folder / "deep").mkdir()
(folder / "deep" / "file").write_text("left behind", encoding="utf-8")
print(folder, flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def maker(place) -> Callable[..., tuple[subprocess.Popen, Path]]:
    """Starts a process that makes a folder and waits; `conditions`: what it runs before."""

    def make(conditions: str = "") -> tuple[subprocess.Popen, Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", MAKE_ONE.format(conditions=conditions)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        return process, Path(process.stdout.readline().strip())

    return make


@pytest.fixture
def goes_with_its_owner(place) -> Callable[[], None]:
    """Expects a folder to be kept as long as the object that it was made for."""

    def expect() -> None:
        class Owner:
            pass

        owner = Owner()
        folder = temporary_folder("test", owner)
        sweep(place)
        assert folder.is_dir()
        del owner
        gc.collect()
        assert not folder.exists()

    return expect
