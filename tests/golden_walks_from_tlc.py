"""Makes tests/golden/walks.json: random walks of TLC through the originals, and what is near them.

    python -m tests.golden_walks_from_tlc --tlc CLASSPATH --originals FOLDER [NAME ...]

TLC and checkouts of the originals are yours to supply, as for the benchmarks. For each of the jobs
below TLC simulates (`-simulate`, with a seed), and the longest walks are kept. Each is read by the
kit as a trace, which compares every state with what TLC printed. Then TLC searches from some states
of the walk: they are its initial states; with a constraint on `TLCGet("level")` it expands them and
their successors, and it dumps the states that it found (`-dump`). The kit must find the same ones.
With names of jobs, only their walks are made again.

Some jobs are led: their walks were chosen, because what they come to is rare on random ones. Their
rows in walks.json say the steps and where TLC begins, and it must be able to take these steps: it
searches one step ahead of each state, and among the states that it dumps the next one must be. To
add such a walk, add a row with id, spec, constants, constraint, steps and starts, and name it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.interchange.tlc_output import PrintedState, PrintedTrace, parse_output
from protocol_lab.interchange.tlc_traces import agree, comparable, read_tlc_trace
from protocol_lab.interchange.tlc_values import Names, Places, variables_of
from protocol_lab.spec.spec import Model, Spec
from protocol_lab.system.programs import find_java
from tests.golden_table import Golden, golden_rows
from tests.golden_walks import LEVELS, Near, model_of, near, played, save

Constants = dict[str, int | bool | list[str] | list[int] | str]


@dataclass(frozen=True)
class Job:
    """Walks through one configuration of an original.

    steering: an action constraint that holds in the walks but not in the counts, so that they come
    to something; limit: a constraint that holds in both, as in the golden files. messages: the
    module of messages that the original fits, where that is not the one beside it. is_led: the rows
    that are there say the constants and the steps.
    """

    name: str
    spec: str
    constants: Constants
    seed: int
    walks: int = 7
    simulated: int = 60
    depth: int = 60
    steering: str = ""
    limit: str | None = None
    messages: str = ""
    is_led: bool = False

    @property
    def module(self) -> str:
        return MODULES.get(self.spec, self.spec)


MODULES = {
    "kip_853": "kraft_kip_853",
    "kip_996": "kraft_kip_996",
    "kip_966": "kafka_replication_kip_966",
    "PulsarCompaction": "compaction",
}
"""Specs whose module has another name."""

TOLD_AS = {
    "Next": "producer+consumer",
    "BecomeFollowerAndTruncateTo": "BecomeFollowerTruncateToHighWatermark",
}
"""Parts of a next-state relation that the originals do not name, or name otherwise than we do."""

OWN_DEFINITIONS = ("Begin", "Near", "Limit")
"""What MC defines for a search."""

SHORT_RUNS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options with which Java is up sooner; no run takes long."""

EVERY = 4
"""TLC begins from every so manieth state of a walk."""


def names(letter: str, count: int) -> list[str]:
    """As in ["b1", "b2"]."""
    return [f"{letter}{k + 1}" for k in range(count)]


# --- The jobs ------------------------------------------------------------------------------------

KAFKA = {"Replicas": names("b", 4), "LogSize": 3, "MaxRecords": 3, "MaxLeaderEpoch": 3}

LEDGER_STAYS_OPEN = """\
/\\ meta_status' = STATUS_CLOSED => TLCGet("level") > 25
/\\ Cardinality({m \\in DOMAIN messages' : messages'[m] = -1}) <= 1"""
ADDS_ARE_LOST = """\
/\\ meta_status' # meta_status /\\ meta_status # Nil => TLCGet("level") > 30
/\\ Cardinality({m \\in DOMAIN messages' : messages'[m] = -1}) <= 2
/\\ \\A m \\in DOMAIN messages' : messages'[m] = -1 => m.type = AddEntryRequestMessage"""
READS_ARE_LOST = """\
/\\ meta_status' = STATUS_IN_RECOVERY /\\ meta_status = STATUS_OPEN => TLCGet("level") > 8
/\\ meta_status' = STATUS_CLOSED => TLCGet("level") > 35
/\\ Cardinality({m \\in DOMAIN messages' : messages'[m] = -1}) <= 2
/\\ \\A m \\in DOMAIN messages' :
     messages'[m] = -1 => m.type \\in {ReadRequestMessage, ReadResponseMessage}"""


