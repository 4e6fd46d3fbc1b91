"""A BookKeeper cluster as local processes on the loopback interface: ZooKeeper and bookies."""

import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocol_lab.errors import LabError
from real_systems.runner.jars import Artifact, fetched_jars, java_command, unpacked_jars
from real_systems.runner.processes import (
    DidNotHappen,
    free_port,
    lines_in,
    wait_until,
    write_properties,
)
from real_systems.runner.stories import Run

_ENTRIES = 10
"""A story's ledger has fewer entries than this."""

_OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.io", "java.util.zip", "jdk.internal.platform", "sun.nio.ch", "java.nio")
]
"""What BookKeeper and Netty reach into, as BookKeeper's own scripts open it."""

_LOG4J2 = """\
appender.console.type=Console
appender.console.name=C
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{HH:mm:ss.SSS} %-5p %c{1} - %m %X%n%ex{5}
rootLogger.level=INFO
rootLogger.appenderRef.console.ref=C
"""

_UP = r"Started component .*bookie-server"
"""What a bookie logs, as a regular expression, when it has registered; its port is open before."""


def jars_of(release: str, say: Callable[[str], None]) -> list[Path]:
    """The jars of a release: those of BOOKKEEPER_HOME if that is it, else fetched once.

    say: is called with a sentence if they must be fetched. Raises LabError.
    """
    jar = f"bookkeeper-server-{release}.jar"
    if unpacked := unpacked_jars("BOOKKEEPER_HOME", "lib", jar):
        return unpacked
    if not re.fullmatch(r"\d+\.\d+\.\d+", release):
        raise LabError(f"{release!r} is no release of BookKeeper: write one such as 4.18.0.")
    modules = ["bookkeeper-server", "circe-checksum"]
    if tuple(map(int, release.split("."))) >= (4, 16):
        modules.append("native-io")
    return fetched_jars(
        f"bookkeeper-{release}",
        [
            *(Artifact("org.apache.bookkeeper", name, release) for name in modules),
            # What ZooKeeper's server needs, and BookKeeper leaves out.
            Artifact("io.dropwizard.metrics", "metrics-core", "4.1.12.1"),
            Artifact("org.xerial.snappy", "snappy-java", "1.1.10.5"),
            # Ivy misses it where 4.17 names only what calls it; 4.18.0 takes its own, newer one.
            Artifact("org.apache.logging.log4j", "log4j-api", "2.18.0"),
        ],
        say,
    )


