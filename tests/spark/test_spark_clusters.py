"""The search on Spark gives the same everywhere: separate executors, a standalone cluster.

The executors run a Python that has the packages and not the kit, started with an environment in
which there is no way to it; each test begins by looking for it there. Drivers are processes of
their own (`spark_driver`), so that nothing of this one gets into what they pass on.
"""

import contextlib
import json
import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyspark
import pytest

from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.result import Result
from protocol_lab.system.folders import cache_folder
from protocol_lab.system.programs import find_java
from tests import PATIENCE, ROOT
from tests.spark.spark_driver import CASES, COUNTS, model_of, question_of

pytestmark = [pytest.mark.spark, pytest.mark.rarely]

SPARK = Path(pyspark.__file__).parent


@cache
def by_native(name: str) -> Result:
    model = model_of(name)
    return NativeSearch(model, question_of(model)).run()


def is_the_same(found: dict, name: str) -> None:
    native = by_native(name)
    assert {each: found[each] for each in COUNTS} == {
        each: getattr(native, each) for each in COUNTS
    } | whole_levels(found, native)
    assert found["trace"] == len(native.trace_rows)
    assert found["by_spark"] >= 3


def whole_levels(found: dict, native: Result) -> dict:
    """On Spark a level is finished before a violation in it ends the search."""
    if native.violated is None:
        return {}
    assert found["per_depth"][:-1] == native.per_depth[:-1]
    return {each: found[each] for each in ("per_depth", "per_action", "distinct", "generated")}


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """For executors: Java, a Python without the kit, and no PYTHONPATH."""
    python = tmp_path / "python-without-the-kit"
    # -S: no site module, so no .pth file that would link a folder of sources into the packages.
    packages, program = shlex.quote(sysconfig.get_path("purelib")), shlex.quote(sys.executable)
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH={packages} exec {program} -S "$@"\n', encoding="utf-8"
    )
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {
        "JAVA_HOME": str(find_java()),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_HOME": str(SPARK),
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_TESTED_HERE": str(tmp_path),
        "PROTOCOL_LAB_CACHE": str(cache_folder("kernels").parent),
    }


def run_driver(environment: dict[str, str], master: str, folder: Path, *names: str):
    """The finished driver process."""
    command = [sys.executable, "-m", "tests.spark.spark_driver", master, str(folder), *names]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


def answer(done: subprocess.CompletedProcess) -> dict:
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["kit"] is False
    return told


@contextlib.contextmanager
def started(words: list[str], environment: dict[str, str], folder: Path) -> Iterator[Path]:
    """A program of Spark's that runs until the end of the context; its log."""
    log = folder / f"{words[0].rpartition('.')[2]}-{len(list(folder.iterdir()))}.log"
    with log.open("wb") as stream:
        command = [str(SPARK / "bin" / "spark-class"), *words]
        program = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=stream, stderr=stream,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield log
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


def wait_until(condition, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, log.read_text(errors="replace", encoding="utf-8")[
            -3000:
        ]
        time.sleep(0.2)


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def test_an_executor_killed_in_either_stage_of_a_level(environment, tmp_path):
    names = ["kill-expanding", "kafka", "kill-settling", "pulsar"]
    done = run_driver(environment, "local-cluster[2,1,1024]", tmp_path, *names)
    told = answer(done)
    assert done.stderr.count("killed") == 2
    for name in ("kafka", "pulsar"):
        is_the_same(told["results"][name], name)


@pytest.fixture
def standalone(environment, tmp_path) -> Iterator[str]:
    """A master and two workers on the loopback interface; the master's address."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    here = ["--host", "127.0.0.1", "--webui-port", "0"]
    deploy, logs = "org.apache.spark.deploy", tmp_path / "logs"
    logs.mkdir()
    quick = environment | {"SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    quick["SPARK_DAEMON_MEMORY"] = "256m"
    worker = [f"{deploy}.worker.Worker", *here, "--cores", "1", "--memory", "1g", address]
    with contextlib.ExitStack() as programs:
        master = [f"{deploy}.master.Master", *here, "--port", str(port)]
        log = programs.enter_context(started(master, quick, logs))
        wait_until(lambda: listens(port), log)
        for _ in range(2):
            programs.enter_context(started(worker, quick, logs))
        wait_until(lambda: log.read_text(encoding="utf-8").count("Registering worker") == 2, log)
        yield address


def test_standalone_cluster_and_killed_driver_and_executor(standalone, environment, tmp_path):
    died = run_driver(environment, standalone, tmp_path, "kill-driver", "kafka")
    assert died.returncode == -signal.SIGKILL, died.stderr[-3000:]
    complete = sorted((tmp_path / "kafka").glob("level-*.json"))
    assert 9 <= len(complete) < 16
    before = {path: path.read_bytes() for path in complete}
    names = ["kafka", "kill-executor", "kafka-violated", "cell"]
    done = run_driver(environment, standalone, tmp_path, *names)
    told = answer(done)
    assert "killed" in done.stderr
    assert {path: path.read_bytes() for path in complete} == before
    assert told["executors"] == 2
    assert told["results"].keys() == set(names) & CASES.keys()
    for name, found in told["results"].items():
        is_the_same(found, name)
