"""The processes of one run of a real system, by name, and the folder that they write into.

A keeper, a process of its own, starts them and ends them however the driver ends (see `keeper`).
When the keeper has ended in any way, a third process removes the folder.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, TypeVar

from protocol_lab.errors import LabError
from protocol_lab.system.folders import remove, remover, temporary_folder
from real_systems.runner import keeper

BOUND = 120
"""Seconds that anything may take, unless a story says otherwise."""

Seen = TypeVar("Seen")


class DidNotHappen(LabError):
    """What a story waits for did not come about in time: no verdict, neither pass nor failure."""


def wait_until(
    condition: Callable[[], Seen | None],
    what: str,
    seconds: float = BOUND,
    pause: float = 0.2,
    describe: Callable[[], str] | None = None,
) -> Seen:
    """The first answer of `condition` that counts as true. It is asked every `pause` seconds.

    what: what must come about, as a sentence without its full stop. describe: what is there
    instead, for the message. Raises DidNotHappen after `seconds`.
    """
    end = time.monotonic() + seconds
    while True:
        seen = condition()
        if seen:
            return seen
        if time.monotonic() > end:
            instead = f" (seen instead: {describe()})" if describe else ""
            raise DidNotHappen(
                f"This did not come about within {seconds:.0f} s: {what}{instead}. The machine may"
                " be busy: run it again. If it is the same again, --keep FOLDER keeps what each"
                " process logged."
            )
        time.sleep(pause)


_STOPPING = 120
"""Seconds that a process has to stop cleanly."""


class Processes(AbstractContextManager):
    """Starts, stops, kills, pauses and resumes named processes.

    keep: a new or empty folder for what they write, which then stays; by default it is a temporary
    one, removed at the end. Use it as a context manager. Raises LabError.
    """

    def __init__(self, keep: Path | None = None):
        if not hasattr(signal, "SIGSTOP"):
            raise LabError(
                "A real cluster needs Linux or macOS, whose processes can be paused: run it in"
                " WSL, or look at what was recorded with --recorded."
            )
        self.folder = _kept(keep) if keep else temporary_folder("real")
        self._remover = None if keep else remover(self.folder)
        held = [self._remover.stdin] if self._remover else []
        self._keeper = subprocess.Popen(
            [sys.executable, keeper.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            pass_fds=[each.fileno() for each in held],
        )
        for each in held:
            each.close()  # the keeper alone holds it open

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, name: str, command: Iterable[Any], log: Path) -> int:
        """Start a program, whose output goes to the end of `log`; returns its process id."""
        log.parent.mkdir(parents=True, exist_ok=True)
        return self._ask(
            do="start",
            name=name,
            command=[os.fspath(each) if isinstance(each, Path) else str(each) for each in command],
            log=str(log),
        )["pid"]

    def run(
        self, name: str, command: Iterable[Any], log: Path, what: str, seconds: float = BOUND
    ) -> str:
        """Run a program to its end; what it printed. Raises DidNotHappen."""
        self.start(name, command, log)
        wait_until(lambda: self.has_ended(name), f"{what} ends", seconds)
        return log.read_text(encoding="utf-8", errors="replace")

    def has_ended(self, name: str) -> bool:
        """Has a process ended?"""
        return self.exit_code(name) is not None

    def exit_code(self, name: str) -> int | None:
        """None while the process runs."""
        return self._ask(do="poll", name=name)["code"]

    def stop(self, *names: str, seconds: float = _STOPPING) -> None:
        """End processes cleanly, by SIGTERM, and wait for it. Raises DidNotHappen."""
        self._signal(signal.SIGTERM, names)
        self._wait_for_end(names, seconds)

    def kill(self, *names: str) -> None:
        """End processes by SIGKILL, and wait for it."""
        self._signal(signal.SIGKILL, names)
        self._wait_for_end(names, _STOPPING)

    def pause(self, *names: str) -> None:
        """Stop processes where they are, by SIGSTOP: they keep their connections and locks."""
        self._signal(signal.SIGSTOP, names)

    def resume(self, *names: str) -> None:
        """Let paused processes continue."""
        self._signal(signal.SIGCONT, names)

    def end(self) -> None:
        """Kill all processes, and remove the folder unless it is kept. May be called twice."""
        with suppress(BrokenPipeError):  # somebody has killed the keeper
            self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()
        if self._remover:
            self._remover.wait()
            remove(self.folder)  # which may have been written again after the keeper was killed

    def _signal(self, number: int, names: Iterable[str]) -> None:
        for name in names:
            self._ask(do="signal", name=name, number=int(number))

    def _wait_for_end(self, names: Iterable[str], seconds: float) -> None:
        for name in names:
            wait_until(lambda name=name: self.has_ended(name), f"{name} ends", seconds, 0.05)

    def _ask(self, **command: Any) -> dict[str, Any]:
        try:
            self._keeper.stdin.write(json.dumps(command) + "\n")
            self._keeper.stdin.flush()
            line = self._keeper.stdout.readline()
        except (OSError, ValueError):
            line = ""
        if not line:
            raise LabError("The run has ended: its processes were killed from outside.")
        answer = json.loads(line)
        if "error" in answer:
            raise LabError(
                f"{command['command'][0]} can't be started ({answer['error']}): free some space or"
                " memory, and run it again."
            )
        return answer


def _kept(folder: Path) -> Path:
    folder = folder.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise LabError(f"--keep {folder}: the folder is not empty; name a new one.")
        if shutil.disk_usage(folder).free == 0:
            raise OSError(28, "No space left on device")
    except OSError as error:
        raise LabError(
            f"--keep {folder} can't be written ({error.strerror}); name another folder."
        ) from None
    return folder


def lines_in(log: Path, pattern: str) -> list[str]:
    """The lines of a process's log that match this regular expression; none before there is one."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return [line for line in text.splitlines() if re.search(pattern, line)]


def write_properties(file: Path, values: dict[str, Any]) -> None:
    """Write a file of Java's properties."""
    file.write_text("".join(f"{key}={value}\n" for key, value in values.items()), encoding="utf-8")


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
