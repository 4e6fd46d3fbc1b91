"""A cluster of 0.10.2 to 2.1 under ZooKeeper. What its controller decides is read there.

Administrators' commands are what Kafka's own tools of those releases do: nodes that they write to
ZooKeeper, and that the controller removes when it has done its work. Source: kafka.admin.* of
2.0.0.
"""

import json
from collections.abc import Iterable
from typing import Any

from protocol_lab.errors import LabError
from real_systems.kafka.cluster import TOPIC, UP, Cluster, PartitionState
from real_systems.runner.jars import java_command
from real_systems.runner.processes import wait_until, write_properties
from real_systems.runner.relay import Relay
from real_systems.runner.stories import Run

ZOOKEEPER = 0
"""The number under which ZooKeeper's process and port are known."""

_SESSION = 60_000  # milliseconds


_LEADER_AND_ISR = 4
_FROM_CONTROLLER = (_LEADER_AND_ISR, 5, 6)
"""The numbers of requests that only a controller sends: LeaderAndIsr, StopReplica and
UpdateMetadata. A request begins with its number, two bytes."""


def is_from_controller(request: bytes) -> bool:
    """Is this a request of the controller?"""
    return int.from_bytes(request[:2]) in _FROM_CONTROLLER


def names_a_leader(request: bytes) -> bool:
    """Is this a request that says who leads?"""
    return int.from_bytes(request[:2]) == _LEADER_AND_ISR


class ZooKeeperCluster(Cluster):
    """One ZooKeeper and brokers, each in a process of its own.

    controller: the broker that starts first, so that it becomes the controller. held: the brokers
    to which its messages can be held back (`relays`). Raises LabError.
    """

    def __init__(
        self,
        run: Run,
        brokers: Iterable[int] = (1, 2, 3),
        controller: int = 3,
        settings: dict[Any, Any] | None = None,
        held: Iterable[int] = (),
    ):
        super().__init__(run, brokers, settings)
        if not any("zkclient" in jar.name for jar in self.jars):
            raise LabError(
                f"Kafka {run.release} brings no zkclient, through which a zookeeper_stage() asks"
                " ZooKeeper: take 2.1.1 or an earlier release, or give the story a kraft_stage()."
            )
        self._controller = controller
        self.relays = {each: Relay(self.port(each), is_from_controller) for each in held}
        self._client: Any = None
        for broker in self.brokers:
            self.configure(broker, self._properties(broker))
        values = {
            "dataDir": self.data(ZOOKEEPER),
            "clientPort": self.port(ZOOKEEPER),
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
        }
        write_properties(self._configuration(ZOOKEEPER), values)

    def _properties(self, broker: int) -> dict[str, Any]:
        port = self.relays[broker].port if broker in self.relays else self.port(broker)
        return {
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "broker.id": broker,
            "listeners": f"PLAINTEXT://{self.address(broker)}",
            "zookeeper.connect": self.address(ZOOKEEPER),
        }

    def bring_up(self) -> None:
        name, logs = "zookeeper", self.logs(ZOOKEEPER)
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        command = java_command(
            self.jars, main, self._configuration(ZOOKEEPER), options=self.logging(logs.name)
        )
        self.processes.start(name, command, logs / "stdout.txt")
        i0itec = self.clients.jvm.org.I0Itec.zkclient
        # The client waits, inside, until ZooKeeper answers.
        self._client = i0itec.ZkClient(
            self.address(ZOOKEEPER),
            _SESSION,
            UP * 1000,
            i0itec.serialize.BytesPushThroughSerializer(),
        )
        others = [each for each in self.brokers if each != self._controller]
        for broker in (self._controller, *others):
            self.start(broker)
            wait_until(
                lambda broker=broker: self._client.exists(f"/brokers/ids/{broker}"),
                f"broker {broker} has registered",
                UP,
            )

    def state(self) -> PartitionState | None:
        found = self._read(f"/brokers/topics/{TOPIC}/partitions/0/state")
        if found is None:
            return None
        leader = found["leader"] if found["leader"] >= 0 else None
        return PartitionState(leader, found["leader_epoch"], tuple(sorted(found["isr"])))

    def create_topic(self, replicas: list[int], settings: dict[str, str]) -> None:
        self._write(f"/config/topics/{TOPIC}", {"version": 1, "config": settings})
        self._write(f"/brokers/topics/{TOPIC}", {"version": 1, "partitions": {"0": replicas}})

    def reorder(self, replicas: list[int]) -> None:
        moved = {"topic": TOPIC, "partition": 0, "replicas": replicas}
        self._ask("/admin/reassign_partitions", {"version": 1, "partitions": [moved]})

    def elect_preferred(self, through: int) -> None:
        wanted = {"topic": TOPIC, "partition": 0}
        self._ask("/admin/preferred_replica_election", {"version": 1, "partitions": [wanted]})

    def _ask(self, path: str, wish: dict[str, Any]) -> None:
        """Write a wish, and wait until the controller has removed it: then it is fulfilled."""
        self._write(path, wish)
        wait_until(lambda: not self._client.exists(path), f"the controller has done {path}", UP)

    def _write(self, path: str, content: dict[str, Any]) -> None:
        self._client.createPersistent(path, json.dumps(content).encode())

    def _read(self, path: str) -> dict[str, Any] | None:
        """What a node holds; None if there is none."""
        content = self._client.readData(path, True) if self._client else None
        return None if content is None else json.loads(bytes(content))
