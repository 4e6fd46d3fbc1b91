"""How fast the engines are, measured in one run on one machine; quote the ratios.

    .venv/bin/python -m benchmarks.engines [--runs 5] [--without-spark]

Explores KIP-320 with three replicas, two records and three leader epochs. The native engine is
measured from an empty cache (compiling included), from a filled one, and warm; the pure-Python twin
on the first 5,000 states of the same search; Spark in local mode from a cold start. Machines are
noisy: every figure is the median of the runs, with the fastest and the slowest.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import psutil

SPEC = "kafka.kip_320"
CONSTANTS = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}

_FRESH_PROCESS = """
import sys, time
from protocol_lab.catalog import load
from protocol_lab.explore import explore
result = explore(load({spec!r}).bind(**{constants!r}), invariants=[], progress=False)
print(result.compile_seconds, result.seconds)
"""


def main() -> None:
    """Print one line a measurement, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without-spark", action="store_true")
    options = parser.parse_args()
    print(machine())
    compile_times(options.runs)
    rates = {
        "native": rate("native", options.runs, invariants=[]),
        "native, default invariants": rate("native", options.runs),
        "python": rate("python", options.runs, invariants=[], max_states=5_000),
    }
    if not options.without_spark:
        rates["spark, local mode"] = rate("spark", 1, invariants=[])
    for name, value in rates.items():
        print(f"{name:30} {value / rates['python']:10.1f} times the pure-Python twin")


def machine() -> str:
    """Processor, cores, memory and versions."""
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


def compile_times(runs: int) -> None:
    """The first search of a new process: with nothing cached, and with everything cached."""
    code = _FRESH_PROCESS.format(spec=SPEC, constants=CONSTANTS)
    for title, keep in (("nothing cached", False), ("all cached", True)):
        compiling, whole = [], []
        with tempfile.TemporaryDirectory() as shared:
            for run in range(runs + keep):
                with tempfile.TemporaryDirectory() as own:
                    folder = shared if keep else own
                    began = time.perf_counter()
                    environment = {**os.environ, "PROTOCOL_LAB_CACHE": folder}
                    words = [sys.executable, "-c", code]
                    done = subprocess.run(
                        words, env=environment, capture_output=True, text=True, check=True
                    )
                    if run >= keep:  # the first run with a shared folder fills it
                        whole.append(time.perf_counter() - began)
                        compiling.append(float(done.stdout.split()[0]))
        print(f"{title:30} {spread(compiling)} s compiling, {spread(whole)} s the whole process")


def rate(engine: str, runs: int, **question) -> float:
    """Distinct states per second without compiling; the median."""
    from protocol_lab.catalog import load
    from protocol_lab.explore import explore

    def search() -> float:
        began = time.perf_counter()
        result = explore(load(SPEC).bind(**CONSTANTS), engine=engine, progress=False, **question)
        seconds = result.seconds if engine != "spark" else time.perf_counter() - began
        search.distinct = result.distinct
        return seconds

    return _rate(engine, search, runs, question)


def _rate(engine: str, search: Callable[[], float], runs: int, question: dict) -> float:
    if engine != "spark":
        search()  # warm up
    seconds = [search() for _ in range(runs)]
    rates = [search.distinct / each for each in seconds]
    checked = "no invariants" if question.get("invariants") == [] else "default invariants"
    print(
        f"{engine + ', ' + checked:30} {search.distinct:,} distinct states in {spread(seconds)} s:"
        f" {statistics.median(rates):,.0f} states/s"
    )
    return statistics.median(rates)


def spread(values: list[float]) -> str:
    """Median with the extremes."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()
