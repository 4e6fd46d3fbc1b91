"""Runs the main benchmarks, and writes a report in Markdown.

    python3 lab.py bench [--runs 5] [--output FOLDER] [--without-spark] [--quick]
    python3 lab.py bench --tlc tla2tools.jar --originals FOLDER

Each search runs in a process of its own, compiles first, and is then timed; a figure is the median
of the runs, with the fastest and the slowest. --quick runs the smallest configurations once. Given
TLC's jar (or a class path), and a folder with checkouts of the originals, the last table has larger
searches beside TLC, with one worker per core (see `tlc`); another count than ours is an error.
Timings vary: use an idle machine, and quote ratios rather than seconds.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from benchmarks import tlc
from benchmarks.growth import GROWTHS
from benchmarks.measurement import Measurement, machine, measure, spread
from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.model.constants import show

ENGINES_OF = GROWTHS[0]
"""Whose configurations the engines are compared on."""

PYTHON_STATES = 5_000
"""The reference engine explores so many."""


def main() -> int:
    """Measure, and write benchmarks.md."""
    options = _options()
    try:
        if (options.tlc is None) != (options.originals is None):
            raise LabError("TLC needs both: --tlc JAR and --originals FOLDER.")
        options.output.mkdir(parents=True, exist_ok=True)
        lines = []
        for line in _report(options):
            print(line, flush=True)
            lines.append(line)
        (options.output / "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    except (LabError, RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 3
    print(f"\nWritten: {options.output / 'benchmarks.md'}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lab.py bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="of each search; the median counts")
    parser.add_argument("--quick", action="store_true", help="the smallest configurations, once")
    parser.add_argument("--output", type=Path, default=Path("bench"), metavar="FOLDER")
    parser.add_argument("--without-spark", action="store_true")
    parser.add_argument("--tlc", metavar="JAR", help="tla2tools.jar, or a class path")
    parser.add_argument("--originals", type=Path, metavar="FOLDER", help="with the .tla modules")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.without_spark = 1, True
    return options


def _report(options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the report, each as soon as it is measured."""
    yield "# Benchmarks\n"
    yield f"{machine()}.\n"
    yield f"Medians of {options.runs} runs (fastest to slowest), without compiling.\n"
    yield "## The engines\n"
    yield from _engines(options)
    yield "\n## How the protocols grow\n"
    yield from _growth(options)
    if options.tlc:
        yield "\n## Beside TLC\n"
        yield from tlc.beside(options.tlc, options.originals, not options.without_spark)


def _engines(options: argparse.Namespace) -> Iterator[str]:
    """The table of all engines on one configuration; the native one also with an empty cache."""
    largest = ENGINES_OF.configurations[0 if options.quick else 2]
    spec, runs = ENGINES_OF.spec, options.runs
    yield f"`{spec}` with {_constants(spec, largest, ENGINES_OF.changing)}.\n"
    yield "| | distinct states | seconds | states a second |"
    yield "|---|---:|---:|---:|"
    with (
        tempfile.TemporaryDirectory() as empty,
        patch.dict(os.environ, {"PROTOCOL_LAB_CACHE": empty}),
    ):
        for cached in ("nothing", "all"):
            found = measure(spec, largest, 1, max_states=1)
            yield f"| compiling, {cached} cached | | {found.compile_seconds:.2f} | |"
    native = measure(spec, largest, runs, invariants=[])
    yield _engine_row("native, no invariants", native)
    yield _engine_row("native, default invariants", measure(spec, largest, runs))
    if not options.without_spark:
        row = measure(spec, largest, 1, engine="spark", invariants=[])
        yield _engine_row("Spark in local mode, its start included", row)
    python = measure(spec, largest, runs, engine="python", invariants=[], max_states=PYTHON_STATES)
    yield _engine_row(f"reference engine, {PYTHON_STATES:,} states", python)


def _engine_row(title: str, found: Measurement) -> str:
    return f"| {title} | {found.distinct:,} | {spread(found.seconds)} | {found.rate:,.0f} |"


def _growth(options: argparse.Namespace) -> Iterator[str]:
    """The table of each protocol's growing configurations."""
    yield "| spec | | constants | distinct states | seconds | states a second | bytes of a row |"
    yield "|---|---:|---|---:|---:|---:|---:|"
    for growth in GROWTHS:
        chosen = growth.configurations[:1] if options.quick else growth.configurations
        for number, constants in enumerate(chosen, 1):
            found = measure(growth.spec, constants, options.runs, invariants=growth.invariants)
            shown = _constants(growth.spec, constants, growth.changing)
            yield (
                f"| `{growth.spec}` | {number} | {shown} | {found.distinct:,}"
                f" | {spread(found.seconds)} | {found.rate:,.0f} | {found.row_bytes:,} |"
            )


def _constants(spec: str, constants: dict, changing: tuple[str, ...]) -> str:
    every = show(load(spec).bind(**constants).constants)
    return "`" + " ".join(f"{name}={every[name]}" for name in changing) + "`"


if __name__ == "__main__":
    sys.exit(main())
