"""Measures searches of one model in a new process, and says what was measured in text."""

import os
import platform
import statistics
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numba
import numpy
import psutil

from protocol_lab.catalog import load
from protocol_lab.explore import explore


@dataclass(frozen=True)
class Measurement:
    """Some searches of one model, with their time.

    seconds: of each run, without compiling (Spark: with its start). compile_seconds: of the first
    one. row_bytes: the size of a state.
    """

    distinct: int
    seconds: list[float]
    compile_seconds: float
    row_bytes: int

    @property
    def rate(self) -> float:
        """Distinct states a second, in the median run."""
        return self.distinct / max(statistics.median(self.seconds), 1e-6)


def measure(spec: str, constants: Mapping[str, Any], runs: int, **question: Any) -> Measurement:
    """Search a model `runs` times in a new process, which starts without the memory and the kernels
    of earlier searches.

    question: as `explore` takes it. Raises what the search raises.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_searched, spec, constants, runs, question).result()


def _searched(
    spec: str, constants: Mapping[str, Any], runs: int, question: Mapping[str, Any]
) -> Measurement:
    model = load(spec).bind(**constants)
    first = explore(model, progress=False, **{**question, "max_states": 1})
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        result = explore(model, progress=False, **question)
        passed = time.perf_counter() - began
        seconds.append(passed if question.get("engine") == "spark" else result.seconds)
    return Measurement(result.distinct, seconds, first.compile_seconds, model.layout.size)


# --- How figures are printed ---------------------------------------------------------------------


def machine() -> str:
    """A line that describes the machine: processor, cores, memory and versions."""
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; load {os.getloadavg()[0]:.1f};"
        f" Python {platform.python_version()}, Numba {numba.__version__}, NumPy {numpy.__version__}"
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def spread(values: Sequence[float]) -> str:
    """The median, with the fastest and the slowest, as text."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
