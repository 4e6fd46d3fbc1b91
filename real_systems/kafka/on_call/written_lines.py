"""What a cluster under KRaft writes while the model takes its steps, and what its tools print: the
inverse of `logs.reading`, in the words of releases 3.6 to 4.3.

A step of the model becomes the records and lines that Kafka wrote when it was seen to do the same:
of the brokers' and controllers' lines those at which an operator looks up; of the metadata log
every record, as kafka-dump-log prints it. A test reads back what is written here.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members
from protocol_lab.model.step_text import parse
from real_systems.kafka.on_call.cases import Case
from real_systems.kafka.on_call.incident import BROKERS, Command, Event, World, log_of, state

TOPIC, INDEX = "payments", 17
TO = "--bootstrap-server kafka:9092"
PARTITION = f"{TOPIC}-{INDEX}"
FIRST = 8_812_454
"""The offset of the model's first record."""
KEY = 7300
"""The key of a payment is this and its number in the model."""
PAGE = 1_795_836_060_000
"""2026-11-28 03:21, when the page came, in milliseconds."""


def at(minute: int) -> int:
    """The time of a minute after the page."""
    return PAGE + 60_000 * minute


def hour(minute: int) -> str:
    """The same as a watch shows it."""
    return f"{3 + (21 + minute) // 60:02}:{(21 + minute) % 60:02}"


CONTROLLER = 100
_LEVELS = {"3.6": 14, "3.9": 21, "4.3": 30}
_TOPIC_ID = "nP7CvY2kTgu5XyIeLBsqRw"
_OF_PARTITION = {"partitionId": INDEX, "topicId": _TOPIC_ID}
_OF_CONTROLLER = "INFO [QuorumController id={controller}]"

TEXTS = {
    "came_back_unclean": "INFO Recovering 1 logs from {folder} since no clean shutdown file was"
    " found (kafka.log.LogManager)",
    "came_back_clean": "INFO Skipping recovery of 1 logs from {folder} since clean shutdown file"
    " was found (kafka.log.LogManager)",
    "came_back_empty": "INFO No logs found to be loaded in {folder} (kafka.log.LogManager)",
    "elects_uncleanly": "INFO Setting new leader for topicId {topic_id}, partition {index} to"
    " {leader} using an unclean election (org.apache.kafka.controller.PartitionChangeBuilder)",
    "truncates": "INFO [UnifiedLog partition={partition}, dir={folder}] Truncating to offset {end}"
    " (kafka.log.UnifiedLog)",
    "stands": "INFO [RaftManager id={node}] Completed transition to CandidateState(localId={node},"
    " localDirectoryId=8ma782OVNVbAay2WmQoxiw,epoch={epoch}, retries=1, voteStates={{}})"
    " (org.apache.kafka.raft.QuorumState)",
    "wins": "INFO [RaftManager id={node}] Completed transition to Leader(localReplicaKey="
    "ReplicaKey(id={node}, directoryId=Optional[8ma782OVNVbAay2WmQoxiw]), epoch={epoch},"
    " epochStartOffset=47, highWatermark=Optional.empty) (org.apache.kafka.raft.QuorumState)",
    "deposed": "WARN [QuorumController id={node}] Renouncing the leadership due to a metadata log"
    " event. We were the leader at epoch {epoch}, but in the new epoch {later}, the leader is"
    " (none). Reverting to last stable offset 26."
    " (org.apache.kafka.controller.QuorumController)",
    # what the records say as well, so that no row of `broker_lines` reads it
    "fences": f"{_OF_CONTROLLER} Fencing broker {{node}}{{at_epoch}} because its session has timed"
    " out. (org.apache.kafka.controller.ReplicationControlManager)",
    "lets_go": f"{_OF_CONTROLLER} Unfenced broker {{node}} has requested and been granted an"
    " immediate shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)",
}
"""The lines by their kinds, which are those of `reading.broker_lines`."""


