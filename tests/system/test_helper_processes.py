"""Copies of a process that help: their shares, and that none is left behind."""

import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from protocol_lab.catalog import load
from protocol_lab.compiler import building
from protocol_lab.compiler.kernel_cache import kept_names
from protocol_lab.explore import explore
from protocol_lab.system.helper_processes import helped, helpers_at_hand

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies are made on Linux only")


def notes(folder: Path, count: int) -> list:
    """Work that writes a file with the number of the process that did it."""
    return [
        lambda k=k: (folder / str(k)).write_text(str(os.getpid()), encoding="utf-8")
        for k in range(count)
    ]


def test_each_item_is_done_once_by_whoever_is_ready(tmp_path):
    work = notes(tmp_path, 300)
    with helped(work, 2) as own:
        for k in own:
            work[k]()
    done = {each.name: each.read_text(encoding="utf-8") for each in tmp_path.iterdir()}
    assert sorted(done, key=int) == [str(k) for k in range(300)]


def test_copies_do_what_this_process_does_not_get_to(tmp_path):
    with helped(notes(tmp_path, 4), 1) as own:
        while len(list(tmp_path.iterdir())) < 4:
            time.sleep(0.01)
        assert list(own) == []
    assert str(os.getpid()) not in {each.read_text(encoding="utf-8") for each in tmp_path.iterdir()}


def test_copies_that_still_work_are_killed_at_the_end(monkeypatch):
    copies = []
    fork = os.fork
    monkeypatch.setattr(os, "fork", lambda: copies.append(fork()) or copies[-1])
    forever = threading.Event().wait
    with pytest.raises(KeyboardInterrupt), helped([forever, forever], 1):
        raise KeyboardInterrupt
    [copy] = copies
    with pytest.raises(ChildProcessError):  # it was waited for
        os.waitpid(copy, os.WNOHANG)


def test_beside_another_thread_no_copy_is_made():
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert helpers_at_hand() == 0
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
def test_what_copies_compile_is_loaded_from_the_cache(tmp_path, monkeypatch):
    @contextmanager
    def late(work: list, helpers: int):
        """Copies compile everything before this process begins."""
        with helped(work, helpers) as own:
            while len(kept_names()) < len(work):
                time.sleep(0.01)
            yield own

    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(building, "loaded", {})
    monkeypatch.setattr(building, "MANY", 3)
    monkeypatch.setattr(building, "helpers_at_hand", lambda: 1)
    monkeypatch.setattr(building, "helped", late)
    before = len(building.compilations)
    model = load("kafka.finite_replicated_log").bind()
    assert explore(model, invariants=[], progress=False).distinct == 49
    compiled = {each.split()[1] for each in building.compilations[before:]}
    assert not compiled & {each.name for each in model.spec.actions}
    assert len(building.loaded) == len(kept_names() & {f"piece_{key}" for key in building.loaded})
