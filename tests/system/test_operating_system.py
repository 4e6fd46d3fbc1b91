"""The kit under the conditions of Windows and macOS, simulated, and what makes that possible: no
other room asks which system it is on."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from protocol_lab.compiler import kernel_cache
from protocol_lab.errors import LabError
from protocol_lab.spark.run_folder import RunFolder
from protocol_lab.system import helper_processes, memory, notebook_server
from protocol_lab.system.operating_system import (
    address_space,
    cores,
    kill_with_descendants,
    limit_process,
    signal_name,
)
from tests import ROOT
from tests.system import conditions
from tests.test_style import tracked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they are simulated on Linux")


@pytest.fixture
def windows(tmp_path, monkeypatch) -> None:  # pytest makes tmp_path under its own conditions
    with monkeypatch.context() as patch:
        conditions.windows(patch)
        yield


@pytest.fixture
def macos(monkeypatch) -> None:
    with monkeypatch.context() as patch:
        conditions.macos(patch)
        yield


def test_the_simulation_refuses_what_windows_refuses(windows, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        for act in (lambda: os.unlink(file.name), lambda: os.rename(tmp_path, f"{tmp_path}2")):
            with pytest.raises(PermissionError):
                act()
    os.unlink(file.name)


def test_on_windows_a_folder_goes_with_its_owner(goes_with_its_owner, windows):
    goes_with_its_owner()


def test_on_windows_one_search_at_a_time_uses_a_run_folder(tmp_path, windows):
    with (
        RunFolder(tmp_path / "run", 8, 1).claimed({"search": 1}),
        pytest.raises(LabError, match="Another search is using"),
        RunFolder(tmp_path / "run", 8, 1).claimed({"search": 1}),
    ):
        pass
    with RunFolder(tmp_path / "run", 8, 1).claimed({"search": 1}):
        pass


def test_on_windows_a_kernel_that_another_process_reads_is_not_replaced(tmp_path, windows):
    file = tmp_path / "some.kernel"
    kernel_cache.write(file, b"first")
    with file.open("rb"), pytest.raises(OSError, match="used by another process"):
        kernel_cache.write(file, b"second")  # its caller says so, and goes on
    assert kernel_cache.read(file) == b"first"
    assert list(tmp_path.iterdir()) == [file]


def test_on_windows_a_process_is_killed_alone_and_without_limits(windows):
    sleeping = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    # Popen.kill() is another function there, and has no need of the signal.
    sleeping.kill = sleeping.terminate
    kill_with_descendants(sleeping)
    assert sleeping.wait() == -signal.SIGTERM
    limit_process(1, 1)
    assert address_space() is None
    assert memory.available_bytes() > 0
    assert (helper_processes.helpers_at_hand(), cores() > 0) == (0, True)
    assert signal_name(1) == ""


def test_on_macos_a_limit_that_can_not_be_set_is_left_out(macos, monkeypatch):
    limit_process(100, 1 << 40)
    assert cores() > 0
    assert helper_processes.helpers_at_hand() == 0  # a copy of a process is not safe there
    for name in ("CI", "SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert notebook_server.has_display()


# --- The room ------------------------------------------------------------------------------------

ASKING = re.compile(
    r"\bos\.(name|geteuid|getuid|killpg|fork|sched_getaffinity)\b|\bsys\.platform\b"
    r"|\bimport (fcntl|msvcrt|resource)\b"
)


def test_no_other_room_asks_which_system_it_is_on():
    """`real` needs a system with signals, `site` is built where the tests run."""
    exempt = {"system", "real", "site"}
    asking = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in tracked(".py")
        if (parts := path.relative_to(ROOT).parts)[0] == "protocol_lab" or "_spec" in parts[0]
        if not exempt & set(parts)
        for found in ASKING.finditer(_code(path))
    ]
    assert asking == []


def _code(path: Path) -> str:
    """A module without comments."""
    return ast.unparse(ast.parse(path.read_text(encoding="utf-8")))


RESERVED = {"con", "prn", "aux", "nul", *(f"{k}{n}" for k in ("com", "lpt") for n in range(1, 10))}


def test_every_file_has_a_name_that_all_systems_take():
    paths = [path for path in tracked("") if path.is_file()]
    names = [path.relative_to(ROOT).as_posix() for path in paths]
    parts = {part for name in names for part in name.split("/")}
    assert sorted(part for part in parts if re.search(r'[<>:"|?*\\\x00-\x1f]|[. ]$', part)) == []
    assert sorted(part for part in parts if part.partition(".")[0].lower() in RESERVED) == []
    assert [name for name, count in Counter(map(str.lower, names)).items() if count > 1] == []
    assert [name for name in names if len(name) > 150] == []  # of the 260 that Windows may have
    assert [path for path in paths if path.is_symlink()] == []