def ledger(bookies: int, write: int, ack: int, entries: int, **more: Any) -> Constants:
    """One ledger with so many entries to write."""
    return {
        "Bookies": names("b", bookies),
        "WriteQuorum": write,
        "AckQuorum": ack,
        "SendLimit": entries,
        **more,
    }


def with_clients(count: int, inflight: int) -> Constants:
    return {"Clients": names("c", count), "InflightLimit": inflight}


LIMBO = {
    "Clients": names("c", 2),
    "AllowCrashWhenLedgerOpen": True,
    "AllowCrashWhenLedgerInRecovery": True,
    "AllowCrashWhenLedgerClosed": True,
}
V4_13, TODAY = "BookKeeperProtocol_v4_13", "BookKeeperProtocol"
BOOKKEEPER = [
    (V4_13, ledger(3, 2, 2, 2, RecoveryReadsFence=True), LEDGER_STAYS_OPEN),
    (V4_13, ledger(4, 3, 2, 2, RecoveryReadsFence=False), LEDGER_STAYS_OPEN),
    (V4_13, ledger(3, 2, 1, 3, RecoveryReadsFence=True), LEDGER_STAYS_OPEN),
    (V4_13, ledger(4, 2, 2, 2, RecoveryReadsFence=True), ADDS_ARE_LOST),
    (V4_13, ledger(3, 3, 1, 2, RecoveryReadsFence=True), READS_ARE_LOST),
    (TODAY, ledger(3, 2, 2, 2, **with_clients(2, 2)), LEDGER_STAYS_OPEN),
    (TODAY, ledger(4, 3, 2, 2, **with_clients(3, 1)), LEDGER_STAYS_OPEN),
    (TODAY, ledger(3, 2, 1, 3, **with_clients(2, 3)), LEDGER_STAYS_OPEN),
    (TODAY, ledger(4, 2, 2, 3, **with_clients(2, 3)), ADDS_ARE_LOST),
]

KRAFT = {
    "TestLiveness": False,
    "MaxEpoch": 3,
    "MaxRestarts": 0,
    "MaxCrashes": 0,
    "MaxValuesPerEpoch": 1,
    "MaxAddReconfigs": 0,
    "MaxRemoveReconfigs": 0,
    "MaxSpawnedServers": 3,
    "MaxConnectivityChanges": 0,
    "MaxDisconnectedPairs": 0,
    "InitClusterSize": 3,
    "MinClusterSize": 1,
    "MaxClusterSize": 4,
    "Value": ["v1"],
    "Hosts": names("h", 4),
}
TWO_VALUES = {"MaxValuesPerEpoch": 2, "Value": ["v1", "v2"]}
CRASHES_LATE = """\
/\\ net_connectivity_ctr' # net_connectivity_ctr => TLCGet("level") > 20
/\\ aux_ctrs'.crash_ctr # aux_ctrs.crash_ctr => TLCGet("level") > 8"""
ELECTIONS_LATE = r"""
\A s \in StartedServers : current_epoch'[s] > 1 => TLCGet("level") > 12"""
MEMBERSHIP = {
    "MaxAddReconfigs": 2, "MaxRemoveReconfigs": 2, "MaxSpawnedServers": 5, "MaxClusterSize": 5
}  # fmt: skip
FAILURES = {
    "MaxRestarts": 1, "MaxCrashes": 1, "MaxConnectivityChanges": 1, "MaxDisconnectedPairs": 3
}  # fmt: skip
KRAFTS: dict[str, tuple[Constants, str]] = {
    "all": (
        {**FAILURES, "MaxAddReconfigs": 1, "MaxRemoveReconfigs": 1, "MaxSpawnedServers": 4},
        "",
    ),
    "voters": ({**MEMBERSHIP, **TWO_VALUES, "MaxEpoch": 2, "InitClusterSize": 2}, ""),
    "elections": ({"MaxEpoch": 4, "MaxRestarts": 2}, ""),
    "observers": ({**MEMBERSHIP, **TWO_VALUES, "MaxRestarts": 1, "InitClusterSize": 1}, ""),
    "calls": (
        {**FAILURES, "TestLiveness": True, "MaxConnectivityChanges": 4, "MaxSpawnedServers": 4},
        "",
    ),
    "crashes": (
        {**FAILURES, "MaxDisconnectedPairs": 6, "MaxSpawnedServers": 4, "MaxAddReconfigs": 1},
        CRASHES_LATE,
    ),
    "membership": ({**MEMBERSHIP, **TWO_VALUES, "MaxEpoch": 1, "MaxRestarts": 1}, ""),
    "removed": (
        {**TWO_VALUES, "MaxEpoch": 2, "MaxRemoveReconfigs": 2, "MaxRestarts": 1},
        ELECTIONS_LATE,
    ),
}

