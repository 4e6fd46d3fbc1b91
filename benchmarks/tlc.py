"""Searches beside TLC, which explores the original of each spec with the same constants.

Whoever runs the benchmarks supplies TLC's jar and checkouts of the originals. If an original has a
configuration file, it is used with other values, and without its symmetry and view, since our
searches use none, and without its invariants where our search checks none.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.growth import kafka
from protocol_lab.catalog import load
from protocol_lab.checker.result import summary
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.model.constants import show
from protocol_lab.spark.session import local_session
from protocol_lab.system.programs import find_java

BESIDE = [
    # spec, constants, are its invariants checked?
    ("kafka.kip_320", kafka(3, 2, 2), True),
    ("kafka.kip_320_first_try", kafka(3, 2, 2), False),
    ("kafka.unclean_leader_election", {"max_leader_epoch": None, "max_log_length": None}, True),
    ("kafka.kip_101", kafka(3, 2, 2), False),
    ("bookkeeper.v4_13", {}, True),
]
"""Configurations with more than 500,000 distinct states that TLC, too, explores in minutes.

Where no invariants are checked all states are explored, although some are bad."""

VARIANT = """\
INIT Init
NEXT Next
CONSTANTS
Replicas = {}
LogSize = 0
MaxRecords = 0
MaxLeaderEpoch = 0
INVARIANTS WeakIsr StrongIsr
"""
"""The configuration of the modules of kafka-specification, which come without a file."""

VARIANT_CONSTANTS = "Replicas LogSize MaxRecords MaxLeaderEpoch"

ORIGINALS = {
    "kafka.kip_101": ("Kip101", VARIANT_CONSTANTS),
    "kafka.kip_320_first_try": ("Kip320FirstTry", VARIANT_CONSTANTS),
    "kafka.kip_320": ("Kip320", VARIANT_CONSTANTS),
    "kafka.unclean_leader_election": ("UncleanLeaderElectionSafety", "UnstableReplica MinIsr"),
    "bookkeeper.v4_13": (
        "BookKeeperProtocol_v4_13",
        "Bookies WriteQuorum AckQuorum SendLimit RecoveryReadsFence",
    ),
}
"""The TLA+ module of each spec, and those of its constants that our spec has in snake_case."""

FOUND = re.compile(
    r"([\d,]+) states generated, ([\d,]+) distinct states found, ([\d,]+) states left"
)

VIOLATED = re.compile(r"^Error: Invariant \w+ is violated", re.MULTILINE)

SETS = ("Replicas", "Bookies")
"""Constants that are sets in the originals, and sizes here."""


@dataclass(frozen=True)
class Run:
    """TLC's counts, its seconds from start to end of the program, and whether an invariant is
    violated, which ends it."""

    distinct: int
    generated: int
    seconds: float
    violated: bool


def beside(jar: str, originals: Path, with_spark: bool) -> Iterator[str]:
    """The table of `BESIDE`: the native engine, Spark with small levels by the driver, both without
    compiling, and TLC.

    Raises LabError if TLC comes to other counts, or to another verdict.
    """
    yield "| spec | distinct states | native | Spark in local mode | TLC |"
    yield "|---|---:|---:|---:|---:|"
    session = local_session() if with_spark else None
    for name, constants, checked in BESIDE:
        model = load(name).bind(**constants)
        asked = {"invariants": None if checked else [], "progress": False}
        explore(model, max_states=2, **asked)
        results, spark = [explore(model, **asked)], ""
        if session is not None:
            asked |= {"engine": "spark", "session": session}
            explore(model, driver_below=0, max_states=2, **asked)
            began = time.perf_counter()
            results.append(explore(model, **asked))
            spark = f"{time.perf_counter() - began:.1f} s"
        theirs = run(name, show(model.constants), jar, originals, checked)
        for ours in results:
            if theirs.violated != (ours.verdict == "violated") or (
                not theirs.violated
                and (theirs.distinct, theirs.generated) != (ours.distinct, ours.generated)
            ):
                raise LabError(f"{name}: TLC comes to {theirs}, the kit to {summary(ours)}.")
        native, *_ = results
        yield (
            f"| `{name}` | {native.distinct:,} | {native.seconds:.1f} s | {spark}"
            f" | {theirs.seconds:.1f} s |"
        )
    if session is not None:
        session.stop()


def run(
    spec: str, constants: Mapping[str, Any], jar: str, originals: Path, checked: bool = True
) -> Run:
    """Run TLC on the original of a spec, with a worker for each core. constants: all of our spec's,
    as `show` gives them.

    jar: TLC's, or a class path. checked: with its invariants? Raises LabError if the module is not
    there, or TLC fails.
    """
    name, names = ORIGINALS[spec]
    module = next(originals.rglob(f"{name}.tla"), None)
    if module is None:
        raise LabError(f"{name}.tla is nowhere in {originals}: check it out there.")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for each in module.parent.glob("*.tla"):
            shutil.copy(each, folder)
        config = module.with_suffix(".cfg")
        text = config.read_text(encoding="utf-8") if config.exists() else VARIANT
        text = configured(names, text, constants)
        if not checked:
            text = re.sub(r"^INVARIANTS?(\s+\w+)*", "", text, flags=re.MULTILINE)
        (folder / "run.cfg").write_text(text, encoding="utf-8")
        words = [str(Path(find_java()) / "bin" / "java"), "-XX:+UseParallelGC", "-cp", jar]
        words += [
            "tlc2.TLC",
            "-workers",
            str(os.cpu_count() or 1),
            "-deadlock",
            "-config",
            "run.cfg",
        ]
        words += ["-metadir", "states", name]
        began = time.perf_counter()
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
    found, violated = FOUND.findall(done.stdout), bool(VIOLATED.search(done.stdout))
    if not found or (found[-1][2] != "0" and not violated):
        said = [line for line in done.stdout.splitlines() if "rror" in line]
        raise LabError(f"TLC on {name}: {' '.join(said)[:300] or done.stderr[:300]}")
    generated, distinct, _ = (int(each.replace(",", "")) for each in found[-1])
    return Run(distinct, generated, seconds, violated)


def configured(names: str, text: str, constants: Mapping[str, Any]) -> str:
    """The text of a configuration with our values of these constants, without symmetry and view."""
    text = re.sub(r"\\\*.*", "", text)
    text = re.sub(r"^\s*(SYMMETRY|VIEW)\b.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r",[ \t]*$", "", text, flags=re.MULTILINE)
    for theirs in names.split():
        value = constants[re.sub(r"(?<!^)(?=[A-Z])", "_", theirs).lower()]
        if theirs in SETS:
            value = "{" + ", ".join(f"{theirs[0].lower()}{k + 1}" for k in range(value)) + "}"
        shown = str(value).upper() if isinstance(value, bool) else str(value)
        text = re.sub(rf"^(\s*{theirs}\s*=\s*).*$", rf"\g<1>{shown}", text, flags=re.MULTILINE)
    return text
