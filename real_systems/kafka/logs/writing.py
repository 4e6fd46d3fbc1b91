"""Writes the logs of a cluster under KRaft, so that `lab.py logs` reads what happened: the inverse
of `reading`, for one partition, releases 3.6 to 4.3.

The wording of lines is that of `reading.broker_lines.TEXTS`; metadata records, and what
kafka-topics and kafka-dump-log print, as `reading.metadata_log` and `tool_output` read it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from real_systems.kafka.logs.reading.broker_lines import TEXTS

CONTROLLER = 100
_BATCH = (
    "baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: -1 lastSequence: -1"
    " producerId: -1 producerEpoch: -1 partitionLeaderEpoch: {epoch} isTransactional: false"
    " isControl: false deleteHorizonMs: OptionalLong.empty position: {position} CreateTime: {time}"
    " size: 69 magic: 2 compresscodec: none crc: {crc} isvalid: true"
)
_LEVELS = {"3.6": 14, "3.9": 21, "4.3": 30}
_TOPIC_ID = "nP7CvY2kTgu5XyIeLBsqRw"
_DIRECTORIES = "VDn-VS4OBExSjpqoyGz4yg", "DCgC9o-dl4nEyBujEY5tyA", "W2RF8TRusN3JRHUTMpE2CQ"


@dataclass(frozen=True)
class Line:
    """A line of a node's log, or a record of the metadata log. file: as in server.log."""

    time: int
    node: int
    file: str
    text: str

    def __str__(self) -> str:
        return (
            self.text if self.file == "dump-metadata.txt" else f"[{_stamp(self.time)}] {self.text}"
        )


