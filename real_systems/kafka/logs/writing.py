"""Writes what the logs of a cluster under KRaft say while something happens to a partition: the
inverse of `reading`, in the words of releases 3.6 to 4.3.

Of the brokers' and controllers' lines those are written at which an operator looks up; of the
metadata log every record, as kafka-dump-log prints it. A test reads back what is written here.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

CONTROLLER = 100
_LEVELS = {"3.6": 14, "3.9": 21, "4.3": 30}
_TOPIC_ID = "nP7CvY2kTgu5XyIeLBsqRw"
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
    epoch: int = 0
    _registered: dict[int, int] = field(default_factory=dict)

    @property
    def topic(self) -> tuple[str, int]:
        """The topic's name, and the partition's number."""
        name, _, index = self.partition.rpartition("-")
        return name, int(index)

    def line(self, node: int, kind: str, time: int, **fields: Any) -> None:
        """A line of this kind. node: the broker or controller that it is about."""
        known = {
            "node": node,
            "controller": CONTROLLER,
            "folder": f"/kafka/data{node}",
            "index": self.topic[1],
            "partition": self.partition,
            "topic_id": _TOPIC_ID,
            "at_epoch": f" at epoch {self._registered.get(node)}" * (self.release >= "4"),
        }
        at, file = node, "server.log"
        if kind in ("fences", "lets_go", "elects_uncleanly"):
            at, file = CONTROLLER, "controller.log"
        self.lines.append(Line(time, at, file, TEXTS[kind].format(**known, **fields)))

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
        level = _LEVELS[self.release[:3]]
        self.record(time, "FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=level)
        if self.elr:
            name = "eligible.leader.replicas.version"
            self.record(time, "FEATURE_LEVEL_RECORD", name=name, featureLevel=1)
        if self.default_min_isr is not None:
            self._configured(time, 4, "", self.default_min_isr)
        for broker in self.replicas:
            self.registers(broker, time)
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
        self.epoch += "leader" in changed
        self.record(
            time, "PARTITION_CHANGE_RECORD", partitionId=index, topicId=_TOPIC_ID, **changed
        )

    def registers(self, broker: int, time: int) -> None:
        """A broker registers."""
        self._registered[broker] = self.record(
            time, "REGISTER_BROKER_RECORD", brokerId=broker, brokerEpoch=self._offset, fenced=True
        )

    def unfenced(self, broker: int, time: int) -> None:
        """The controller lets a broker in."""
        self._registration(broker, time, -1)

    def fenced(self, broker: int, time: int, cleanly: bool) -> None:
        """A broker's session has ended; cleanly: it asked for that."""
        self._registration(broker, time, 1)
        self.line(broker, "lets_go" if cleanly else "fences", time)

    def _registration(self, broker: int, time: int, fenced: int) -> None:
        self.record(
            time,
            "BROKER_REGISTRATION_CHANGE_RECORD",
            brokerId=broker,
            brokerEpoch=self._registered[broker],
            fenced=fenced,
        )