OWN_TO_KIP_853 = ("MaxCrashes", "MaxDisconnectedPairs")
PRE_VOTE = {name: value for name, value in KRAFT.items() if name not in OWN_TO_KIP_853} | {
    "MaxPermCrashes": 0,
    "MaxDisruptiveElectionTriggers": 2,
}
LINKS_LATE = """\
/\\ net_connectivity_ctr' # net_connectivity_ctr => TLCGet("level") > 20
/\\ aux_ctrs'.crash_ctr # aux_ctrs.crash_ctr => TLCGet("level") > 12"""
LOSSES = {"MaxRestarts": 1, "MaxPermCrashes": 1, "MaxConnectivityChanges": 1}
PRE_VOTES: dict[str, tuple[Constants, str]] = {
    "all": (
        {**LOSSES, "MaxAddReconfigs": 1, "MaxRemoveReconfigs": 1, "MaxSpawnedServers": 4},
        LINKS_LATE,
    ),
    "voters": ({**MEMBERSHIP, **TWO_VALUES, "MaxEpoch": 2, "InitClusterSize": 2}, ""),
    "elections": ({"MaxEpoch": 4, "MaxRestarts": 2, "MaxDisruptiveElectionTriggers": 4}, ""),
    "calls": (
        {**LOSSES, "TestLiveness": True, "MaxConnectivityChanges": 2, "MaxSpawnedServers": 4},
        LINKS_LATE,
    ),
    "membership": ({**MEMBERSHIP, **TWO_VALUES, "MaxEpoch": 1, "MaxRestarts": 1}, ""),
    "removed": (
        {**TWO_VALUES, "MaxEpoch": 2, "MaxRemoveReconfigs": 2, "MaxRestarts": 1},
        ELECTIONS_LATE,
    ),
}

REPLICAS = {
    "BrokerCount": 3,
    "InitReplicationFactor": 3,
    "Values": names("v", 2),
    "MinISR": 2,
    "InitIsrSize": 2,
    "NoDataLossShutdownLimit": 0,
    "DataLossShutdownLimit": 0,
    "FenceBrokerLimit": 1,
    "LeaderShrinkIsrLimit": 0,
    "ReassignmentLimit": 0,
}
SHUTDOWNS = {"NoDataLossShutdownLimit": 1, "DataLossShutdownLimit": 1}
SHUTDOWNS_LATE = """\
/\\ aux_ctrs'.no_data_loss_shutdown_ctr # aux_ctrs.no_data_loss_shutdown_ctr => TLCGet("level") > 12
/\\ aux_ctrs'.data_loss_shutdown_ctr # aux_ctrs.data_loss_shutdown_ctr => TLCGet("level") > 18"""
REPLICATIONS: dict[str, tuple[Constants, str]] = {
    "all": ({**SHUTDOWNS, "LeaderShrinkIsrLimit": 1}, SHUTDOWNS_LATE),
    "min_isr_3": ({"MinISR": 3, "InitIsrSize": 3, "LeaderShrinkIsrLimit": 2, **SHUTDOWNS}, ""),
    "moved": (
        {"BrokerCount": 4, "InitReplicationFactor": 2, "ReassignmentLimit": 2, **SHUTDOWNS},
        SHUTDOWNS_LATE,
    ),
}

