"""A local Spark session: quiet, sized to this machine, without prior installation.

Its failures, pages of stack traces, become one sentence each.
"""

import importlib.util
import logging
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from protocol_lab.errors import LabError
from protocol_lab.system.folders import temporary_folder
from protocol_lab.system.memory import available_bytes
from protocol_lab.system.operating_system import is_linux

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_FULL = re.compile(
    r"No space left on device|File too large|Disk quota exceeded|\d+ requested and \d+ written",
    re.I,
)

_LOST = re.compile(
    r"ExecutorLostFailure|FetchFailed|indeterminate output|ExecutorDeadException"
    r"|Python worker (exited unexpectedly|failed to connect back)|heartbeat timed out"
)

_KNOWN = (
    (_FULL, "the disk is full: free some space"),
    (
        re.compile(
            r"OutOfMemoryError|Python worker exited unexpectedly.*memory|exit code 137", re.S
        ),
        'Spark ran out of memory: give it more, as in local_session(spark_driver_memory="8g"), or'
        " more partitions",
    ),
    (
        re.compile(
            r"Could not reserve enough space|Cannot allocate memory|Invalid maximum heap", re.I
        ),
        "there is not as much memory as Spark was told to take: close other programs, or give it"
        ' less, as in local_session(spark_driver_memory="1g")',
    ),
    (
        re.compile(r"System memory \d+ must be at least|Executor memory \d+ must be at least"),
        'it needs half a GiB at least: give it more, as in local_session(spark_driver_memory="1g")',
    ),
    (
        re.compile(r"Address already in use|BindException|Service '.*' failed after \d+ retries"),
        "a port that Spark was to use is taken by another program: end that one, or name another"
        " port, as in local_session(ui=True, spark_ui_port=4050)",
    ),
    (
        re.compile(
            r"Py4JNetworkError|Connection refused|Answer from Java side is empty|UNAVAILABLE"
        ),
        "Spark has ended, or can't be reached: start a new session",
    ),
)

_IN_PYTHON = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt)): (.*)")
_IN_JAVA = re.compile(r"(?:[\w$]+\.)*[\w$]*(?:Exception|Error): (?!.*(?:Exception|Error): )(.*)")


def is_a_loss(text: str) -> bool:
    """Was an executor, or a Python worker, lost? Then the job may well succeed if it is run once
    more."""
    return bool(_LOST.search(text)) and not _FULL.search(text)


def cause(text: str) -> str:
    """The sentence for a known failure; for any other the most informative line of its message."""
    for pattern, sentence in _KNOWN:
        if pattern.search(text):
            return sentence
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [match for line in lines if (match := _IN_PYTHON.match(line))]
    if "Traceback (most recent call last)" in text and told:
        kind, said = told[-1].groups()
        found = said if kind == "LabError" else f"{kind}: {said}"
    else:
        java = [match[1] for line in lines if (match := _IN_JAVA.search(line))]
        found = next(iter([*java, *lines]), "no reason was given")
    return found.rstrip(".")


_LOGGING = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""


_SAFE_PATH = "spark.executorEnv.PYTHONSAFEPATH", "1"
"""The Python workers start in the driver's folder, which may have a protocol called queue.py."""

_STARTING = threading.Lock()
"""A search starts Spark in the background, and may end before Spark has started."""


def expect_spark() -> None:
    """Raise LabError where the kit was set up without Spark."""
    if importlib.util.find_spec("pyspark") is None:
        raise LabError(
            "The kit was set up without Spark: run `python3 lab.py --with-spark` to add it."
        )


def local_session(ui: bool = False, **settings: str) -> "SparkSession":
    """The Spark session of this process; one in local mode is started if there is none.

    It uses all cores and up to a quarter of the memory. The output of Java and Spark goes to a file
    in a temporary folder; if the start fails, the message names a copy of it. `ui` also starts
    Spark's web page; other settings are Spark's, with _ for the dots.

    Raises LabError if there is no Spark or no Java, or if Spark does not start.
    """
    expect_spark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _STARTING:
        running = SparkSession.getActiveSession()
        if running is not None:
            return running
        if SparkContext._active_spark_context is not None:
            return SparkSession.builder.getOrCreate()
        return _start(ui, settings)


