"""Starts Java programs for real systems: the Java that Spark uses, with small heaps."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from protocol_lab.system.programs import find_java

_SMALL = ("-Xms32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""A small heap and a quick start: several processes share a laptop."""


@cache
def java_program() -> Path:
    """The `java` that Spark uses, the wheel's included. Raises LabError."""
    return find_java() / "bin" / "java"


def java_command(
    jars: Iterable[Path], main: str, *arguments: Any, heap: int = 256, options: Iterable[str] = ()
) -> list[Any]:
    """The command that runs a class of these jars; heap is in megabytes."""
    path = os.pathsep.join(map(str, jars))
    return [java_program(), f"-Xmx{heap}m", *_SMALL, *options, "-cp", path, main, *arguments]
