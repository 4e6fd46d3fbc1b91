"""A Pulsar cluster as local processes on the loopback interface: a broker over BookKeeper."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError, quoted
from real_systems.bookkeeper.cluster import BookKeeperCluster
from real_systems.runner.jars import Artifact, fetched_jars, java_command, unpacked_jars
from real_systems.runner.processes import free_port, lines_in, wait_until, write_properties
from real_systems.runner.stories import Run

TOPIC = "persistent://public/default/t"
"""The topic of all stories; it is not partitioned."""

_BROKER = "broker"
_HEAP = 384  # megabytes
_MEGABYTES = 240
_ANSWER = 10  # seconds that the broker has for an administrator's question

_NEEDED = {
    "4.2.4": (
        Artifact("org.apache.bookkeeper", "circe-checksum", "4.17.3"),
        Artifact("org.apache.bookkeeper", "native-io", "4.17.3"),
        Artifact("org.apache.logging.log4j", "log4j-slf4j2-impl", "2.25.4"),
        # Ivy takes an older one, with which the broker does not start.
        Artifact("com.fasterxml.jackson.core", "jackson-databind", "2.18.9", instead=True),
    )
}
"""What a release needs beside what its broker asks for."""

_OPENS = [
    f"--add-opens={package}=ALL-UNNAMED"
    for package in (
        "java.base/java.lang",
        "java.base/sun.net",
        "java.management/sun.management",
        "jdk.management/com.sun.management.internal",
    )
]
"""What a broker reaches into, as Pulsar's own scripts open it."""


def jars_of(release: str, say: Callable[[str], None]) -> list[Path]:
    """The jars of a release: those of PULSAR_HOME if that is it, else fetched once.

    say: is called with a sentence if they must be fetched. Raises LabError.
    """
    if unpacked := unpacked_jars("PULSAR_HOME", "lib", f"pulsar-broker-{release}.jar"):
        return unpacked
    if release not in _NEEDED:
        known = ", ".join(_NEEDED)
        raise LabError(f"{quoted(release)} is no release of Pulsar that the kit has: {known}.")
    wanted = [Artifact("org.apache.pulsar", "pulsar-broker", release), *_NEEDED[release]]
    return fetched_jars(f"pulsar-{release}", wanted, say, _MEGABYTES)


