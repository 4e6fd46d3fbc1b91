"""What clusters under KRaft and under ZooKeeper share: nodes, their files, and what is on disk.

First the releases of Kafka: which jars each needs, on Java 17 and newer, and what it does
differently.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError, quoted
from real_systems.kafka.picture import brokers_text
from real_systems.kafka.record_batches import cut, stored_records
from real_systems.runner.jars import Artifact, fetched_jars, java_command, unpacked_jars
from real_systems.runner.java_gateway import JavaGateway
from real_systems.runner.processes import free_port, lines_in, write_properties
from real_systems.runner.stories import Run

OLDEST = (0, 10, 2)
KRAFT = (3, 3)
"""The first release whose KRaft is meant for production."""


def number_of(release: str) -> tuple[int, ...]:
    """(3, 9, 1) for "3.9.1". Raises LabError for anything else, or a release that is too old."""
    parts = release.split(".")
    if not all(each.isdecimal() for each in parts) or len(parts) < 3:
        raise LabError(f"{quoted(release)} is no release of Kafka: write one such as 4.3.1.")
    number = tuple(map(int, parts))
    if number < OLDEST:
        raise LabError(f"Kafka {release} is too old for the kit: take 0.10.2.0 or a later release.")
    return number


def has_kraft(release: str) -> bool:
    """Does a cluster of this release run under KRaft here? Before 3.3 it has ZooKeeper."""
    return number_of(release) >= KRAFT


def has_elr(release: str) -> bool:
    """Does this release know eligible leader replicas (KIP-966)?"""
    return number_of(release) >= (4, 0)


def jars_of(release: str, say) -> list[Path]:
    """The jars of a release: those of KAFKA_HOME if that is this release, else fetched once.

    say: is called with a sentence if they must be fetched. Raises LabError.
    """
    return unpacked_jars("KAFKA_HOME", "libs", f"-{release}.jar") or fetched_jars(
        f"kafka-{release}", _artifacts(release), say
    )


def _artifacts(release: str) -> list[Artifact]:
    number = number_of(release)
    scala = "2.13" if number >= (2, 6) else "2.12"
    kafka = Artifact("org.apache.kafka", f"kafka_{scala}", release)
    if number >= (4, 0):
        tools = Artifact("org.apache.kafka", "kafka-tools", release)  # kafka-features
        return [kafka, tools, Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")]
    if number >= (3, 0):
        return [kafka, Artifact("org.slf4j", "slf4j-reload4j", "1.7.36")]
    # ZooKeeper asks for log4j's own JMX classes, and Java has no javax.xml.bind since 11.
    old = [
        kafka,
        Artifact("log4j", "log4j", "1.2.17"),
        Artifact("org.slf4j", "slf4j-log4j12", "1.7.25"),
        Artifact("javax.xml.bind", "jaxb-api", "2.3.1"),
    ]
    if (2, 0) <= number < (2, 2):
        # On Java 14 and newer, ZooKeeper 3.4.13 takes "127.0.0.1/<unresolved>" for a host's name.
        old.append(Artifact("org.apache.zookeeper", "zookeeper", "3.4.10", instead=True))
    return old


TOPIC = "t"
"""The topic of all stories; it has one partition, number 0."""

UP = 240  # seconds that a cluster has to start, also on a busy machine
_NODE_HEAP = 384  # megabytes

_LOG4J = """\
log4j.rootLogger=INFO, F
log4j.appender.F=org.apache.log4j.FileAppender
log4j.appender.F.File=${kafka.logs.dir}/server.log
log4j.appender.F.layout=org.apache.log4j.PatternLayout
log4j.appender.F.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.state.change.logger=TRACE
log4j.logger.org.apache.zookeeper=WARN
"""

_LOG4J2 = """\
appender.file.type=File
appender.file.name=F
appender.file.fileName=${sys:kafka.logs.dir}/server.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRefs=file
rootLogger.appenderRef.file.ref=F
logger.state.name=state.change.logger
logger.state.level=TRACE
"""

_OF_EACH = {
    "offsets.topic.replication.factor": 1,
    "num.network.threads": 2,
    "num.io.threads": 4,
}
_UNDER_KRAFT = {
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "group.initial.rebalance.delay.ms": 0,
    "broker.session.timeout.ms": 3000,
    "broker.heartbeat.interval.ms": 500,
    "replica.lag.time.max.ms": 2000,
    "replica.fetch.wait.max.ms": 200,
    "log.cleaner.dedupe.buffer.size": 16_777_216,
}
_UNDER_ZOOKEEPER = {
    "zookeeper.session.timeout.ms": 6000,
    "log.cleaner.enable": "false",
    "unclean.leader.election.enable": "false",
    "auto.leader.rebalance.enable": "false",
}
"""Properties of each node, and what it has besides in a cluster of either kind. A story's settings
outrank them; subclasses say who the node is and where it listens."""


@dataclass(frozen=True)
class PartitionState:
    """What the controller has decided about the partition last.

    leader: None if there is none. elr, last_known: eligible leader replicas, and those that were
    known last (KIP-966; empty before 4.0). maybe_lost: an election that may have lost records.
    """

    leader: int | None
    epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()
    maybe_lost: bool = False

    def __str__(self) -> str:
        text = f"leader {self.leader or 'none'}, epoch {self.epoch}, ISR {brokers_text(self.isr)}"
        if self.elr:
            text += f", ELR {brokers_text(self.elr)}"
        if self.last_known:
            text += f", last known leader {brokers_text(self.last_known)}"
        return text


class Cluster(ABC):
    """Nodes of one release as local processes on the loopback interface.

    brokers: their numbers. settings: server properties of all nodes, or, under a node's number, of
    one. Subclasses say who they are and what decides.
    """

    def __init__(self, run: Run, brokers: Iterable[int], settings: dict[Any, Any] | None):
        self.processes, self.folder = run.processes, run.processes.folder
        self.release, self.say = run.release, run.say
        self.brokers, self.settings = tuple(brokers), settings or {}
        self.jars = jars_of(self.release, self.say)
        self.ports: dict[int, int] = {}
        self.clients = JavaGateway(self.processes, self.jars, options=self.logging("clients"))

    def address(self, *nodes: int) -> str:
        """Where clients reach these nodes."""
        return ",".join(f"127.0.0.1:{self.port(node)}" for node in nodes)

    def port(self, node: int) -> int:
        """The node's port; chosen, among the free ones, when it is first asked for."""
        if node not in self.ports:
            self.ports[node] = free_port()
        return self.ports[node]

    @abstractmethod
    def bring_up(self) -> None:
        """Start all nodes, and wait until a topic can be created. Raises DidNotHappen."""

    @abstractmethod
    def state(self) -> PartitionState | None:
        """What was decided about the partition last; None before it exists."""

    @abstractmethod
    def create_topic(self, replicas: list[int], settings: dict[str, str]) -> None:
        """Create the topic, its replicas in this order: the first is preferred as the leader."""

    @abstractmethod
    def reorder(self, replicas: list[int]) -> None:
        """Reassign the partition to the same replicas in another order."""

    @abstractmethod
    def elect_preferred(self, through: int) -> None:
        """Ask for the election of the preferred leader, through this broker."""

    def start(self, node: int) -> None:
        """Start a node; it reads the configuration that was written for it."""
        logs = self.logs(node)
        logs.mkdir(exist_ok=True)
        command = java_command(
            self.jars,
            "kafka.Kafka",
            self._configuration(node),
            heap=_NODE_HEAP,
            options=self.logging(f"node{node}"),
        )
        self.processes.start(str(node), command, logs / "stdout.txt")

    def configure(self, node: int, own: dict[str, Any]) -> None:
        """Write the node's configuration: what each has, its own properties, and the settings."""
        values = _OF_EACH | (_UNDER_KRAFT if has_kraft(self.release) else _UNDER_ZOOKEEPER)
        values |= {"log.dirs": self.data(node)} | own
        values |= self.settings.get("all", {}) | self.settings.get(node, {})
        write_properties(self._configuration(node), values)

    def logs(self, node: int) -> Path:
        """The folder of what a node says."""
        return self.folder / f"node{node}"

    def data(self, node: int) -> Path:
        """The folder of a node's disk."""
        return self.folder / f"data{node}"

    def said(self, node: int, pattern: str) -> list[str]:
        """The lines of a node's log that match this regular expression."""
        return lines_in(self.logs(node) / "server.log", pattern)

    def records(self, broker: int) -> list[tuple[str, int | None]]:
        """The records in a replica's log, as they are on disk: each value, and its leader epoch."""
        segments = sorted(self.data(broker).glob(f"{TOPIC}-0/*.log"))
        found = chain.from_iterable(map(stored_records, segments))
        return [(record.value.decode(), batch.epoch) for batch, record in found]

    def values(self, broker: int) -> list[str]:
        """Their values."""
        return [value for value, _ in self.records(broker)]

    def cut(self, broker: int, keep: int) -> None:
        """Lose what a replica had not flushed: all but its first `keep` records."""
        cut(max(self.data(broker).glob(f"{TOPIC}-0/*.log")), keep)

    def _configuration(self, node: int) -> Path:
        return self.folder / f"{node}.properties"

    def logging(self, name: str) -> list[str]:
        """The options that send what a process says to its folder."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        new = number_of(self.release) >= (4, 0)
        file = self.folder / ("log4j2.properties" if new else "log4j.properties")
        if not file.exists():
            file.write_text(_LOG4J2 if new else _LOG4J, encoding="utf-8")
        option = "-Dlog4j2.configurationFile=" if new else "-Dlog4j.configuration=file:"
        return [f"-Dkafka.logs.dir={folder}", f"{option}{file}"]