class BookKeeperCluster:
    """Bookies named b1, b2, ... and one ZooKeeper, each in a process of its own.

    settings: of all bookies. jars: those of another release that has BookKeeper's among its own,
    such as Pulsar's. zookeeper: where it listens; metadata: where clients find a ledger's; options:
    Java's, for whatever belongs to BookKeeper. Raises LabError and DidNotHappen.
    """

    def __init__(
        self,
        run: Run,
        bookies: int = 3,
        settings: dict[str, Any] | None = None,
        jars: list[Path] | None = None,
    ):
        self.processes, self.folder, self.release = run.processes, run.processes.folder, run.release
        self.jars = jars or jars_of(run.release, run.say)
        self.bookies = [f"b{number}" for number in range(1, bookies + 1)]
        self._settings = settings or {}
        self._registered_before: dict[str, int] = {}
        self.ports = {bookie: free_port() for bookie in self.bookies}
        logging = self.folder / "log4j2.properties"
        logging.write_text(_LOG4J2, encoding="utf-8")
        self.options = [
            *_OPENS,
            "-XX:MaxDirectMemorySize=256m",
            f"-Dlog4j2.configurationFile={logging}",
        ]
        self._zookeeper = free_port()
        self.zookeeper = f"127.0.0.1:{self._zookeeper}"
        self.metadata = f"zk+hierarchical://{self.zookeeper}/ledgers"
        self._start_zookeeper()
        for bookie in self.bookies:
            self._configure(bookie)
        self.shell(self.bookies[0], "initnewcluster")

    def start(self, *bookies: str) -> None:
        """Start bookies, and wait until each has registered or ended."""
        for bookie in bookies:
            self._registered_before[bookie] = self._registrations(bookie)
            command = java_command(
                self.jars,
                "org.apache.bookkeeper.server.Main",
                "-c",
                self._configuration(bookie),
                options=self.options,
            )
            self.processes.start(bookie, command, self._log(bookie))
        for bookie in bookies:
            wait_until(
                lambda bookie=bookie: self.is_up(bookie) or self.processes.has_ended(bookie),
                f"bookie {bookie} has registered",
            )

    def is_up(self, bookie: str) -> bool:
        """Has it registered since it was started last?"""
        return self._registrations(bookie) > self._registered_before[bookie]

    def _registrations(self, bookie: str) -> int:
        return len(lines_in(self._log(bookie), _UP))

    def empty_disk(self, bookie: str) -> None:
        """Empty a bookie's directories, cookies included."""
        shutil.rmtree(self.disk(bookie))
        self._make_directories(bookie)

    def remove_journal(self, bookie: str) -> None:
        """Remove the files of a bookie's journal."""
        for file in self.disk(bookie).glob("journal/current/*.txn"):
            file.unlink()

    def forget_cookie(self, bookie: str) -> None:
        """Delete a bookie's cookie from the metadata, as operators do for an emptied disk."""
        self.shell(bookie, "bookieformat", "-nonInteractive", "-force", "-deleteCookie")

    def entries_of(self, bookie: str, ledger: int) -> list[int]:
        """The entries of a ledger that one bookie has, asked by BookKeeper's shell.

        Raises DidNotHappen if the bookie does not answer.
        """
        words = ["-ledgerid", ledger, "-bookie", bookie]
        words += ["-firstentryid", 0, "-lastentryid", _ENTRIES]  # up to the one before it
        said = self.shell(bookie, "readledger", *words)
        # "{entryId=0" is how 4.18 says it, "Eid=0" and "entry 0" how 4.17 does.
        found = {int(each) for each in re.findall(r"(?: Entry \{entryId=|, Eid=)(\d+)", said)}
        lacking = set(re.findall(r"Failed to read entry (?:\{entryId=)?(\d+)", said))
        if len(found) + len(lacking) < _ENTRIES:
            raise DidNotHappen(f"Bookie {bookie} did not say which entries it has: run it again.")
        return sorted(found)

    def shell(self, bookie: str, *words: Any) -> str:
        """Run BookKeeper's shell with a bookie's configuration; returns what it says."""
        logs = self.folder / "shell"
        name = f"shell-{len(list(logs.glob('*')))}"
        log = logs / f"{name}.log"
        main = "org.apache.bookkeeper.bookie.BookieShell"
        words = ("-conf", self._configuration(bookie), *words)
        command = java_command(self.jars, main, *words, heap=128, options=self.options)
        return self.processes.run(name, command, log, f"the shell's {words[2]}")

    def disk(self, bookie: str) -> Path:
        """The folder of a bookie's journal, ledgers and index."""
        return self.folder / "data" / bookie

    def _start_zookeeper(self) -> None:
        configuration = self.folder / "zookeeper.cfg"
        values = {
            "dataDir": self.folder / "data" / "zookeeper",
            "clientPort": self._zookeeper,
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "tickTime": 500,
            "minSessionTimeout": 1000,
            "maxSessionTimeout": 60_000,
            "forceSync": "no",
            "maxClientCnxns": 100,
        }
        write_properties(configuration, values)
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        command = java_command(self.jars, main, configuration, heap=128, options=self.options)
        self.processes.start("zookeeper", command, self._log("zookeeper"))
        wait_until(lambda: _is_open(self._zookeeper), "ZooKeeper answers")

    def _configure(self, bookie: str) -> None:
        disk = self.disk(bookie)
        values = {
            "bookieId": bookie,
            "bookiePort": self.ports[bookie],
            "advertisedAddress": "127.0.0.1",
            "listeningInterface": "lo",
            "allowLoopback": "true",
            "metadataServiceUri": self.metadata,
            "zkTimeout": 12_000,
            "journalDirectories": disk / "journal",
            "ledgerDirectories": disk / "ledgers",
            "indexDirectories": disk / "index",
            "ledgerStorageClass": "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
            "dbStorage_writeCacheMaxSizeMb": 16,
            "dbStorage_readAheadCacheMaxSizeMb": 16,
            "dbStorage_rocksDB_blockCacheSize": 8_388_608,
            "journalPreAllocSizeMB": 1,
            "journalMaxSizeMB": 16,
            "logSizeLimit": 67_108_864,
            "entryLogFilePreallocationEnabled": "false",
            "minUsableSizeForIndexFileCreation": 1_000_000,
            "minUsableSizeForEntryLogCreation": 1_000_000,
            "numAddWorkerThreads": 1,
            "numReadWorkerThreads": 1,
            "serverNumIOThreads": 2,
            "autoRecoveryDaemonEnabled": "false",
            "httpServerEnabled": "false",
            "diskUsageThreshold": 0.98,
            "diskUsageWarnThreshold": 0.97,
        }
        write_properties(self._configuration(bookie), values | self._settings)
        self._make_directories(bookie)

    def _make_directories(self, bookie: str) -> None:
        for part in ("journal", "ledgers", "index"):
            self.disk(bookie).joinpath(part).mkdir(parents=True)

    def _configuration(self, bookie: str) -> Path:
        return self.folder / f"{bookie}.conf"

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"


def _is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
