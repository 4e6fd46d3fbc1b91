"""Runs TLC on the original of a spec, with the constants of one of our searches.

Whoever runs the benchmarks supplies TLC's jar and checkouts of the originals. If an original has a
configuration file, it is used with other values, and without its symmetry and view, since our
searches use none, and without its invariants where our search checks none.
"""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.system.programs import find_java

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
"""The modules of kafka-specification come without a configuration file."""

VARIANT_CONSTANTS = "Replicas LogSize MaxRecords MaxLeaderEpoch"

FOUND = re.compile(
    r"([\d,]+) states generated, ([\d,]+) distinct states found, ([\d,]+) states left"
)

VIOLATED = re.compile(r"^Error: Invariant \w+ is violated", re.MULTILINE)


@dataclass(frozen=True)
class Original:
    """A TLA+ module: those of its constants that our spec has in snake_case, and its configuration.

    sets: constants that are sets in the original and sizes here. repaired: a mistake in its own
    configuration file, and the correction. text: the configuration, for a module without a file.
    """

    module: str
    constants: str
    sets: tuple[str, ...] = ()
    repaired: tuple[str, str] = ("", "")
    text: str = ""


ORIGINALS = {
    "kafka.kip_101": Original("Kip101", VARIANT_CONSTANTS, ("Replicas",), text=VARIANT),
    "kafka.kip_320_first_try": Original(
        "Kip320FirstTry", VARIANT_CONSTANTS, ("Replicas",), text=VARIANT
    ),
    "kafka.kip_320": Original("Kip320", VARIANT_CONSTANTS, ("Replicas",), text=VARIANT),
    "kafka.unclean_leader_election": Original(
        "UncleanLeaderElectionSafety", "UnstableReplica MinIsr"
    ),
    "bookkeeper.v4_13": Original(
        "BookKeeperProtocol_v4_13",
        "Bookies WriteQuorum AckQuorum SendLimit RecoveryReadsFence",
        ("Bookies",),
    ),
    "bookkeeper.protocol": Original(
        "BookKeeperProtocol",
        "Bookies Clients WriteQuorum AckQuorum SendLimit InflightLimit",
        ("Bookies", "Clients"),
    ),
    "pulsar.compaction": Original(
        "compaction",
        "MessageSentLimit CompactionTimesLimit ModelConsumer ConsumeTimesLimit RetainNullKey"
        " MaxCrashTimes ModelProducer",
        repaired=('{"key1", "key2"}', "{1, 2}"),  # the module wants numbers
    ),
    "kraft.kip_853": Original(
        "kraft_kip_853",
        "MaxEpoch MaxRestarts MaxCrashes MaxValuesPerEpoch MaxAddReconfigs MaxRemoveReconfigs"
        " MaxSpawnedServers InitClusterSize MinClusterSize MaxClusterSize Hosts",
        ("Hosts",),
        (
            "BeginQuorumRequest = BeginQuorumRequest",
            "BeginQuorumEpochRequest = BeginQuorumEpochRequest",
        ),
    ),
}
"""The modules of the specs of `growth` and of `spark`."""


@dataclass(frozen=True)
class Run:
    """TLC's counts, its seconds from start to end of the program, and whether an invariant is
    violated, which ends it."""

    distinct: int
    generated: int
    seconds: float
    violated: bool


def run(
    spec: str,
    constants: Mapping[str, Any],
    jar: str,
    originals: Path,
    workers: int,
    checked: bool = True,
) -> Run:
    """Run TLC on the original of a spec. constants: all of our spec's, as `show` gives them.

    jar: TLC's, or a class path. checked: with its invariants? Raises LabError if the module is not
    there, or TLC fails.
    """
    original = ORIGINALS[spec]
    module = next(originals.rglob(f"{original.module}.tla"), None)
    if module is None:
        raise LabError(f"{original.module}.tla is nowhere in {originals}: check it out there.")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for each in module.parent.glob("*.tla"):
            shutil.copy(each, folder)
        config = module.with_suffix(".cfg")
        text = original.text or config.read_text(encoding="utf-8")
        text = configured(original, text, constants)
        if not checked:
            text = re.sub(r"^INVARIANTS?(\s+\w+)*", "", text, flags=re.MULTILINE)
        (folder / "run.cfg").write_text(text, encoding="utf-8")
        words = [str(Path(find_java()) / "bin" / "java"), "-XX:+UseParallelGC", "-cp", jar]
        words += ["tlc2.TLC", "-workers", str(workers), "-deadlock", "-config", "run.cfg"]
        words += ["-metadir", "states", original.module]
        began = time.perf_counter()
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
    found, violated = FOUND.findall(done.stdout), bool(VIOLATED.search(done.stdout))
    if not found or (found[-1][2] != "0" and not violated):
        said = [line for line in done.stdout.splitlines() if "rror" in line]
        raise LabError(f"TLC on {original.module}: {' '.join(said)[:300] or done.stderr[:300]}")
    generated, distinct, _ = (int(each.replace(",", "")) for each in found[-1])
    return Run(distinct, generated, seconds, violated)


def configured(original: Original, text: str, constants: Mapping[str, Any]) -> str:
    """The text of a configuration with our values, without symmetry and view."""
    text = re.sub(r"\\\*.*", "", text)
    text = re.sub(r"^\s*(SYMMETRY|VIEW)\b.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r",[ \t]*$", "", text, flags=re.MULTILINE).replace(*original.repaired)
    for theirs in original.constants.split():
        value = constants[re.sub(r"(?<!^)(?=[A-Z])", "_", theirs).lower()]
        if theirs in original.sets:
            value = "{" + ", ".join(f"{theirs[0].lower()}{k + 1}" for k in range(value)) + "}"
        shown = str(value).upper() if isinstance(value, bool) else str(value)
        text = re.sub(rf"^(\s*{theirs}\s*=\s*).*$", rf"\g<1>{shown}", text, flags=re.MULTILINE)
    return text
