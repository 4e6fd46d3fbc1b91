"""Compiling in advance: in the order of the notebooks, for as long as the starting process runs."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from protocol_lab import prepare
from protocol_lab.catalog import spec_names
from protocol_lab.prepare import in_reading_order, is_worthwhile, run
from tests import ROOT


def test_every_spec_is_compiled_in_the_order_of_the_notebooks():
    found = in_reading_order()
    assert sorted(found) == spec_names()
    assert found[:2] == ["kafka.finite_replicated_log", "kafka.kip_320"]
    assert found.index("kafka.unclean_leader_election") < found.index("bookkeeper.v4_13")


@pytest.mark.parametrize(
    ("cores", "battery", "expected"),
    [(2, None, True), (1, None, False), (2, False, False), (2, True, True)],
)
def test_it_needs_a_core_and_a_plug(monkeypatch, cores, battery, expected):
    monkeypatch.setattr(prepare, "cores", lambda: cores)
    power = None if battery is None else SimpleNamespace(power_plugged=battery)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: power, raising=False)
    assert is_worthwhile() == expected


def test_one_process_compiles_at_a_time(monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    compiled = []

    def compile_all(name):
        if not compiled:
            compiled.append(name)
            run(os.getpid())  # another one finds the lock taken
        compiled.append(name)

    for name in ("take_the_lowest_priority", "_end_with"):
        monkeypatch.setattr(prepare, name, lambda *_: None)
    monkeypatch.setattr(prepare, "is_worthwhile", lambda: True)
    monkeypatch.setattr(prepare, "compile_all", compile_all)
    run(os.getpid())
    assert compiled[1:] == in_reading_order()


@pytest.mark.slow
def test_it_ends_with_the_process_that_started_it(tmp_path):
    """The second process stands for JupyterLab; it ends before the first spec is compiled."""
    code = """
import subprocess, sys, time
from protocol_lab.system.notebook_server import compile_in_advance
start = subprocess.Popen
subprocess.Popen = lambda words, **how: print(start(words, **how).pid, flush=True)
compile_in_advance()
time.sleep(2)
"""
    environment = dict(os.environ, PROTOCOL_LAB_CACHE=str(tmp_path))
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    started = int(ran.stdout)
    end = time.monotonic() + 60
    while psutil.pid_exists(started) and time.monotonic() < end:
        time.sleep(0.2)
    assert not psutil.pid_exists(started)