def _stamp(time: int) -> str:
    seconds = datetime.fromtimestamp(time // 1000, UTC)
    return f"{seconds:%Y-%m-%d %H:%M:%S},{time % 1000:03}"


@dataclass
class LogWriter:
    """Writes as things happen. release: as in 3.9.1; min_isr: the topic's, None if it has none of
    its own, and default_min_isr the cluster's. epoch: the leader's; in Kafka it rises with each
    change of the leader, also to none."""

    release: str
    partition: str
    replicas: Sequence[int]
    min_isr: int | None = 2
    default_min_isr: int | None = None
    elr: bool = False
    lines: list[Line] = field(default_factory=list)
    _offset: int = 0
    _version: int = 0
    epoch: int = 0
    _registered: dict[int, int] = field(default_factory=dict)

    @property
    def topic(self) -> tuple[str, int]:
        """The topic's name, and the partition's number."""
        name, _, index = self.partition.rpartition("-")
        return name, int(index)

    # --- Lines ------------------------------------------------------------------------------------

    def line(self, node: int, kind: str, time: int, **fields: Any) -> None:
        """A line of this kind, in the wording of the release, if the release has it."""
        since = [each for each in TEXTS[kind] if _number(each) <= _number(self.release)]
        if not since:
            return
        topic, index = self.topic
        known = {
            "node": node,
            "controller": CONTROLLER,
            "folder": f"/kafka/data{node}",
            "topic": topic,
            "index": index,
            "partition": self.partition,
            "topic_id": _TOPIC_ID,
            "replicas": list(self.replicas),
            "directories": f"[{', '.join(_DIRECTORIES[: len(self.replicas)])}]",
            "release": self.release,
            "version": self._version,
            "broker_epoch": self._registered.get(node, 0),
        }
        at, file = node, "server.log"
        if kind in ("fences", "lets_go", "unfences", "unclean_shutdown", "elects_uncleanly"):
            at, file = CONTROLLER, "controller.log"
        elif kind in ("leads", "follows"):
            file = "state-change.log"
        text = TEXTS[kind][since[-1]].format(**{**known, **fields})
        self.lines += [Line(time, at, file, each) for each in text.split("\n")]

    # --- Records of the metadata log --------------------------------------------------------------

    def record(self, time: int, type: str, **data: Any) -> int:
        """A record; returns its offset."""
        text = json.dumps({"type": type, "version": 0, "data": data}, separators=(",", ":"))
        head = f"| offset: {self._offset} CreateTime: {time} keySize: -1 valueSize: {len(text)}"
        line = f"{head} sequence: -1 headerKeys: [] payload: {text}"
        self.lines.append(Line(time, CONTROLLER, "dump-metadata.txt", line))
        self._offset += 1
        return self._offset - 1

    def begin(self, time: int, leader: int) -> None:
        """The cluster starts, and the topic is created."""
        level = [_LEVELS[each] for each in _LEVELS if _number(each) <= _number(self.release)][-1]
        self.record(time, "FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=level)
        if self.elr:
            name = "eligible.leader.replicas.version"
            self.record(time, "FEATURE_LEVEL_RECORD", name=name, featureLevel=1)
        if self.default_min_isr is not None:
            self._configured(time, 4, "", self.default_min_isr)
        for broker in self.replicas:
            self.registers(broker, time)
            self.line(broker, "came_back_empty", time + 130)
            self.unfenced(broker, time + 310)
        time += 60_000
        name, index = self.topic
        self.record(time, "TOPIC_RECORD", name=name, topicId=_TOPIC_ID)
        if self.min_isr is not None:
            self._configured(time, 2, name, self.min_isr)
        self.record(
            time,
            "PARTITION_RECORD",
            partitionId=index,
            topicId=_TOPIC_ID,
            replicas=list(self.replicas),
            isr=list(self.replicas),
            removingReplicas=[],
            addingReplicas=[],
            leader=leader,
            leaderEpoch=0,
            partitionEpoch=0,
        )

    def _configured(self, time: int, kind: int, name: str, value: int) -> None:
        self.record(
            time,
            "CONFIG_RECORD",
            resourceType=kind,
            resourceName=name,
            name="min.insync.replicas",
            value=str(value),
        )

    def changes(self, time: int, **changed: Any) -> None:
        """A change of the partition: isr, leader, eligibleLeaderReplicas, lastKnownElr."""
        _, index = self.topic
        self._version += 1
        self.epoch += "leader" in changed
        self.record(
            time, "PARTITION_CHANGE_RECORD", partitionId=index, topicId=_TOPIC_ID, **changed
        )

    def registers(self, broker: int, time: int) -> None:
        """A broker registers."""
        data = {"brokerId": broker, "isMigratingZkBroker": False, "brokerEpoch": self._offset}
        self._registered[broker] = self.record(
            time,
            "REGISTER_BROKER_RECORD",
            **data,
            incarnationId=f"{_TOPIC_ID[:20]}{broker}{self._offset % 10}",
            endPoints=[],
            features=[],
            rack=None,
            fenced=True,
            inControlledShutdown=False,
        )
        self.line(broker, "release", time)

    def unfenced(self, broker: int, time: int) -> None:
        """The controller lets a broker in."""
        self._registration(broker, time, -1)
        self.line(broker, "unfences", time)
        self.line(broker, "started", time)

    def fenced(self, broker: int, time: int, cleanly: bool) -> None:
        """A broker's session has ended; cleanly: it asked for that."""
        self._registration(broker, time, 1)
        self.line(broker, "lets_go" if cleanly else "fences", time)
        if cleanly:
            self.line(broker, "shut_down", time)

    def _registration(self, broker: int, time: int, fenced: int) -> None:
        self.record(
            time,
            "BROKER_REGISTRATION_CHANGE_RECORD",
            brokerId=broker,
            brokerEpoch=self._registered[broker],
            fenced=fenced,
        )

    # --- Files ------------------------------------------------------------------------------------

    def files(self) -> dict[str, str]:
        """The files of a folder that `lab.py logs` reads, by their paths."""
        found: dict[str, list[str]] = {}
        for each in self.lines:
            found.setdefault(f"node{each.node}/{each.file}", []).append(str(each))
        name = f"node{CONTROLLER}/dump-metadata.txt"
        log = f"/kafka/data{CONTROLLER}/__cluster_metadata-0/00000000000000000000.log"
        found[name] = [f"Dumping {log}", "Log starting offset: 0", *found.get(name, [])]
        for node in (*self.replicas, CONTROLLER):
            role = "controller" if node == CONTROLLER else "broker"
            found[f"node{node}/server.properties"] = [f"node.id={node}", f"process.roles={role}"]
        return {path: "\n".join(lines) + "\n" for path, lines in found.items()}


def _number(release: str) -> tuple[int, int]:
    major, minor, *_ = release.split(".")
    return int(major), int(minor)


# --- What tools print -----------------------------------------------------------------------------


def described(
    topic: str,
    index: int,
    leader: int,
    replicas: Sequence[int],
    isr: Sequence[int],
    elr: Sequence[int] | None = None,
    last_known: Sequence[int] = (),
) -> str:
    """A partition's line of kafka-topics --describe. leader: 0 for none; elr: None before 4.0."""
    fields = {
        "Topic": topic,
        "Partition": index,
        "Leader": leader or "none",
        "Replicas": _listed(replicas),
        "Isr": _listed(isr),
    }
    if elr is not None:
        fields |= {"Elr": _listed(elr), "LastKnownElr": _listed(last_known)}
    return "\t".join(f"{name}: {value}" for name, value in fields.items())


def dumped(partition: str, node: int, epochs: Sequence[tuple[int, int]], time: int) -> list[str]:
    """What kafka-dump-log prints of a replica: its batches, each an offset and an epoch."""
    first = epochs[0][0] if epochs else 0
    lines = [
        f"Dumping /kafka/data{node}/{partition}/{first:020}.log",
        f"Log starting offset: {first}",
    ]
    for k, (offset, epoch) in enumerate(epochs):
        crc = (offset * 2654435761 + epoch) % 2**32
        lines.append(_BATCH.format(offset=offset, epoch=epoch, position=69 * k, time=time, crc=crc))
    return lines


def _listed(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
