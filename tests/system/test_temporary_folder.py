"""Temporary folders do not outlive their owners."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from protocol_lab.system.temporary_folder import remove, sweep, temporary_folder
from tests import ROOT

MAKE_ONE = """
import sys
from protocol_lab.system.temporary_folder import temporary_folder
folder = temporary_folder("test")
(folder / "deep").mkdir()
(folder / "deep" / "file").write_text("left behind")
print(folder, flush=True)
sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def maker() -> tuple[subprocess.Popen, Path]:
    """A process that has made a folder and waits, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAKE_ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_leaves_is_removed_and_nothing_else(place):
    killed, left = maker()
    others, alive = maker()
    (place / "protocol-lab-mine").mkdir()
    (place / "another").mkdir()
    (place / "protocol-lab-spark-empty").mkdir()
    os.utime(place / "protocol-lab-spark-empty", (0, 0))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.exists()
    own = temporary_folder("test")
    kept = {own, alive, place / "protocol-lab-mine", place / "another"}
    assert set(place.iterdir()) == kept
    others.communicate("end")
    assert set(place.iterdir()) == kept - {alive}
    remove(own)


def test_a_folder_goes_with_its_owner(place):
    class Owner:
        pass

    owner = Owner()
    folder = temporary_folder("test", owner)
    sweep(place)
    assert folder.is_dir()
    del owner
    gc.collect()
    assert not folder.exists()


def test_a_link_is_not_followed(place, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "owner").touch()
    (place / "protocol-lab-link").symlink_to(elsewhere)
    sweep(place)
    assert (elsewhere / "owner").exists()
