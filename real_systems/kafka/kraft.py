"""A cluster under KRaft. What its controller decides is read from the metadata log on its disk.

So every decision is seen, in order, whichever broker is paused or dead.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError
from real_systems.kafka.cluster import TOPIC, UP, Cluster, PartitionState, has_elr, has_kraft
from real_systems.kafka.logs.moments import NOT_YET, Moment, decided
from real_systems.kafka.logs.reading.metadata_log import (
    FENCED,
    OF_A_PARTITION,
    REGISTERS,
    UNFENCED,
    MetadataRecord,
    registrations,
)
from real_systems.kafka.logs.reading.metadata_records import decoded
from real_systems.kafka.record_batches import BROKEN, stored_records
from real_systems.runner.jars import java_command
from real_systems.runner.java_gateway import cause_of
from real_systems.runner.processes import DidNotHappen, wait_until
from real_systems.runner.stories import Run

_CLUSTER = "cHJvdG9jb2wtbGFiLXJlYQ"  # any 16 bytes in base64 do
_TRIES, _TRY = 12, 1500  # of an election, and the milliseconds of each
_TOPIC_RECORD = bytes([1, 2])  # how a TopicRecord begins: the frame's version, then its type


@dataclass(frozen=True)
class Quorum:
    """The controllers' quorum, as its leader describes it.

    leader: 0 if there is none. ends: the end of each node's copy of the metadata log, as far as the
    leader knows. disks: the directory ids under which they are voters, where voters can change.
    """

    leader: int
    epoch: int
    voters: tuple[int, ...]
    ends: dict[int, int]
    disks: dict[int, str] = field(default_factory=dict)

    @property
    def all_fetch(self) -> bool:
        """Has each voter fetched from this leader?"""
        return all(self.ends.get(each, 0) > 0 for each in self.voters)

    def has_caught_up(self, node: int) -> bool:
        """Does a node have as much of the metadata log as any voter?"""
        return self.ends.get(node, 0) >= max(self.ends[each] for each in self.voters)

    def __str__(self) -> str:
        voters = " ".join(map(str, self.voters))
        return f"leader {self.leader}, epoch {self.epoch}, voters {voters}"


class KRaftCluster(Cluster):
    """Controllers and brokers, each in a process of its own.

    can_change_voters: a voter is a number and a disk, and voters can be added and removed (KIP-853,
    3.9 and later); otherwise every node's file lists their numbers. joining: a controller that is
    no voter at first, where they can change. elr: eligible leader replicas on or off; None for the
    release's own default.
    features_of: the release whose features the cluster is formatted with, as before an upgrade.
    Raises LabError.
    """

    def __init__(
        self,
        run: Run,
        brokers: Iterable[int] = (1, 2, 3),
        controllers: Iterable[int] = (100,),
        can_change_voters: bool = False,
        joining: int | None = None,
        settings: dict[Any, Any] | None = None,
        elr: bool | None = None,
        features_of: str = "",
    ):
        if not has_kraft(run.release):
            raise LabError(
                f"This story's cluster runs under KRaft, and the kit runs Kafka {run.release} under"
                " ZooKeeper: take 3.3.0 or later, or give the story a zookeeper_stage()."
            )
        super().__init__(run, brokers, settings)
        self.controllers, self.joining = tuple(controllers), joining
        self._can_change_voters = can_change_voters
        self._disks: dict[int, str] = {}
        self._joining = set() if joining is None else {joining}
        if can_change_voters:
            made = self.clients.jvm.org.apache.kafka.common.Uuid
            self._disks = {each: made.randomUuid().toString() for each in self.controllers}
        if joining is not None:
            self.controllers += (joining,)
        self.read_decisions_of(self.controllers[0])
        for node in (*self.controllers, *self.brokers):
            self.configure(node, self._properties(node))
        self._format_options = _format_options(run.release, elr, features_of)
        self._format(*self.controllers, *self.brokers)

    def _properties(self, node: int) -> dict[str, Any]:
        is_controller = node in self.controllers
        listener = "CONTROLLER" if is_controller else "PLAINTEXT"
        voters = ",".join(f"{each}@{self.address(each)}" for each in self.controllers)
        addresses = self.address(*self.controllers)
        own = {
            "node.id": node,
            "process.roles": "controller" if is_controller else "broker",
            **(
                {"controller.quorum.bootstrap.servers": addresses}
                if self._can_change_voters
                else {"controller.quorum.voters": voters}
            ),
            "listeners": f"{listener}://{self.address(node)}",
        }
        return own if is_controller else own | {"advertised.listeners": own["listeners"]}

    def replace_disk(self, node: int, as_before: bool = True) -> None:
        """A node that does not run gets an empty disk, formatted as its first one was.

        as_before: if False, a controller's disk is formatted without the first voters, as that of a
        controller that is new.
        """
        shutil.rmtree(self.data(node))
        if not as_before:
            self._joining.add(node)
        self._format(node)

    def _format(self, *nodes: int) -> None:
        names = {}
        for node in nodes:
            words = ["format", "-t", _CLUSTER, "-c", self._configuration(node)]
            words += [*self._format_options, *self._voters(node)]
            names[node] = f"format{node}"
            command = java_command(
                self.jars, "kafka.tools.StorageTool", *words, options=self.logging(names[node])
            )
            self.processes.start(names[node], command, self.logs(node) / "format.txt")
        for node, name in names.items():
            ended = partial(self.processes.has_ended, name)
            wait_until(ended, f"the disk of node {node} is formatted", UP)
            if self.processes.exit_code(name):
                file = self.logs(node) / "format.txt"
                said = file.read_text(encoding="utf-8", errors="replace").strip()
                raise LabError(f"Kafka {self.release} refuses its configuration: {said[-300:]}")

    def _voters(self, node: int) -> list[str]:
        """The options that tell a controller who the first voters are, if they can change."""
        if not self._can_change_voters or node not in self.controllers:
            return []
        if node in self._joining:
            return ["--no-initial-controllers"]
        each = (f"{name}@{self.address(name)}:{disk}" for name, disk in self._disks.items())
        return ["--initial-controllers", ",".join(each)]

    def bring_up(self) -> None:
        for node in (*self.controllers, *self.brokers):
            self.start(node)
        wait_until(lambda: {*self.brokers} <= self.unfenced(), "all brokers have registered", UP)

    def read_decisions_of(self, controller: int) -> None:
        """From now on what was decided is read from this controller's disk."""
        self._decider = controller
        self._places: dict[Path, int] = {}  # where its segments were read last
        self._topic = ""
        self._partition: Moment | None = None
        self._unfenced: set[int] = set()

    def state(self) -> PartitionState | None:
        self._read_decisions()
        now = self._partition
        if now is None:
            return None
        leader = now.leader if now.leader >= 0 else None
        return PartitionState(leader, now.epoch, now.isr, now.elr, now.last_known, now.recovering)

    def unfenced(self) -> set[int]:
        """The brokers that may lead."""
        self._read_decisions()
        return self._unfenced

    def _read_decisions(self) -> None:
        for segment in self.metadata_log(self._decider):
            for batch, record in stored_records(segment, self._places.get(segment, 0)):
                self._places[segment] = batch.end
                with suppress(*BROKEN):  # of a type that the kit does not know
                    found = decoded(record.value)
                    self._take_in(MetadataRecord(record.offset, None, *found))

    def _take_in(self, record: MetadataRecord) -> None:
        topic = record.data.get("topicId")
        if record.type == "TOPIC_RECORD" and record.data["name"] == TOPIC:
            self._topic = topic
        elif record.type in OF_A_PARTITION and topic == self._topic:
            self._partition = decided(self._partition or NOT_YET, record, 0, "")
        for broker, text in registrations(record):
            if text == UNFENCED:
                self._unfenced.add(broker)
            elif text in (FENCED, REGISTERS):
                self._unfenced.discard(broker)

    def topics_in_log(self, controller: int) -> list[tuple[str, int | None]]:
        """The topics whose creation is in a controller's metadata log, each with its epoch there.

        The log is read as it lies on the disk: what it ends with may not be committed.
        """
        return [
            (decoded(record.value)[1]["name"], batch.epoch)
            for segment in self.metadata_log(controller)
            for batch, record in stored_records(segment)
            if record.value.startswith(_TOPIC_RECORD)
        ]

    def metadata_log(self, node: int) -> list[Path]:
        """The segments of the metadata log on a node's disk, oldest first."""
        return sorted(self.data(node).glob("__cluster_metadata-0/*.log"))

    def topics(self) -> tuple[list[str]] | None:
        """The topics that brokers know; None if none answers yet."""
        with self.admin(patience=_TRY) as admin:
            try:
                return (sorted(admin.listTopics().names().get()),)
            except Exception:  # py4j's own for anything that Java throws
                return None

    def create_topic(self, replicas: list[int], settings: dict[str, str]) -> None:
        new = self.clients.jvm.org.apache.kafka.clients.admin.NewTopic(TOPIC, {0: replicas})
        with self.admin() as admin:
            admin.createTopics([new.configs(settings)]).all().get()

    def reorder(self, replicas: list[int]) -> None:
        jvm = self.clients.jvm
        wanted = jvm.org.apache.kafka.clients.admin.NewPartitionReassignment(replicas)
        moved = {self.partition(): jvm.java.util.Optional.of(wanted)}
        with self.admin(controllers=True) as admin:
            admin.alterPartitionReassignments(moved).all().get()

    def elect_preferred(self, through: int) -> None:
        self.elect("PREFERRED", through)

    def elect(self, kind: str, through: int) -> None:
        """Ask for a PREFERRED or UNCLEAN election, through this broker. Raises DidNotHappen.

        The client may turn to a broker that is paused; so each try has a new one.
        """
        wanted = getattr(self.clients.jvm.org.apache.kafka.common.ElectionType, kind)
        failure = ("", "")
        for _ in range(_TRIES):
            with self.admin(through, patience=_TRY) as admin:
                try:
                    admin.electLeaders(wanted, {self.partition()}).all().get()
                    return
                except Exception as error:  # py4j's own for anything that Java throws
                    failure = cause_of(error)
            if failure[0] == "ElectionNotNeededException":
                return
        raise DidNotHappen(f"The {kind.lower()} election was refused: {': '.join(failure)}")

    def partition(self) -> Any:
        """The partition, as clients name it."""
        return self.clients.jvm.org.apache.kafka.common.TopicPartition(TOPIC, 0)

    @contextmanager
    def admin(
        self, *brokers: int, patience: int = 20_000, controllers: bool = False
    ) -> Iterator[Any]:
        """An administrator's client, which is closed without waiting for what it still asks.

        It knows these brokers, by default all, or the controllers. patience: in milliseconds.
        """
        nodes = self.controllers if controllers else brokers or self.brokers
        kind = "controllers" if controllers else "servers"
        where = {f"bootstrap.{kind}": self.address(*nodes)}
        times = {"default.api.timeout.ms": patience, "request.timeout.ms": min(patience, 5000)}
        jvm = self.clients.jvm
        made = jvm.org.apache.kafka.clients.admin.Admin.create(
            self.clients.properties(where | times)
        )
        try:
            yield made
        finally:
            made.close(jvm.java.time.Duration.ofMillis(1))

    def quorum(self, patience: int = 20_000) -> Quorum | None:
        """The quorum as its leader describes it; None if nobody answers, as during an election.

        patience: in milliseconds.
        """
        with self.admin(patience=patience, controllers=True) as admin:
            try:
                info = admin.describeMetadataQuorum().quorumInfo().get()
            except Exception:  # py4j's own for anything that Java throws
                return None
            if info.leaderId() < 0:
                return None
            voters = [(each.replicaId(), each.logEndOffset()) for each in info.voters()]
            others = [(each.replicaId(), each.logEndOffset()) for each in info.observers()]
            ends = dict(voters + others)
            numbers = tuple(sorted(number for number, _ in voters))
            disks = {}
            if self._can_change_voters:
                disks = {each.replicaId(): str(each.replicaDirectoryId()) for each in info.voters()}
            return Quorum(info.leaderId(), info.leaderEpoch(), numbers, ends, disks)

    def is_voter(self, node: int, quorum: Quorum) -> bool:
        """Is a node, with the disk that it has, one of the voters?"""
        if not self._can_change_voters:
            return node in quorum.voters
        return quorum.disks.get(node) == self._disk_of(node)

    def add_voter(self, controller: int) -> str:
        """Add a controller to the voters; "ok", or the class of the error."""
        jvm = self.clients.jvm
        where = jvm.org.apache.kafka.clients.admin.RaftVoterEndpoint(
            "CONTROLLER", "127.0.0.1", self.port(controller)
        )
        disk = jvm.org.apache.kafka.common.Uuid.fromString(self._disk_of(controller))
        return self._change_voters("addRaftVoter", controller, disk, jvm.java.util.HashSet([where]))

    def remove_voter(self, controller: int) -> str:
        """Remove a controller from the voters; "ok", or the class of the error.

        It is removed under the directory id that it votes under, which may not be that of its disk.
        """
        quorum = wait_until(self.quorum, "the quorum has a leader", UP)
        disk = self.clients.jvm.org.apache.kafka.common.Uuid.fromString(quorum.disks[controller])
        return self._change_voters("removeRaftVoter", controller, disk)

    def _change_voters(self, method: str, controller: int, *more: Any) -> str:
        with self.admin(controllers=True) as admin:
            try:
                getattr(admin, method)(controller, *more).all().get()
            except Exception as error:  # py4j's own for anything that Java throws
                return cause_of(error)[0]
        return "ok"

    def _disk_of(self, controller: int) -> str:
        """The id of a node's disk, as its file of properties has it."""
        text = (self.data(controller) / "meta.properties").read_text(encoding="utf-8")
        return re.findall(r"directory\.id=(\S+)", text)[0]

    def topic_setting(self, name: str) -> tuple[str, str]:
        """A setting of the topic and where it comes from, as brokers say it."""
        config = self.clients.jvm.org.apache.kafka.common.config.ConfigResource
        topic = config(config.Type.TOPIC, TOPIC)
        with self.admin() as admin:
            entry = admin.describeConfigs([topic]).all().get().get(topic).get(name)
            return entry.value(), entry.source().toString()

    def set_for_broker(self, broker: int, name: str, value: str) -> str:
        """Set a broker's own value; returns why it is refused, or ""."""
        jvm = self.clients.jvm
        config, admins = jvm.org.apache.kafka.common.config, jvm.org.apache.kafka.clients.admin
        kind = getattr(admins, "AlterConfigOp$OpType").SET
        wish = admins.AlterConfigOp(admins.ConfigEntry(name, value), kind)
        node = config.ConfigResource(config.ConfigResource.Type.BROKER, str(broker))
        with self.admin() as admin:
            try:
                admin.incrementalAlterConfigs({node: [wish]}).all().get()
            except Exception as error:  # py4j's own for anything that Java throws
                return ": ".join(cause_of(error))
        return ""


def _format_options(release: str, elr: bool | None, features_of: str) -> list[str]:
    options = ["--release-version", features_of] if features_of else []
    if elr is not None and has_elr(release):
        options += ["--feature", f"eligible.leader.replicas.version={int(elr)}"]
    return options
