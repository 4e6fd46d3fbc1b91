"""Calls the classes of a release's jars from Python, through py4j, which PySpark brings."""

import importlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from real_systems.runner.jars import java_command, pyspark_jars
from real_systems.runner.processes import Processes, wait_until

_STARTING = 120
"""Seconds that a gateway has to start."""


class JavaGateway:
    """The classes of a release's jars, called from Python: `gateway.jvm.java.util.Properties()`.

    name: of its process among `processes`, so that it can be paused like any client. Raises
    DidNotHappen.
    """

    def __init__(
        self,
        processes: Processes,
        jars: Iterable[Path],
        name: str = "clients",
        options: Iterable[str] = (),
    ):
        py4j = _own_py4j()
        jars = [*jars, *pyspark_jars().glob("py4j-*.jar")]
        log = processes.folder / name / "gateway.log"
        words = ("--enable-auth", "0")
        processes.start(
            name, java_command(jars, "py4j.GatewayServer", *words, heap=128, options=options), log
        )
        # It prints its port, on the loopback interface, and the word that a client must know.
        port, token = wait_until(
            lambda: re.match(r"(\d+)\n(\S+)\n", log.read_text(encoding="utf-8", errors="replace")),
            f"the Java of {name} answers",
            _STARTING,
            0.05,
        ).groups()
        self._gateway = py4j.JavaGateway(
            gateway_parameters=py4j.GatewayParameters(
                port=int(port),
                auth_token=token,
                auto_convert=True,
                # Else Python's garbage collector talks to a Java that has ended meanwhile.
                enable_memory_management=False,
            )
        )
        self.jvm: Any = self._gateway.jvm  # has the names of Java's packages

    def properties(self, values: dict[str, Any]) -> Any:
        """A java.util.Properties with these values, as texts."""
        made = self.jvm.java.util.Properties()
        for key, value in values.items():
            made.put(key, str(value))
        return made

    def close(self) -> None:
        """Close the connection; the process ends with the run."""
        self._gateway.close()


def cause_of(error: Exception) -> tuple[str, str]:
    """The class and the message of what a Java call failed with, the innermost cause."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return type(error).__name__, str(error)
    while java.getCause() is not None:
        java = java.getCause()
    return java.getClass().getSimpleName(), java.getMessage() or ""


@cache
def _own_py4j() -> ModuleType:
    """py4j.java_gateway as it is installed, loaded once more, for us alone.

    A session of Spark replaces in the shared one how a call's exception is read: PySpark would look
    for ours in Spark's Java, where its number means something else.
    """
    shared = _taken_out()
    try:
        return importlib.import_module("py4j.java_gateway")
    finally:
        _taken_out()
        sys.modules.update(shared)


def _taken_out() -> dict[str, ModuleType]:
    """The modules of py4j that are loaded, which the next import doesn't find."""
    names = [name for name in sys.modules if name.split(".")[0] == "py4j"]
    return {name: sys.modules.pop(name) for name in names}