COMPACTION = {
    "MessageSentLimit": 3,
    "CompactionTimesLimit": 3,
    "ModelConsumer": True,
    "ConsumeTimesLimit": 2,
    "KeySpace": [1, 2],
    "ValueSpace": [1, 2],
    "MaxCrashTimes": 2,
    "ModelProducer": True,
}

JOBS = [
    *(
        Job(f"kafka_{spec}", spec, KAFKA, 51 + k, walks=4, simulated=20)
        for k, spec in enumerate(
            ["KafkaTruncateToHighWatermark", "Kip101", "Kip279", "Kip320FirstTry", "Kip320"]
        )
    ),
    Job(
        "kafka_AsyncIsr",
        "AsyncIsr",
        {"Replicas": names("b", 4), "Leader": "b1", "MaxOffset": 4},
        60,
        walks=4,
    ),
    Job(
        "kafka_UncleanLeaderElectionSafety",
        "UncleanLeaderElectionSafety",
        {"Replicas": [1, 2, 3, 4], "UnstableReplica": 1, "MinIsr": 2, "Producers": [1, 2]},
        61,
        walks=4,
    ),
    *(
        Job(f"bookkeeper_{spec}_{k}", spec, constants, 70 + k, simulated=200, steering=steering)
        for k, (spec, constants, steering) in enumerate(BOOKKEEPER)
    ),
    *(
        Job(
            f"bookkeeper_limbo_{'on' if safe else 'off'}",
            "BookKeeperProtocolWithLimbo",
            ledger(
                3, 2, 1, 2, **LIMBO, FenceOnUncleanShutdown=safe, SetLimboOnUncleanShutdown=safe
            ),
            80 + safe,
            walks=4,
            simulated=100,
            steering=LEDGER_STAYS_OPEN,
            messages="MessagePassing_v4_13",
        )
        for safe in (False, True)
    ),
    Job(
        "bookkeeper_write_quorum",
        "ProtocolWithGuaranteedWriteQuorum",
        ledger(3, 3, 2, 2, **with_clients(2, 2)),
        82,
        walks=4,
        simulated=100,
        steering=LEDGER_STAYS_OPEN,
    ),
    Job(
        "bookkeeper_unbounded",
        "ProtocolUnboundedLedgersAndGWQ",
        {
            "Bookies": names("b", 3),
            "WriteQuorum": 3,
            "AckQuorum": 2,
            "Values": names("v", 2),
            **with_clients(2, 2),
        },
        83,
        walks=2,
        simulated=100,
        steering=LEDGER_STAYS_OPEN,
    ),
    Job(
        "bookkeeper_chaining",
        "LedgerChaining",
        {"Clients": names("c", 3)},
        84,
        walks=4,
        limit="LedgerLimit: md_next_lid < 7",
    ),
    *(
        Job(f"kraft_{name}", "kip_853", {**KRAFT, **changes}, 11 + k, depth=80, steering=steering)
        for k, (name, (changes, steering)) in enumerate(KRAFTS.items())
    ),
    Job("kraft_led", "kip_853", KRAFT, 0, is_led=True),
    *(
        Job(
            f"pre_vote_{name}",
            "kip_996",
            {**PRE_VOTE, **changes},
            91 + k,
            walks=4,
            depth=80,
            steering=steering,
        )
        for k, (name, (changes, steering)) in enumerate(PRE_VOTES.items())
    ),
    *(
        Job(
            f"replicas_{name}",
            "kip_966",
            {**REPLICAS, **changes},
            121 + k,
            walks=3,
            depth=44,
            steering=steering,
        )
        for k, (name, (changes, steering)) in enumerate(REPLICATIONS.items())
    ),
    *(
        Job(
            f"pulsar_{'keys' if retain else 'no_keys'}",
            "PulsarCompaction",
            {**COMPACTION, "RetainNullKey": retain},
            31 + retain,
            walks=4,
        )
        for retain in (False, True)
    ),
]


# --- TLC -----------------------------------------------------------------------------------------


