"""Measures searches of one model in a new process: seconds, memory and counts.

    python -m benchmarks.measurement '{"spec": "kafka.kip_320", "constants": {}, "runs": 3}'

prints one JSON object. A new process starts without the memory and the kernels of earlier searches.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psutil

TELLING = 100_000
"""Below this many states the memory of a search says nothing about the memory per state."""


@dataclass(frozen=True)
class Measurement:
    """The outcome of some searches of one model, with their time and memory.

    seconds: of each run, without compiling (Spark: without its start). compile_seconds: of the
    first one. row_bytes: the size of a state. bytes_a_state: the memory of the search per state,
    with all that it keeps; None for few states.
    """

    spec: str
    constants: dict[str, Any]
    engine: str
    verdict: str
    distinct: int
    generated: int
    depth: int
    seconds: list[float]
    compile_seconds: float
    row_bytes: int
    bytes_a_state: float | None

    @property
    def median(self) -> float:
        """The median of the runs' seconds."""
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Distinct states a second, in the median run."""
        return self.distinct / max(self.median, 1e-6)


def measure(
    spec: str,
    constants: Mapping[str, Any],
    runs: int,
    *,
    engine: str = "native",
    invariants: Sequence[str] | None = None,
    max_states: int | None = None,
) -> Measurement:
    """Search a model `runs` times in a new process. Raises RuntimeError with its output if it
    fails.

    invariants: as `explore` takes them.
    """
    asked = {
        "spec": spec,
        "constants": dict(constants),
        "runs": runs,
        "engine": engine,
        "invariants": invariants,
        "max_states": max_states,
    }
    words = [sys.executable, "-m", "benchmarks.measurement", json.dumps(asked)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"The search of {spec} ended without output.")
    return Measurement(**json.loads(done.stdout.splitlines()[-1]))


def searched(
    spec: str,
    constants: Mapping[str, Any],
    runs: int,
    engine: str,
    invariants: Sequence[str] | None,
    max_states: int | None,
) -> Measurement:
    """Search a model `runs` times in this process; see `measure`."""
    from protocol_lab.catalog import load
    from protocol_lab.explore import explore

    model = load(spec).bind(**constants)
    bound = {} if max_states is None else {"max_states": max_states}
    question = {"engine": engine, "invariants": invariants, "progress": False}
    first = explore(model, **question, **(bound or {"max_states": 1}))
    compile_seconds, process = first.compile_seconds, psutil.Process()
    del first
    before, seconds, taken = process.memory_info().rss, [], None
    for _ in range(runs):
        began = time.perf_counter()
        result = explore(model, **question, **bound)
        passed = time.perf_counter() - began
        seconds.append(passed if engine == "spark" else result.seconds)
        if taken is None:
            taken = process.memory_info().rss - before
    told = engine == "native" and result.distinct >= TELLING
    return Measurement(
        spec=spec,
        constants=dict(constants),
        engine=engine,
        verdict=result.verdict,
        distinct=result.distinct,
        generated=result.generated,
        depth=result.depth,
        seconds=seconds,
        compile_seconds=compile_seconds,
        row_bytes=model.layout.size,
        bytes_a_state=taken / result.distinct if told else None,
    )


# --- How figures are printed ---------------------------------------------------------------------


def machine() -> str:
    """A line that describes the machine: processor, cores, memory and versions."""
    import numba
    import numpy

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


if __name__ == "__main__":
    print(json.dumps(asdict(searched(**json.loads(sys.argv[1])))))
