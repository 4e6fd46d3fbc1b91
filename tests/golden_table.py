"""The table of golden runs: what TLC found, and the command line that asks the kit the same.

`tests/golden/*.json` hold the runs, one a line, with the original's names: spec, constants,
constraint, symmetry, invariant, and TLC's figures. Here each original spec has one small function
that turns such a row into the words after `check`. To refresh a file from the full records:

    python -m tests.golden_table ../shared/reference/golden_kafka.json tests/golden/kafka.json
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"
REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
"""The full records, in checkouts that have them beside the repository."""

KEPT = (
    "spec",
    "constants",
    "constraint",
    "symmetry",
    "invariant",
    "complete",
    "distinct",
    "generated",
    "depth",
    "trace_len",
    "per_action_generated",
)

Settings = dict[str, int | str]


def snake(name: str) -> str:
    """An original's name in ours: MaxLeaderEpoch is max_leader_epoch, Kip101 is kip_101."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=[0-9])", "_", name).lower()


@dataclass(frozen=True)
class Golden:
    """One run of TLC. `figures` has the fields of KEPT."""

    file: str
    number: int
    figures: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name in KEPT:
            return self.figures[name]
        raise AttributeError(name)

    @cached_property
    def spec_name(self) -> str:
        """Our name of the spec, as in "kafka.kip_320"."""
        return SPECS[self.spec][0]

    @cached_property
    def settings(self) -> Settings:
        """The constants by our names."""
        return SPECS[self.spec][1](self)

    @property
    def words(self) -> list[str]:
        """The command line: `check SPEC --set ... --invariant NAME`, or `--no-invariants`."""
        words = ["check", self.spec_name]
        for name, value in self.settings.items():
            words += ["--set", f"{name}={value}"]
        if self.invariant is None:
            return [*words, "--no-invariants"]
        return [*words, "--invariant", snake(self.invariant)]

    @property
    def per_action(self) -> dict[str, int] | None:
        """TLC's generated states by action, by our names; None where it did not tell."""
        if self.per_action_generated is None:
            return None
        return {snake(name): count for name, count in self.per_action_generated.items()}

    def __str__(self) -> str:
        settings = ",".join(str(value) for value in self.settings.values())
        return f"{self.spec_name}-{settings}-{self.invariant or 'all'}-{self.number}"


def sizes(row: Golden, *without: str) -> Settings:
    """The constants as they are, and sets by their sizes."""
    return {
        snake(name): len(value) if isinstance(value, list) else value
        for name, value in row.constants.items()
        if name not in without
    }


def bounds(row: Golden, *names: str) -> Settings:
    """The numbers on the right of a constraint's `<=`, for constants of these names."""
    if row.constraint is None:
        return dict.fromkeys(names, "none")
    return dict(zip(names, map(int, re.findall(r"<= (\d+)", row.constraint)), strict=True))


def finite_replicated_log(row: Golden) -> Settings:
    return sizes(row, "Nil")


def async_isr(row: Golden) -> Settings:
    leader = row.constants["Replicas"].index(row.constants["Leader"]) + 1
    return sizes(row) | {"leader": leader} | bounds(row, "max_leader_offset", "max_version")


def unclean_leader_election(row: Golden) -> Settings:
    return sizes(row) | bounds(row, "max_leader_epoch", "max_log_length")


SPECS: dict[str, tuple[str, Callable[[Golden], Settings]]] = {
    "KafkaTruncateToHighWatermark": ("kafka.truncate_to_high_watermark", sizes),
    "Kip101": ("kafka.kip_101", sizes),
    "Kip279": ("kafka.kip_279", sizes),
    "Kip320FirstTry": ("kafka.kip_320_first_try", sizes),
    "Kip320": ("kafka.kip_320", sizes),
    "AsyncIsr": ("kafka.async_isr", async_isr),
    "FiniteReplicatedLog": ("kafka.finite_replicated_log", finite_replicated_log),
    "IdSequence": ("kafka.id_sequence", sizes),
    "UncleanLeaderElectionSafety": ("kafka.unclean_leader_election", unclean_leader_election),
}


def golden_rows(file: str) -> list[Golden]:
    """All runs in tests/golden/FILE.json."""
    rows = json.loads((FOLDER / f"{file}.json").read_text())
    return [Golden(file, number, figures) for number, figures in enumerate(rows)]


def compact(records: list[dict[str, Any]]) -> str:
    """The full records cut down to the fields that are compared, as the text of a golden file."""
    lines = [json.dumps({name: record[name] for name in KEPT}) for record in records]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(compact(json.loads(Path(sys.argv[1]).read_text())))