def session_at(url: str) -> "SparkSession":
    """The Spark session at an address, with the settings of Spark's own configuration.

    url: a master: local[4], spark://HOST:7077, yarn, k8s://https://HOST. Raises LabError if there
    is no Spark, or none at that address.
    """
    expect_spark()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("protocol lab")
    try:
        _expect_a_server(url)
        _prepare_environment()
        return builder.master(url).config(*_SAFE_PATH).getOrCreate()
    except Exception as error:  # Spark's or py4j's
        raise LabError(f"There is no Spark session at {url}: {cause(str(error))}.") from None


def _expect_a_server(url: str) -> None:
    """Raise OSError if nothing listens at spark://, where Spark would try for minutes."""
    address = urlsplit(url)
    if address.scheme == "spark" and "," not in address.netloc:  # one of several may be away
        socket.create_connection((address.hostname or "", address.port or 7077), 10).close()


def _start(ui: bool, settings: dict[str, str]) -> "SparkSession":
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    folder = temporary_folder("spark")
    conf = SparkConf(loadDefaults=False).setAll(_settings(folder, ui).items())
    conf.setAll((name.replace("_", "."), str(value)) for name, value in settings.items())
    _prepare_environment()
    logging.getLogger("SQLQueryContextLogger").disabled = True  # says errors again, as JSON
    log, gateway = folder / "spark.log", None
    try:
        with log.open("ab") as stream:
            gateway = launch_gateway(conf, {"stdout": stream, "stderr": stream})
        context = SparkContext(conf=conf, gateway=gateway)
    except (PySparkException, Py4JError, OSError) as error:
        said = _cause(log, error)  # which asks the Java process
        if gateway is not None:  # the next attempt is to have a Java process of its own
            gateway.shutdown()
            gateway.proc.stdin.close()
            SparkContext._gateway = SparkContext._jvm = None
        descriptor, kept = tempfile.mkstemp(".log", "spark-", text=True)
        os.close(descriptor)
        shutil.copyfile(log, kept)
        raise LabError(f"Spark does not start: {said} (all of it is in {kept}).") from None
    return SparkSession(context)


@contextmanager
def changed(session: "SparkSession", settings: dict[str, str]) -> Iterator[None]:
    """A context in which a session has other settings."""
    before = {name: session.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        with suppress(Exception):  # Spark may be gone
            for name, value in before.items():
                session.conf.unset(name) if value is None else session.conf.set(name, value)


def address(folder: Path) -> str:
    """The address of a folder for Spark, with its characters unescaped."""
    return "file:" + folder.absolute().as_posix()


def _settings(folder: Path, ui: bool) -> dict[str, str]:
    (folder / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
    gibibytes = available_bytes() / 2**30
    return {
        "spark.master": "local[*]",
        "spark.app.name": "protocol lab",
        "spark.driver.memory": f"{max(1, min(8, int(gibibytes / 4)))}g",
        # Nothing here needs another machine, and looking up this one's name may fail or warn.
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": str(ui).lower(),
        "spark.ui.showConsoleProgress": "false",
        **dict([_SAFE_PATH]),
        # Optimizing Spark's own code takes half of the processor's time in the first minute, and
        # the work is done by compiled kernels anyway. Java's usual collector of garbage takes a
        # sixth more of it than the parallel one.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
        f" -Dlog4j2.configurationFile={(folder / 'log4j2.properties').as_uri()}"
        f' "-Djava.io.tmpdir={folder.as_posix()}"',
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }


def _prepare_environment() -> None:
    """Set the environment that the JVM and its Python workers inherit: which Java, which Python."""
    from protocol_lab.system.programs import find_java

    os.environ["JAVA_HOME"] = str(find_java())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Java takes file names in the locale's encoding. Where that is not UTF-8 it would tell Python
    # its port in a file of another name, and Python would wait for ever.
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    if is_linux() and not re.search(r"utf-?8", locale, re.IGNORECASE):
        os.environ["LC_ALL"] = "C.UTF-8"


def _cause(log: Path, error: Exception) -> str:
    """Why Spark did not start: the last line of the log that mentions an error, if there is one."""
    lines = log.read_text(errors="replace", encoding="utf-8").splitlines() if log.exists() else []
    telling = [line for line in lines if "rror" in line or "xception" in line]
    return cause("\n".join([*telling[-1:], str(error)]))
