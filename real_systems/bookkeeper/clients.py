"""Clients of BookKeeper, each in a Java process of its own, so that one can be paused or killed."""

import re
from dataclasses import dataclass
from typing import Any

from real_systems.bookkeeper.cluster import BookKeeperCluster
from real_systems.runner.java_gateway import JavaGateway, cause_of

_PASSWORD = b"pw"


@dataclass(frozen=True)
class Ledger:
    """A ledger, and the ensemble that it was created with."""

    id: int
    ensemble: tuple[str, ...]


class Client:
    """A writer or a recovering reader. name: one capital letter, as the stories call it."""

    def __init__(self, cluster: BookKeeperCluster, name: str):
        self.name, self._zookeeper = name, cluster.zookeeper
        self._gateway = JavaGateway(cluster.processes, cluster.jars, name, cluster.options)
        self._jvm = self._gateway.jvm
        api = self._jvm.org.apache.bookkeeper
        configuration = api.conf.ClientConfiguration()
        configuration.setMetadataServiceUri(cluster.metadata)
        configuration.setZkTimeout(12_000)
        self._digest = api.client.api.DigestType.CRC32C
        self._client = api.client.BookKeeper(configuration)
        self._handles: dict[int, Any] = {}

    def create(self, ensemble: int, write_quorum: int, ack_quorum: int) -> Ledger:
        """Create a ledger with these sizes."""
        handle = (
            self._client.newCreateLedgerOp()
            .withEnsembleSize(ensemble)
            .withWriteQuorumSize(write_quorum)
            .withAckQuorumSize(ack_quorum)
            .withPassword(_PASSWORD)
            .withDigestType(self._digest)
            .execute()
            .get()
        )
        shown = handle.getLedgerMetadata().getAllEnsembles().toString()
        ledger = Ledger(handle.getId(), tuple(re.findall(r"\bb\d+", shown)))
        self._handles[ledger.id] = handle
        return ledger

    def add(self, ledger: Ledger, value: str) -> Any:
        """Add an entry; returns the future of its number."""
        content = self._jvm.io.netty.buffer.Unpooled.wrappedBuffer(value.encode())
        return self._handles[ledger.id].appendAsync(content)

    def recover(self, ledger: Ledger) -> Any:
        """Open a ledger with recovery, which fences it; returns the future of a handle."""
        return self._opening(ledger, recovery=True)

    def look_at(self, ledger: Ledger) -> Any:
        """Open a ledger without recovery, to read it; returns the future of a handle."""
        return self._opening(ledger, recovery=False)

    def opened(self, ledger: Ledger, handle: Any) -> None:
        """Use this handle of the ledger from now on."""
        self._handles[ledger.id] = handle

    def close(self, ledger: Ledger) -> Any:
        """Close a ledger; returns a future."""
        return self._handles[ledger.id].closeAsync()

    def delete(self, ledger: Ledger) -> None:
        """Delete a ledger."""
        self._client.deleteLedger(ledger.id)

    def read(self, ledger: Ledger) -> list[str]:
        """The values of all entries that can be read, from the first on."""
        handle = self._handles[ledger.id]
        values = []
        for number in range(handle.getLastAddConfirmed() + 1):
            try:
                entry = handle.readEntries(number, number).nextElement()
            except Exception as error:  # py4j's own for anything that Java throws
                if not cause_of(error)[0].startswith("BK"):
                    raise
            else:
                values.append(bytes(entry.getEntry()).decode())
        return values

    def metadata(self, ledger: Ledger) -> tuple[str, int]:
        """A ledger's state and its last entry, -1 where there is none, as the metadata say.

        The state is "deleted" where there are no metadata.
        """
        try:
            found = self._client.getLedgerManager().readLedgerMetadata(ledger.id).get().getValue()
        except Exception as error:  # py4j's own for anything that Java throws
            return ("deleted", -1) if "NoSuchLedger" in cause_of(error)[0] else ("unknown", -1)
        return found.getState().toString(), found.getLastEntryId()

    def reroute(self, bookie: str, port: int, to: int) -> None:
        """Change the port under which a bookie is registered, for clients that start later."""
        zookeeper = self._jvm.org.apache.zookeeper.ZooKeeper(self._zookeeper, 12_000, None)
        path = f"/ledgers/available/{bookie}"
        registered = bytes(zookeeper.getData(path, False, None))
        zookeeper.setData(path, registered.replace(_varint(port), _varint(to), 1), -1)
        zookeeper.close()

    def end(self) -> None:
        """Close the connection to the process; it ends with the run."""
        self._gateway.close()

    def _opening(self, ledger: Ledger, recovery: bool) -> Any:
        return (
            self._client.newOpenLedgerOp()
            .withLedgerId(ledger.id)
            .withPassword(_PASSWORD)
            .withDigestType(self._digest)
            .withRecovery(recovery)
            .execute()
        )

    def length(self, ledger: Ledger) -> int:
        """How many bytes a closed ledger has, as its metadata say."""
        return (
            self._client.getLedgerManager()
            .readLedgerMetadata(ledger.id)
            .get()
            .getValue()
            .getLength()
        )


def _varint(port: int) -> bytes:
    """A port as Protocol Buffers write it; one from 16,384 on has three bytes."""
    return bytes([port & 0x7F | 0x80, port >> 7 & 0x7F | 0x80, port >> 14])
