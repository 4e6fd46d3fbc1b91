"""The process that owns the processes of a run, and leaves none behind.

It runs as a program of its own, in its own session, so that neither Ctrl-C nor the death of the
driver ends it first. It reads one command a line from standard input, as JSON, and answers with one
line. When standard input ends, because the driver closed it or died in any way, it kills what it
started. On Linux the system kills the children even if the keeper itself is killed. It needs only
the standard library, so that it starts at once.

    {"do": "start", "name": "1", "command": [...], "log": FILE}              -> {"pid": N}
    {"do": "signal", "name": "1", "number": 19}                           -> {}
    {"do": "poll", "name": "1"}                                           -> {"code": null or N}
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from typing import Any

_DIE_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG


def main() -> None:
    """Serve commands until standard input ends; then kill the children."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: dict[str, subprocess.Popen] = {}
    try:
        for line in sys.stdin:
            print(json.dumps(_answer(children, json.loads(line))), flush=True)
    finally:
        for child in children.values():
            _end(child)


def _answer(children: dict[str, subprocess.Popen], command: dict[str, Any]) -> dict[str, Any]:
    name = command["name"]
    try:
        if command["do"] == "start":
            children[name] = _start(command)
            return {"pid": children[name].pid}
        child = children[name]
        if command["do"] == "signal":
            child.send_signal(command["number"])  # does nothing if the child has ended
            if command["number"] == signal.SIGSTOP:
                _wait_until_stopped(child)
            return {}
        return {"code": child.poll()}
    except OSError as error:
        return {"error": error.strerror or str(error)}


def _start(command: dict[str, Any]) -> subprocess.Popen:
    with open(command["log"], "ab") as log:
        return subprocess.Popen(
            command["command"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=_die_with_parent,
        )


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _wait_until_stopped(child: subprocess.Popen) -> None:
    """Wait until the child has stopped or ended: a signal that is sent before is handled first."""
    if child.poll() is None and hasattr(os, "waitid"):  # macOS has it since Python 3.13
        os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def _end(child: subprocess.Popen) -> None:
    """Kill a child, also a stopped one, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGCONT)
        child.kill()
    child.wait()


if __name__ == "__main__":
    main()
