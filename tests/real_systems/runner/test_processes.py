"""Processes of a run: they start, pause, end; and nothing is left, however the driver dies."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from protocol_lab.errors import LabError
from real_systems.runner.processes import DidNotHappen, Processes, wait_until
from tests import PATIENCE

SLEEPER = (sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)")


def is_running(pid: int) -> bool:
    """Is there such a process, other than as a zombie?"""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_for(condition) -> None:
    wait_until(condition, "it is so", PATIENCE, 0.02)


def test_a_process_writes_its_log_and_ends_with_the_run():
    with Processes() as processes:
        log = processes.folder / "node" / "log.txt"
        pid = processes.start("1", SLEEPER, log)
        wait_for(lambda: log.read_text(encoding="utf-8") == "up\n")
        assert processes.exit_code("1") is None
        assert is_running(pid)
    assert not is_running(pid)
    assert not processes.folder.exists()
    assert processes._keeper.stdout.closed


def test_processes_pause_resume_stop_and_are_killed():
    with Processes() as processes:
        for name in ("1", "2"):
            log = processes.folder / f"{name}.txt"
            processes.start(name, SLEEPER, log)
            wait_for(lambda log=log: log.read_text(encoding="utf-8") == "up\n")
        processes.pause("1")
        with pytest.raises(DidNotHappen, match="1 ends"):
            processes.stop("1", seconds=0.2)
        processes.resume("1")
        wait_for(lambda: processes.exit_code("1") == -signal.SIGTERM)
        processes.kill("2")
        assert processes.exit_code("2") == -signal.SIGKILL


def test_a_folder_that_is_used_is_not_taken(tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(LabError, match="not empty"):
        Processes(tmp_path)


def test_a_program_that_is_not_there_gets_a_sentence():
    with Processes() as processes, pytest.raises(LabError, match="can't be started"):
        processes.start("1", ["no-such-program"], processes.folder / "log.txt")


DRIVER = textwrap.dedent("""
    import os, signal, sys, time
    from real_systems.runner.processes import Processes
    with Processes() as processes:
        pid = processes.start("1", [sys.executable, "-c", "import time; time.sleep(600)"],
                              processes.folder / "log.txt")
        keeper = processes._keeper.pid
        print(pid, keeper, processes.folder, flush=True)
        {death}
""")

DEATHS = {
    "an exception": "raise RuntimeError",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)",
    "the keeper is terminated": "os.kill(keeper, signal.SIGTERM); time.sleep(1); os._exit(0)",
}


@pytest.mark.slow
@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
def test_nothing_is_left_after(death):
    driver = subprocess.run(
        [sys.executable, "-c", DRIVER.format(death=death)], capture_output=True, text=True
    )
    pid, _, folder = driver.stdout.split()
    wait_for(lambda: not is_running(int(pid)) and not Path(folder).exists())


def test_after_the_keeper_was_killed_the_driver_says_so():
    with Processes() as processes:
        os.kill(processes._keeper.pid, signal.SIGKILL)
        time.sleep(0.1)
        with pytest.raises(LabError, match="killed from outside"):
            processes.start("1", SLEEPER, processes.folder / "log.txt")
