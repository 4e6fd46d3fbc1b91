"""The table of golden runs: what TLC found, and the command line that asks the kit the same.

`tests/golden/*.json` hold the runs, one a line, with the original's names: spec, constants,
constraint, symmetry, invariant, and TLC's figures. Here each original spec has one small function
that turns such a row into the words after `check`. The files are TLC's word: nothing here writes
them, and what the kit counts (`Configuration.size`, docs/results.md) is derived by its own tests.

`with_conditions.json` has runs under constraints that lead to a place which small configurations
do not come to: `original_condition` is what TLC was given, `condition` says the same here.

`tlc_traces.txt` has counterexamples as TLC printed them, each below a line `==== NAME`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"

_PRINTED = (FOLDER.parent / "tlc_traces.txt").read_text(encoding="utf-8").split("==== ")[1:]

TRACES = {name: text for name, _, text in (part.partition("\n") for part in _PRINTED)}
"""What TLC printed, by the name of the scenario or of the claim that it is about."""

KEPT = (
    "id",
    "spec",
    "constants",
    "constraint",
    "condition",
    "symmetry",
    "invariant",
    "property",
    "fairness",
    "complete",
    "distinct",
    "generated",
    "depth",
    "violated",
    "trace_len",
    "per_action_generated",
)
"""The fields of a run; a file may lack what none of its runs has."""

RENAMED = {
    "next": "receive_response",
    "clean_shutdown": "no_data_loss_shutdown",
    "unclean_shutdown": "data_loss_shutdown",
}
"""Actions that have another name here: the only step of an original that names none, and those of
an earlier one."""

FAIRNESS = {"none": "none", "WF_vars(Next)": "next"}
"""What the records assume; without a word of it, the conditions that the original declares."""

Settings = dict[str, int | str]


def snake(name: str) -> str:
    """An original's name in ours: MaxLeaderEpoch is max_leader_epoch, Kip101 is kip_101.

    OnlyOneLedgerOpenAtATime is only_one_ledger_open_at_a_time.
    """
    starts = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])"
    return re.sub(starts, "_", name).lower()


@dataclass(frozen=True)
class Golden:
    """One run of TLC. `figures` has the fields of KEPT."""

    file: str
    number: int
    figures: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name in KEPT:
            return self.figures.get(name)
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
    def invariants(self) -> list[str]:
        """What was checked, by our names; the records have one name, several, or none."""
        named = [self.invariant] if isinstance(self.invariant, str) else self.invariant or []
        return [snake(name) for name in named]

    @property
    def broken(self) -> str:
        """Which of them TLC found violated; a record that does not say has only one."""
        return snake(self.violated) if self.violated else self.invariants[0]

    @property
    def words(self) -> list[str]:
        """The command line: `check SPEC --set ... --invariant NAME`, or `--no-invariants`."""
        words = ["check", self.spec_name]
        for name, value in self.settings.items():
            words += ["--set", f"{name}={value}"]
        if self.symmetry:
            words.append("--symmetry")
        if self.condition:
            words += ["--constraint", self.condition]
        if not self.invariants:
            return [*words, "--no-invariants"]
        return [*words, *(word for name in self.invariants for word in ("--invariant", name))]

    @property
    def property_words(self) -> list[str]:
        """The command line for the record's temporal property: `check SPEC --property NAME`."""
        fairness = FAIRNESS.get(self.fairness, "declared")
        return [*self.words[:-1], "--property", snake(self.property), "--fairness", fairness]

    @property
    def per_action(self) -> dict[str, int] | None:
        """TLC's generated states by action, by our names; None where it did not tell."""
        if self.per_action_generated is None:
            return None
        named = ((snake(name), count) for name, count in self.per_action_generated.items())
        return {RENAMED.get(name, name): count for name, count in named}

    def __str__(self) -> str:
        settings = ",".join(str(value) for value in self.settings.values())
        checked = self.invariants[0] if len(self.invariants) == 1 else "all"
        return f"{self.spec_name}-{settings}-{checked}-{self.number}"


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


def ledger_chaining(row: Golden) -> Settings:
    return sizes(row) | {"ledger_limit": int(re.search(r"md_next_lid < (\d+)", row.constraint)[1])}


def bookkeeper(row: Golden) -> Settings:
    """A ledger's protocol: bounds on lost messages, and the changed copies of the originals."""
    lost = {None: "none", "NoLoss": 0, "MaxOneLost": 1}
    changes = {
        "unfix": {"lac_from_fragment": "false"},
        "nofence": {"recovery_reads_fence": "false"},
    }
    bound = row.constraint and row.constraint.partition(":")[0]
    settings = sizes(row) | {"max_lost_messages": lost[bound]}
    return settings | changes.get(row.id.rpartition("_")[2], {})


def unbounded_ledgers(row: Golden) -> Settings:
    """Entry ids instead of values: one a value, and one a term after the first."""
    settings = bookkeeper(row)
    return settings | {"send_limit": settings.pop("values") + settings["clients"] - 1}


def kip_853(row: Golden) -> Settings:
    return sizes(row) | KIP_853[row.spec] | bounds(row, "max_messages_in_flight")


