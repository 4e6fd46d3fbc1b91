"""The kit under the conditions of Windows and macOS, simulated, and what makes that possible: no
other room asks which system it is on. Temporary folders."""

import ast
import errno
import gc
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from protocol_lab.compiler import kernel_cache
from protocol_lab.errors import LabError
from protocol_lab.spark.run_folder import RunFolder
from protocol_lab.system import helper_processes, memory, notebook_server, operating_system
from protocol_lab.system.folders import temporary_folder
from protocol_lab.system.operating_system import (
    address_space,
    cores,
    kill_with_descendants,
    limit_process,
    signal_name,
)
from tests import ROOT
from tests.test_style import tracked

# --- The conditions of Windows and macOS on Linux, as far as the kit can notice them ------------


class Msvcrt:
    """Windows' locks of bytes: one that another open file has is refused, without waiting."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        import fcntl  # Windows itself has none, and imports this file, too

        self._fcntl = fcntl

    def locking(self, number: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        assert os.lseek(number, 0, os.SEEK_CUR) > os.fstat(number).st_size, "it could not be read"
        try:
            self._fcntl.flock(number, self._fcntl.LOCK_EX | self._fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None


def be_windows(patch: pytest.MonkeyPatch) -> None:
    """No fcntl, no resource, no users with numbers, no process groups, no fork, no masked signals;
    and an open file can neither be removed nor renamed."""
    patch.setattr(operating_system, "PLATFORM", "win32")
    patch.setattr(operating_system, "fcntl", None)
    patch.setattr(operating_system, "msvcrt", Msvcrt())
    for module in ("fcntl", "resource"):
        patch.setitem(sys.modules, module, None)
    for name in ("geteuid", "getuid", "killpg", "fork", "waitid", "sched_getaffinity"):
        patch.delattr(os, name)
    for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "pthread_sigmask"):
        patch.delattr(signal, name)
    patch.setattr(shutil, "_use_fd_functions", False)
    for name in ("unlink", "remove", "rename", "replace", "rmdir"):
        patch.setattr(os, name, _unless_open(getattr(os, name)))


def be_macos(patch: pytest.MonkeyPatch) -> None:
    """No affinity to cores, no /proc, and a limit of the address space that can't be set."""
    import resource

    def setrlimit(which: int, limits: tuple[int, int]) -> None:
        if which == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")

    patch.setattr(operating_system, "PLATFORM", "darwin")
    patch.setattr(resource, "setrlimit", setrlimit)
    patch.delattr(os, "sched_getaffinity")


def _unless_open(function: Callable) -> Callable:
    """The function of `os`, refused for a file that this process has open, or a folder of one."""

    def refusing(*paths: str | Path, **options: object) -> object:
        for path in paths:
            wanted = os.path.realpath(path)
            if any(each == wanted or each.startswith(wanted + os.sep) for each in _open_files()):
                raise PermissionError(errno.EACCES, "it is used by another process", str(path))
        return function(*paths, **options)

    return refusing


def _open_files() -> Iterator[str]:
    """The regular files that this process has open."""
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if stat.S_ISREG(os.stat(f"/proc/self/fd/{number}").st_mode):
                yield os.readlink(f"/proc/self/fd/{number}")


def need_linux() -> None:
    if sys.platform != "linux":
        pytest.skip("it is simulated on Linux")


@pytest.fixture
def windows(tmp_path, monkeypatch) -> None:  # pytest makes tmp_path under its own conditions
    need_linux()
    with monkeypatch.context() as patch:
        be_windows(patch)
        yield


@pytest.fixture
def macos(monkeypatch) -> None:
    need_linux()
    with monkeypatch.context() as patch:
        be_macos(patch)
        yield


def test_the_simulation_refuses_what_windows_refuses(windows, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        for act in (lambda: os.unlink(file.name), lambda: os.rename(tmp_path, f"{tmp_path}2")):
            with pytest.raises(PermissionError):
                act()
    os.unlink(file.name)


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


# --- Temporary folders do not outlive their owners -----------------------------------------------


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


MAKE_ONE = """
from protocol_lab.system.folders import temporary_folder
folder = temporary_folder("test")
(folder / "file").write_text("left behind", encoding="utf-8")
print(folder)
"""


def test_a_folder_goes_with_its_process():
    words = [sys.executable, "-c", MAKE_ONE]
    made = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert made.strip()
    assert not Path(made.strip()).exists()


@pytest.mark.slow
def test_a_folder_goes_with_its_owner(goes_with_its_owner):
    goes_with_its_owner()


@pytest.mark.slow
def test_on_windows_a_folder_goes_with_its_owner(goes_with_its_owner, windows):
    goes_with_its_owner()


# --- The room ------------------------------------------------------------------------------------

ASKING = re.compile(
    r"\bos\.(name|geteuid|getuid|killpg|fork|sched_getaffinity)\b|\bsys\.platform\b"
    r"|\bimport (fcntl|msvcrt|resource)\b"
)


@pytest.mark.slow
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