class PulsarCluster:
    """ZooKeeper, a bookie and a broker, each in a process of its own.

    settings: of the broker. url: where clients reach it. Raises LabError and DidNotHappen.
    """

    def __init__(self, run: Run, settings: dict[str, Any]):
        self.processes, self.release = run.processes, run.release
        self.jars = jars_of(run.release, run.say)
        self.storage = BookKeeperCluster(run, bookies=1, jars=self.jars)
        self.options = [*_OPENS, *self.storage.options]
        self._port, self._web_port = free_port(), free_port()
        self.url, self._web = (
            f"pulsar://127.0.0.1:{self._port}",
            f"http://127.0.0.1:{self._web_port}",
        )
        self._metadata = f"zk:{self.storage.zookeeper}"
        self._configuration = self._log("broker").with_suffix(".conf")
        write_properties(self._configuration, self._values() | settings)

    def bring_up(self) -> None:
        """Start all processes, and wait until the broker is ready. Raises DidNotHappen."""
        self.storage.start(*self.storage.bookies)
        if not all(map(self.storage.is_up, self.storage.bookies)):
            raise LabError("The bookie has ended at once: run it again with --keep.")
        self._start(
            "setup",
            "org.apache.pulsar.PulsarClusterMetadataSetup",
            *("--cluster", "c"),
            *("--metadata-store", self._metadata),
            *("--configuration-metadata-store", self._metadata),
            *("--existing-bk-metadata-service-uri", self.storage.metadata),
            *("--web-service-url", self._web),
            *("--broker-service-url", self.url),
        )
        wait_until(lambda: self.processes.has_ended("setup"), "the setup ends")
        if self.processes.exit_code("setup"):
            raise LabError(f"Pulsar {self.release} refuses its setup: run it again with --keep.")
        self.start_broker()

    def start_broker(self) -> None:
        """Start the broker, and wait until it is ready."""
        main = "org.apache.pulsar.PulsarBrokerStarter"
        self._start(_BROKER, main, "-c", self._configuration, heap=_HEAP)
        wait_until(
            lambda: self.processes.has_ended(_BROKER) or self._is_ready(),
            "the broker is ready",
        )
        if self.processes.has_ended(_BROKER):
            said = self.said(_BROKER, "ERROR|Exception")
            raise LabError(f"The broker has ended at once: {said[-1] if said else 'no reason'}")

    def restart_broker(self) -> None:
        """Stop the broker cleanly, and start it again."""
        self.processes.stop(_BROKER)
        self.start_broker()

    def start_compactor(self, name: str) -> None:
        """Start Pulsar's compactor as a process of its own, under this name."""
        main = "org.apache.pulsar.compaction.CompactorTool"
        self._start(name, main, "--broker-conf", self._configuration, "--topic", TOPIC)

    def said(self, name: str, pattern: str) -> list[str]:
        """The lines of a process's log that match this regular expression."""
        return lines_in(self._log(name), pattern)

    def ask(self, path: str, method: str = "GET") -> Any:
        """What the topic answers an administrator; a text "HTTP 500" if that fails."""
        return self._rest(f"{TOPIC.replace('://', '/')}/{path}", method)

    def _is_ready(self) -> bool:
        try:
            return self._rest("brokers/ready") == "ok"
        except OSError:
            return False

    def _rest(self, path: str, method: str = "GET") -> Any:
        asked = urllib.request.Request(f"{self._web}/admin/v2/{path}", method=method)
        asked.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(asked, timeout=_ANSWER) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            return f"HTTP {error.code}"
        return json.loads(text) if text.startswith(("{", "[")) else text

    def _start(self, name: str, main: str, *words: Any, heap: int = 256) -> None:
        command = java_command(self.jars, main, *words, heap=heap, options=self.options)
        self.processes.start(name, command, self._log(name))

    def _log(self, name: str) -> Path:
        return self.processes.folder / f"{name}.log"

    def _values(self) -> dict[str, Any]:
        return {
            "metadataStoreUrl": self._metadata,
            "configurationMetadataStoreUrl": self._metadata,
            "clusterName": "c",
            "brokerServicePort": self._port,
            "webServicePort": self._web_port,
            "bindAddress": "127.0.0.1",
            "advertisedAddress": "127.0.0.1",
            "managedLedgerDefaultEnsembleSize": 1,
            "managedLedgerDefaultWriteQuorum": 1,
            "managedLedgerDefaultAckQuorum": 1,
            "managedLedgerMinLedgerRolloverTimeMinutes": 0,
            "managedLedgerCacheSizeMB": 16,
            "managedLedgerNumSchedulerThreads": 2,
            "bookkeeperClientTimeoutInSeconds": 5,
            "bookkeeperNumberOfChannelsPerBookie": 1,
            "metadataStoreSessionTimeoutMillis": 30_000,
            "brokerDeleteInactiveTopicsEnabled": "false",
            "brokerServiceCompactionMonitorIntervalInSeconds": 86_400,
            "loadBalancerEnabled": "false",
            "functionsWorkerEnabled": "false",
            "systemTopicEnabled": "false",
            "topicLevelPoliciesEnabled": "false",
            "transactionCoordinatorEnabled": "false",
            "webSocketServiceEnabled": "false",
            "enablePackagesManagement": "false",
            "defaultNumberOfNamespaceBundles": 1,
            "numIOThreads": 2,
            "numHttpServerThreads": 8,
            "numOrderedExecutorThreads": 2,
            "numExecutorThreadPoolSize": 2,
            "numCacheExecutorThreadPoolSize": 1,
        }