KIP_853: dict[str, Settings] = {
    "kip_853": {},
    "kip_853:votes granted without the log up-to-date check": {"vote_without_log_check": "true"},
}
"""Modified originals, by what the records say of them: the constants that modify ours."""


def kip_996(row: Golden) -> Settings:
    """A bound on what is in flight, on epochs and on timeouts is a constant here."""
    found = dict(re.findall(KIP_996_BOUND, row.constraint or ""))
    limits = {KIP_996_LIMITS[name]: int(most) for name, most in found.items()}
    return sizes(row) | KIP_996[row.spec] | limits


KIP_996_BOUND = r"(net_messages\)|current_epoch\[s\]|prevote_ctr) <= (\d+)"
KIP_996_LIMITS = {
    "net_messages)": "max_messages_in_flight",
    "current_epoch[s]": "max_current_epoch",
    "prevote_ctr": "max_pre_votes",
}
KIP_996: dict[str, Settings] = {
    "kip_996": {},
    "kip_996: pre-vote switched off": {"pre_vote_off": "true"},
    "kip_996: a follower grants": {"pre_vote_without_fetch_rule": "true"},
    "kip_996: a prospective concludes only": {"prospective_never_gives_up": "true"},
}
"""Modified originals, by what the records' notes begin with."""


def kip_966(row: Golden) -> Settings:
    """A bound on what is in flight, on the metadata log and on starts is a constant here."""
    found = dict(re.findall(KIP_966_BOUND, row.constraint or ""))
    limits = {
        name: int(found[theirs]) for theirs, name in KIP_966_LIMITS.items() if theirs in found
    }
    named = {KIP_966_RENAMED.get(name, name): value for name, value in sizes(row).items()}
    return named | KIP_966[row.spec] | limits


KIP_966_BOUND = r"(messages\)|metadata_log\)|incarn_ctr) <= (\d+)"
KIP_966_LIMITS = {
    "messages)": "max_messages_in_flight",
    "metadata_log)": "max_metadata_records",
    "incarn_ctr": "max_incarnation",
}
KIP_966_RENAMED = {
    "clean_shutdown_limit": "no_data_loss_shutdown_limit",
    "unclean_shutdown_limit": "data_loss_shutdown_limit",
}
"""Constants of the folder v3.5 that have another name since."""

KIP_966: dict[str, Settings] = {
    "kip_966": {},
    "kip_966: v35": {"eligible_leader_replicas": "false", "strict_min_isr": "false"},
    "kip_966: nodetect": {"unclean_shutdown_detection": "false"},
    "kip_966: nostrict": {"strict_min_isr": "false"},
    "kip_966: no903": {"broker_epoch_checked": "false"},
    "kip_966: nope": {"partition_epoch_checked": "false"},
    "kip_966: noclear": {"elr_emptied": "false"},
    "kip_966: fixelr": {"elr_without_isr": "true"},
    "kip_966: nomax": {"maximal_isr": "false"},
    "kip_966: noleso": {"leso_checked": "false"},
    "kip_966: nohwm": {"hwm_checked": "false"},
    "kip_966: noreset": {"fetch_state_reset": "false"},
    "kip_966: noinc": {"incarnation_checked": "false"},
    "kip_966: fencedelr": {"elect_fenced_elr": "true"},
    "kip_966: unclean": {"unclean_election": "true"},
    "kip_966: recovery": {"unclean_recovery": "true"},
}
"""Modified originals, and the one before KIP-966, by what the records' ids begin with."""


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
    "BookKeeperProtocol": ("bookkeeper.protocol", bookkeeper),
    "BookKeeperProtocolWithLimbo": ("bookkeeper.with_limbo", bookkeeper),
    "BookKeeperProtocol_v4_13": ("bookkeeper.v4_13", bookkeeper),
    "ProtocolWithGuaranteedWriteQuorum": ("bookkeeper.guaranteed_write_quorum", bookkeeper),
    "ProtocolUnboundedLedgersAndGWQ": ("bookkeeper.unbounded_ledgers", unbounded_ledgers),
    "LedgerChaining": ("bookkeeper.ledger_chaining", ledger_chaining),
    "QuorumCoverageFencing": ("bookkeeper.quorum_coverage_fencing", sizes),
    "QuorumCoverageRecoveryReads": ("bookkeeper.quorum_coverage_recovery_reads", sizes),
    "PulsarCompaction": ("pulsar.compaction", sizes),
    **dict.fromkeys(KIP_853, ("kraft.kip_853", kip_853)),
    **dict.fromkeys(KIP_996, ("kraft.kip_996", kip_996)),
    **dict.fromkeys(KIP_966, ("kafka.kip_966", kip_966)),
}


def golden_rows(file: str) -> list[Golden]:
    """All runs in tests/golden/FILE.json."""
    rows = json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8"))
    return [Golden(file, number, figures) for number, figures in enumerate(rows)]


def as_told(ours: dict[str, int], theirs: dict[str, int]) -> dict[str, int]:
    """Our counts by action as the record tells them.

    It may give the sum of several, as "producer+consumer". An action of ours that the original does
    not have must not have been taken.
    """
    told = dict(ours)
    for name in theirs:
        if "+" in name:
            told[name] = sum(told.pop(each) for each in name.split("+"))
    return {name: count for name, count in told.items() if count or name in theirs}
