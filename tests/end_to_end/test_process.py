"""The command line as a real process: signals at any time, streams that are full."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import ROOT


def start(*words: str, python: tuple[str, ...] = (), **settings) -> subprocess.Popen:
    """The kit's command line, begun."""
    return subprocess.Popen(
        [sys.executable, *python, "-m", "protocol_lab", *words],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        | {"preexec_fn": listen, **settings},
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def listen() -> None:
    """Let Ctrl-C reach this process, also where the tests themselves run in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted_at(module: str, number: int, *words: str) -> tuple[int, str, str]:
    """Send a signal once this module was imported, which Python tells on standard error."""
    kit = start(*words, python=("-X", "importtime"))
    found = any(line.rstrip().endswith(f" {module}") for line in kit.stderr)
    assert found, f"{module} is not imported"
    kit.send_signal(number)
    out, err = kit.communicate(timeout=300)
    return kit.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "module", "number"),
    [
        ("native", "numpy", signal.SIGTERM),
        ("native", "protocol_lab.compiler.fingerprint", signal.SIGTERM),
        ("python", "protocol_lab.checker.reference", signal.SIGINT),
    ],
)
def test_an_interrupt_is_never_swallowed_and_never_a_traceback(engine, module, number):
    search = ["check", "kafka.kip_320", "--engine", engine, "--json"]
    code, out, err = interrupted_at(module, number, *search)
    assert code == 2
    assert "Traceback" not in err
    report = json.loads(out)
    assert report.get("error", report.get("undecided_reason")) == "interrupted"


@pytest.mark.slow
def test_an_interrupt_while_compiling(tmp_path):
    """With an empty cache, once the first piece is there to be compiled."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PROTOCOL_LAB_CACHE": str(tmp_path)}
    words = [sys.executable, "-m", "protocol_lab", "check", "kafka.kip_320", "--json"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, env=environment, cwd=ROOT, preexec_fn=listen
    ) as kit:
        while kit.poll() is None and not list(tmp_path.rglob("piece*.kernel")):
            time.sleep(0.01)
        kit.send_signal(signal.SIGINT)
        report = json.loads(kit.stdout.read())
    assert kit.returncode == 2
    assert report["undecided_reason"] == "interrupted while compiling"
    assert report["verdict"] == "undecided"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_standard_output():
    with open("/dev/full", "w", encoding="utf-8") as full:
        kit = start("check", "kafka.id_sequence", "--engine", "python", stdout=full)
        _, err = kit.communicate(timeout=300)
        assert (kit.returncode, err.count("\n")) == (4, 1)
        assert "can't be written" in err
        kit = start("check", "nothing", "--json", stderr=full)
        out, _ = kit.communicate(timeout=300)
    assert kit.returncode == 3
    assert json.loads(out)["error"]


@pytest.mark.slow
def test_a_reader_that_has_seen_enough():
    kit = start("specs")
    kit.stdout.close()
    err = kit.stderr.read()
    assert (kit.wait(timeout=300), err) == (4, "")


def test_a_broken_installation_is_no_verdict(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('it is broken')", encoding="utf-8")
    words = [sys.executable, "-m", "protocol_lab", "check", "kafka.id_sequence", "--json"]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 4
    assert "it is broken" in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.stderr