@dataclass
class Tlc:
    """TLC on a module MC that extends an original, in a folder of its own."""

    job: Job
    classpath: str
    originals: Path
    folder: Path
    constants: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        module = next(self.originals.rglob(f"{self.job.module}.tla"), None)
        if module is None:
            raise LabError(f"{self.job.module}.tla is nowhere in {self.originals}: check it out.")
        for path in module.parent.glob("*.tla"):
            text = path.read_text(encoding="utf-8")
            if path == module:  # what it keeps to itself can't be named in MC's configuration
                text = re.sub(r"^LOCAL (?=Init|Next)", "", text, flags=re.MULTILINE)
            (self.folder / path.name).write_text(text, encoding="utf-8")
        if self.job.messages:
            text = (self.folder / f"{self.job.messages}.tla").read_text(encoding="utf-8")
            text = text.replace(f"MODULE {self.job.messages}", "MODULE MessagePassing")
            (self.folder / "MessagePassing.tla").write_text(text, encoding="utf-8")
        self.constants = self._declared(self.job.module)

    def _declared(self, module: str) -> list[str]:
        """The constants of a module and of those that it extends, if they are here."""
        path = self.folder / f"{module}.tla"
        if not path.exists():
            return []
        text = _without_comments(path.read_text(encoding="utf-8"))
        extended = re.search(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", text, re.MULTILINE)
        found = [
            name
            for each in re.findall(r"^CONSTANTS?\s+(\w+(?:\s*,\s*\w+)*)", text, re.MULTILINE)
            for name in re.findall(r"\w+", each)
        ]
        for other in re.findall(r"\w+", extended[1]) if extended else []:
            found += self._declared(other)
        return list(dict.fromkeys(found))

    def run(self, behaviour: str, definitions: dict[str, str], *words: str) -> str:
        """TLC's output. behaviour: lines of the configuration; definitions: what they name."""
        atoms = {
            each
            for value in self.job.constants.values()
            for each in (value if isinstance(value, list) else [value])
            if isinstance(each, str)
        }
        values = {name: name for name in [*self.constants, *sorted(atoms)]}
        values |= {name: tla(value) for name, value in self.job.constants.items()}
        config = [f"CONSTANT {name} = {value}" for name, value in values.items()]
        text = [
            "---- MODULE MC ----",
            f"EXTENDS {self.job.module}, TLC, FiniteSets",
            *([f"CONSTANTS {', '.join(sorted(atoms))}"] if atoms else []),
            *(f"{name} ==\n{_indented(body)}" for name, body in definitions.items()),
            "====",
        ]
        (self.folder / "MC.cfg").write_text("\n".join([*config, behaviour]), encoding="utf-8")
        (self.folder / "MC.tla").write_text("\n".join(text), encoding="utf-8")
        java = str(Path(find_java()) / "bin" / "java")
        words = ("tlc2.TLC", "-deadlock", *words, "-config", "MC.cfg", "MC")
        done = subprocess.run(
            [java, *SHORT_RUNS, "-cp", self.classpath, *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if "Error:" in done.stdout or not done.stdout:
            raise LabError(f"TLC on {self.job.module}: {(done.stdout + done.stderr)[-600:]}")
        return done.stdout

    def walks(self) -> list[list[tuple[str, str]]]:
        """The longest of the simulated walks: actions with the states that they led to."""
        steering = {"Steering": self.job.steering} if self.job.steering else {}
        self.run(
            "INIT Init\nNEXT Next\n" + ("ACTION_CONSTRAINT Steering\n" if steering else ""),
            steering,
            *("-simulate", f"file=walk,num={self.job.simulated}", "-depth", str(self.job.depth)),
            *("-seed", str(self.job.seed)),
        )
        files = sorted(self.folder.glob("walk_*"), key=lambda path: int(path.name.split("_")[-1]))
        found = [_printed(path.read_text(encoding="utf-8")) for path in files]
        return sorted(found, key=len, reverse=True)[: self.job.walks]

    def follow(self, model: Model, paths: list[list[bytes]]) -> list[list[str]]:
        """The states of these paths as TLC prints them. Raises LabError if it does not find one."""
        printed: list[list[str]] = [[] for _ in paths]
        for depth in range(max(map(len, paths))):
            longer = [k for k, path in enumerate(paths) if depth < len(path)]
            before = [printed[k][-1] for k in longer] if depth else []
            texts = self._found(self._search(before, 2 if depth else 1))
            trace = parse_output(as_trace([("", each) for each in texts]))
            is_same = comparison(model.spec, trace)
            for k in longer:
                state = comparable(model, paths[k][depth])
                pairs = zip(texts, trace.states, strict=True)
                found = next((text for text, each in pairs if is_same(state, each)), None)
                if found is None:
                    raise LabError(f"TLC can't take step {depth} of walk {k + 1}.")
                printed[k].append(found.strip())
        return printed

    def near(self, states: list[str]) -> tuple[list[str], dict[str, int]]:
        """The distinct states near these, and how many each action generated."""
        output = self._search(states, LEVELS)
        counts: Counter[str] = Counter()
        told = output[output.rindex("The coverage statistics at") :]
        for name, generated in re.findall(r"^<(\w+) line .*>: \d+:(\d+)$", told, re.MULTILINE):
            if name not in OWN_DEFINITIONS and int(generated):
                counts[TOLD_AS.get(name, name)] += int(generated)
        return self._found(output), dict(counts)

    def _search(self, states: list[str], levels: int) -> str:
        """TLC's output of a search that expands so many levels, from these states or from Init."""
        limit = (self.job.limit or "").partition(": ")[2]
        begin = "\n".join(f"\\/ (\n{_indented(each)}\n   )" for each in dict.fromkeys(states))
        definitions = {
            **({"Begin": begin} if states else {}),
            "Near": f'TLCGet("level") <= {levels}',
            **({"Limit": limit} if limit else {}),
        }
        behaviour = f"INIT {'Begin' if states else 'Init'}\nNEXT Next\nCONSTRAINT Near\n"
        return self.run(
            behaviour + ("CONSTRAINT Limit\n" if limit else ""),
            definitions,
            *("-coverage", "60", "-dump", "near"),
        )

    def _found(self, output: str) -> list[str]:
        """The states that the last search dumped."""
        dumped = (self.folder / "near.dump").read_text(encoding="utf-8")
        found = re.split(r"^State \d+:\n", dumped, flags=re.MULTILINE)[1:]
        assert len(found) == int(re.findall(r"(\d+) distinct states found", output)[-1])
        return found


def tla(value: Any) -> str:
    """A constant as TLC's configuration has it."""
    if isinstance(value, list):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value).upper() if isinstance(value, bool) else str(value)


def _without_comments(text: str) -> str:
    return re.sub(r"\\\*[^\n]*", "", re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines())


def _printed(text: str) -> list[tuple[str, str]]:
    """The states of a walk that TLC wrote into a module, each with the action before it."""
    state = r"\\\* <(.*?)>\s*\nSTATE_\d+ ==\s*\n(.*?)(?=\n\s*\n\s*\n|\n=====|\Z)"
    return [(action, body.strip()) for action, body in re.findall(state, text, re.DOTALL)]


# --- Rows ----------------------------------------------------------------------------------------


def rows_of(job: Job, classpath: str, originals: Path) -> list[Golden]:
    """The rows of a job. Raises LabError if TLC fails, or the kit can't follow a walk."""
    with tempfile.TemporaryDirectory() as scratch:
        tlc = Tlc(job, classpath, originals, Path(scratch))
        return [_row(job, tlc, number, walk) for number, walk in enumerate(tlc.walks(), 1)]


def _row(job: Job, tlc: Tlc, number: int, printed: list[tuple[str, str]]) -> Golden:
    figures: dict[str, Any] = {"id": f"{job.name}_{number}", "spec": job.spec}
    figures |= {"constants": job.constants, "constraint": job.limit}
    row = Golden("walks", number, figures)
    starts = list(range(1 + number % EVERY, len(printed) + 1, EVERY))
    walk = read_tlc_trace(as_trace(printed[: starts[-1]]), model_of(row))
    figures |= {"steps": [step.text for step in walk.steps], "starts": starts}
    return _with_figures(row, tlc, [printed[k - 1][1] for k in starts])


def _with_figures(row: Golden, tlc: Tlc, starts: list[str]) -> Golden:
    """The row with what TLC finds near the starts. Raises LabError if the kit finds others."""
    states, generated = tlc.near(starts)
    row.figures.update({"distinct": len(states), "per_action_generated": generated})
    found = near(row)
    expect_same_states(found, parse_output(as_trace([("", each) for each in states])))
    row.figures["digest"] = found.digest
    return row


def led_rows(job: Job, rows: list[Golden], classpath: str, originals: Path) -> None:
    """Put TLC's figures into the rows of a job that is led; it walks through all rows of a
    configuration together. Raises LabError if TLC fails, or can't take the steps."""
    for settings in {str(row.settings): row.settings for row in rows}.values():
        alike = [row for row in rows if row.settings == settings]
        model = model_of(alike[0])
        for row in alike:
            model = played(row, model).model  # which has room for this walk, too
        paths = [[moment.row for moment in played(row, model).path] for row in alike]
        with tempfile.TemporaryDirectory() as scratch:
            constants = alike[0].constants
            tlc = Tlc(replace(job, constants=constants), classpath, originals, Path(scratch))
            for row, printed in zip(alike, tlc.follow(model, paths), strict=True):
                _with_figures(row, tlc, [printed[number - 1] for number in row.starts])
                print(f"{row.id}: {row.distinct} states", flush=True)


def as_trace(states: list[tuple[str, str]]) -> str:
    """States, each with the action before it, in the form of TLC's error traces."""
    text = "Error: Invariant X is violated.\nError: The behavior up to this point is:\n"
    for k, (action, state) in enumerate(states, 1):
        text += f"State {k}: <{action or 'Initial predicate'}>\n{state.strip()}\n\n"
    return text


def comparison(spec: Spec, theirs: PrintedTrace) -> Callable[[dict[str, Any], PrintedState], bool]:
    """A function that says whether a state of ours, as `comparable` gives it, is a printed one."""
    names = Names(next(Places.of(theirs, spec.state).numberings()))
    fields = variables_of(spec.state, theirs.states[0].variables)
    known: dict[tuple, bool] = {}  # a field has few values among so many states

    def is_same(state: dict[str, Any], printed: PrintedState) -> bool:
        for name, value in printed.variables.items():
            if field := fields.get(name):
                key = field, repr(state[field]), value
                if key not in known:
                    known[key] = agree(spec, names, field, state[field], value)
                if not known[key]:
                    return False
        return True

    return is_same


def expect_same_states(ours: Near, theirs: PrintedTrace) -> None:
    """Raises LabError if the states that the kit found are not those that TLC printed."""
    is_same = comparison(ours.model.spec, theirs)
    left = [comparable(ours.model, row) for row in ours.rows]
    for printed in theirs.states:
        same = next((state for state in left if is_same(state, printed)), None)
        if same is None:
            raise LabError(f"The kit does not find this state, as TLC does: {printed.variables}")
        left.remove(same)
    if left:
        raise LabError(f"TLC does not find this state, as the kit does: {left[0]}")


def main() -> int:
    """Make the walks of all jobs, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tlc", required=True, help="TLC's jar, or a class path")
    parser.add_argument("--originals", required=True, type=Path, help="a folder with checkouts")
    parser.add_argument("jobs", nargs="*", help="jobs, or rows of led ones; without any, all")
    options = parser.parse_args()
    known = {job.name: [] for job in JOBS}
    for row in golden_rows("walks"):
        known.setdefault(row.id.rpartition("_")[0], []).append(row)
    asked = set(options.jobs) or set(known)
    for job in JOBS:
        if job.is_led:
            rows = [row for row in known[job.name] if {row.id, job.name} & asked]
            led_rows(job, rows, options.tlc, options.originals)
        elif job.name in asked:
            known[job.name] = rows_of(job, options.tlc, options.originals)
            print(f"{job.name}: {len(known[job.name])} walks", flush=True)
    save([row for job in JOBS for row in known[job.name]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