@dataclass(frozen=True)
class Line:
    """A line of a node's log, or a record of the metadata log. file: as in server.log."""

    time: int
    node: int
    file: str
    text: str

    def __str__(self) -> str:
        seconds = datetime.fromtimestamp(self.time // 1000, UTC)
        return f"[{seconds:%Y-%m-%d %H:%M:%S},{self.time % 1000:03}] {self.text}"


class Lines:
    """Lines of the brokers' and controllers' logs, as things happen. release: as in 3.9.1."""

    def __init__(self, release: str):
        self.release = release
        self.lines: list[Line] = []
        self._registered: dict[int, int] = {}

    def line(self, node: int, kind: str, time: int, **fields: Any) -> None:
        """A line of this kind. node: the broker or controller that it is about."""
        known = {
            "node": node,
            "controller": CONTROLLER,
            "folder": f"/kafka/data{node}",
            "index": INDEX,
            "partition": PARTITION,
            "topic_id": _TOPIC_ID,
            "at_epoch": f" at epoch {self._registered.get(node)}" * (self.release >= "4"),
        }
        at, file = node, "server.log"
        if kind in ("fences", "lets_go", "elects_uncleanly"):
            at, file = CONTROLLER, "controller.log"
        self.lines.append(Line(time, at, file, TEXTS[kind].format(**known, **fields)))


class Written(Lines):
    """The logs of a case, written event by event. epoch: Kafka's leader epoch, which rises with
    each change of the leader, also to none; epochs: the same for each of the model's, which counts
    those with a leader only. base: the offset of the model's first record in each broker's log."""

    def __init__(self, case: Case):
        super().__init__(case.release)
        self.base = dict.fromkeys(BROKERS, FIRST)
        self.epoch, self.epochs = 0, {0: 0}
        self._offset, self._recovers = 0, False
        self._begin(case.settings.min_isr, bool(case.settings.elr))

    def _begin(self, min_isr: int, elr: bool) -> None:
        """The cluster starts, an hour before the page, and a minute later the topic is created."""
        time, level = at(-60), _LEVELS[self.release[:3]]
        self._record(time, "FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=level)
        if elr:
            name = "eligible.leader.replicas.version"
            self._record(time, "FEATURE_LEVEL_RECORD", name=name, featureLevel=1)
            self._configured(time, 4, "", 1)
        for broker in BROKERS:
            self._registers(broker, time)
            self._registration(broker, time + 310, fenced=-1)
        time += 60_000
        self._record(time, "TOPIC_RECORD", name=TOPIC, topicId=_TOPIC_ID)
        if min_isr != 1:  # else an upgrade has set the cluster's
            self._configured(time, 2, TOPIC, min_isr)
        self._record(
            time,
            "PARTITION_RECORD",
            **_OF_PARTITION,
            replicas=BROKERS,
            isr=BROKERS,
            leader=1,
            leaderEpoch=0,
            partitionEpoch=0,
        )

    def add(self, event: Event) -> list[Line]:
        """The lines of an event."""
        begun = len(self.lines)
        name, arguments = parse(event.step)
        broker = arguments.get("broker", 0)
        time = at(event.minute) + 10 * (begun % 3000)
        if name == "start" and broker in state(event.before).disk_is_new:
            self.base[broker] = 0
        self._changes(event, name, broker, time)
        if name == "copy":
            self._truncated(event, arguments["follower"], time)
        return self.lines[begun:]

    def _changes(self, event: Event, name: str, broker: int, time: int) -> None:
        """What the controller decides, and what it hears of a broker."""
        old, new = _record(event.before), _record(event.after)
        s = state(event.before)
        if name == "start":
            middle = dict(old)
            if event.before.settings.elr and broker in s.dirty:
                for each in ("isr", "eligibleLeaderReplicas"):
                    middle[each] = [one for one in old[each] if one != broker]
                if not middle["isr"]:
                    middle["lastKnownElr"] = [s.last_leader]
                if middle != old:
                    self._changed(time, **_difference(old, middle))
            if broker not in s.running:
                self._registers(broker, time)
                kind = "came_back_unclean" if broker in s.dirty else "came_back_clean"
                if broker in s.disk_is_new:
                    kind = "came_back_empty"
                self.line(broker, kind, time + 130)
            old, time = middle, time + 310
            self._registration(broker, time, fenced=-1)
        elif name == "elect_uncleanly":
            self.line(0, "elects_uncleanly", time, leader=new["leader"])
        changed = _difference(old, new)
        eligible = [*old["isr"], *old["eligibleLeaderReplicas"]]
        if changed.get("leader", -1) != -1 and new["leader"] not in eligible:
            changed["leaderRecoveryState"], self._recovers = 1, True
        elif self._recovers and len(new["isr"]) > len(old["isr"]):
            changed["leaderRecoveryState"], self._recovers = 0, False
        if changed:
            self._changed(time, **changed)
        if name in ("stop", "kill", "lose_power", "pause"):
            self._registration(broker, time, fenced=1)
            self.line(broker, "lets_go" if name == "stop" else "fences", time)
        self.epochs[state(event.after).leader_epoch] = self.epoch

    def _truncated(self, event: Event, follower: int, time: int) -> None:
        s, kept = state(event.after), kept_by(event, follower)
        self.base[follower] = self.base[s.leader]
        old = log_of(event.before, follower)
        if kept < len(old):
            self.line(follower, "truncates", time, end=self.base[follower] + kept)

    # --- Records of the metadata log --------------------------------------------------------------

    def _record(self, time: int, type: str, **data: Any) -> None:
        text = json.dumps({"type": type, "version": 0, "data": data}, separators=(",", ":"))
        head = f"| offset: {self._offset} CreateTime: {time} keySize: -1 valueSize: {len(text)}"
        line = f"{head} sequence: -1 headerKeys: [] payload: {text}"
        self.lines.append(Line(time, CONTROLLER, "dump-metadata.txt", line))
        self._offset += 1

    def _configured(self, time: int, kind: int, name: str, value: int) -> None:
        self._record(
            time,
            "CONFIG_RECORD",
            resourceType=kind,
            resourceName=name,
            name="min.insync.replicas",
            value=str(value),
        )

    def _changed(self, time: int, **changed: Any) -> None:
        """A change of the partition: isr, leader, eligibleLeaderReplicas, lastKnownElr."""
        self.epoch += "leader" in changed
        self._record(time, "PARTITION_CHANGE_RECORD", **_OF_PARTITION, **changed)

    def _registers(self, broker: int, time: int) -> None:
        epoch = self._registered[broker] = self._offset
        self._record(
            time, "REGISTER_BROKER_RECORD", brokerId=broker, brokerEpoch=epoch, fenced=True
        )

    def _registration(self, broker: int, time: int, fenced: int) -> None:
        self._record(
            time,
            "BROKER_REGISTRATION_CHANGE_RECORD",
            brokerId=broker,
            brokerEpoch=self._registered[broker],
            fenced=fenced,
        )


def kept_by(event: Event, follower: int) -> int:
    """How many records of its log a follower keeps when it copies."""
    old, new = log_of(event.before, follower), log_of(event.after, follower)
    kept = min(len(old), len(new))
    return next((k for k in range(kept) if old[k] != new[k]), kept)


def _record(world: World) -> dict[str, Any]:
    """What the metadata log says of the partition, in its names."""
    s = state(world)
    elr, waits = world.settings.elr, s.leader == NONE
    return {
        "isr": list(members(s.isr)),
        "leader": -1 if waits else s.leader,
        "eligibleLeaderReplicas": list(members(s.elr)),
        "lastKnownElr": [s.last_leader] if elr and waits and not len(s.isr) else [],
    }


def _difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in new.items() if old[name] != value}


# --- What tools print -----------------------------------------------------------------------------


def describe(world: World, case: Case) -> str:
    """The partition, as kafka-topics --describe prints it."""
    s, record = state(world), _record(world)
    leader = s.leader if s.leader in s.unfenced else "none"
    shown = {"Topic": TOPIC, "Partition": INDEX, "Leader": leader}
    brokers = {"Replicas": BROKERS, "Isr": record["isr"]}
    if case.release >= "3.9":  # the tool of 3.9.1 prints it, empty
        brokers["Elr"] = record["eligibleLeaderReplicas"]
        brokers["LastKnownElr"] = record["lastKnownElr"]
    shown |= {name: ",".join(map(str, each)) for name, each in brokers.items()}
    return "  ".join(f"{name}: {value}" for name, value in shown.items())


def shown(command: Command, seen: Any, written: Written) -> tuple[str, list[str]]:
    """A look, as a terminal has it: what was typed, and what it printed."""
    broker = command.broker
    if command.name == "disk":
        kept = [".kafka_cleanshutdown"] if seen == "clean" else []
        kept += [] if seen == "new" else [PARTITION, "recovery-point-offset-checkpoint"]
        return f"ls -A /kafka/data{broker}", [*kept[:1], "meta.properties", *kept[1:]]
    if command.name == "dump":
        first, epochs = written.base[broker], written.epochs
        files = f"/kafka/data{broker}/{PARTITION}/*.log"
        shell = f"kafka-dump-log.sh --print-data-log --files {files} | tail -4"
        printed = []
        for offset, (value, epoch) in enumerate(seen, first):
            printed += [
                f"baseOffset: {offset} … lastOffset: {offset} … partitionLeaderEpoch:"
                f" {epochs.get(epoch, epoch)} … isvalid: true",
                f"| offset: {offset} … key: {KEY + value} payload: …",
            ]
        return shell, printed[-4:] or ["(empty)"]
    synonyms = ["DEFAULT_CONFIG:min.insync.replicas=1"]
    synonyms.insert(0, "STATIC_BROKER_CONFIG:min.insync.replicas=2")
    if seen == 1:
        synonyms.insert(0, "DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1")
    listed = f"min.insync.replicas={seen} sensitive=false synonyms={{{', '.join(synonyms)}}}"
    shell = f"kafka-configs.sh {TO} --describe --all --topic {TOPIC} | grep min.insync"
    return shell, [listed]
