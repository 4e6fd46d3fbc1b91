"""What a story can do to a BookKeeper cluster, and what it can wait for.

Bookies are b1, b2, ...; clients are A, the writer, and B, who recovers, each in a Java process of
its own, so that one can be paused or killed. There is one ledger at a
time; its entries are e0, e1, ..., named by the numbers that they should get.
"""

import re
from dataclasses import dataclass
from typing import Any

from real_systems.bookkeeper.cluster import BookKeeperCluster
from real_systems.runner import stage as runner_stage
from real_systems.runner.java_gateway import JavaGateway, cause_of
from real_systems.runner.processes import wait_until
from real_systems.runner.relay import Relay
from real_systems.runner.stage import names, who
from real_systems.runner.stories import Run

_PASSWORD = b"pw"


@dataclass(frozen=True)
class Ledger:
    """A ledger, and the ensemble that it was created with."""

    id: int
    ensemble: tuple[str, ...]


class Client:
    """A writer or a recovering reader. name: one capital letter, as the stories call it."""

    def __init__(self, cluster: BookKeeperCluster, name: str):
        self._zookeeper = cluster.zookeeper
        self.gateway = JavaGateway(cluster.processes, cluster.jars, name, cluster.options)
        self._jvm = self.gateway.jvm
        api = self._jvm.org.apache.bookkeeper
        configuration = api.conf.ClientConfiguration()
        configuration.setMetadataServiceUri(cluster.metadata)
        configuration.setZkTimeout(12_000)
        self._digest = api.client.api.DigestType.CRC32C
        self._client = api.client.BookKeeper(configuration)
        self._handle: Any = None  # of the ledger that it has created

    def create(self, ensemble: int, write_quorum: int, ack_quorum: int) -> Ledger:
        """Create a ledger with these sizes."""
        self._handle = (
            self._client.newCreateLedgerOp()
            .withEnsembleSize(ensemble)
            .withWriteQuorumSize(write_quorum)
            .withAckQuorumSize(ack_quorum)
            .withPassword(_PASSWORD)
            .withDigestType(self._digest)
            .execute()
            .get()
        )
        shown = self._handle.getLedgerMetadata().getAllEnsembles().toString()
        return Ledger(self._handle.getId(), tuple(re.findall(r"\bb\d+", shown)))

    def add(self, value: str) -> Any:
        """Add an entry to the ledger that it has created; returns the future of its number."""
        content = self._jvm.io.netty.buffer.Unpooled.wrappedBuffer(value.encode())
        return self._handle.appendAsync(content)

    def open_ledger(self, ledger: Ledger, recovery: bool) -> Any:
        """Open a ledger, with recovery, which fences it, or to read it; returns the future of a
        handle."""
        return (
            self._client.newOpenLedgerOp()
            .withLedgerId(ledger.id)
            .withPassword(_PASSWORD)
            .withDigestType(self._digest)
            .withRecovery(recovery)
            .execute()
        )

    def close(self) -> Any:
        """Close the ledger that it has created; returns a future."""
        return self._handle.closeAsync()

    def delete(self, ledger: Ledger) -> None:
        """Delete a ledger."""
        self._client.deleteLedger(ledger.id)

    def metadata(self, ledger: Ledger) -> tuple[str, int]:
        """A ledger's state and its last entry, -1 where there is none, as the metadata say.

        The state is "deleted" where there are no metadata.
        """
        try:
            found = self._metadata(ledger)
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

    def length(self, ledger: Ledger) -> int:
        """How many bytes a closed ledger has, as its metadata say."""
        return self._metadata(ledger).getLength()

    def _metadata(self, ledger: Ledger) -> Any:
        return self._client.getLedgerManager().readLedgerMetadata(ledger.id).get().getValue()


def _values(handle: Any) -> list[str]:
    """The values of all entries that can be read by a handle of a ledger, from the first on."""
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


def _varint(port: int) -> bytes:
    """A port as Protocol Buffers write it; one from 16,384 on has three bytes."""
    return bytes([port & 0x7F | 0x80, port >> 7 & 0x7F | 0x80, port >> 14])


WRITER, RECOVERER, WATCHER = "A", "B", "W"

_READ, _ADD = b"\x08\x03\x10\x01", b"\x08\x03\x10\x02"
"""A request's header in the client's protocol: version 3, and that it reads or adds an entry."""


def _is_read(message: bytes) -> bool:
    return message[2:].startswith(_READ)


def _is_add(message: bytes) -> bool:
    return message[2:].startswith(_ADD)


class Stage(runner_stage.Stage):
    """A cluster that a story acts on, bookies and clients, which may be paused and killed.

    is_relayed: can messages to a bookie be delayed and lost? A bookie that restarts is relayed no
    more.
    """

    def __init__(self, cluster: BookKeeperCluster, run: Run, is_relayed: bool = False):
        super().__init__(cluster, run)
        self._relays: dict[str, Relay] = {}
        self._clients: dict[str, Client] = {}
        self._ledger: Ledger | Any = None  # until one is created
        cluster.start(*cluster.bookies)
        watcher = self._clients[WATCHER] = Client(cluster, WATCHER)
        for bookie, port in cluster.ports.items() if is_relayed else ():
            self._relays[bookie] = Relay(port, _is_add)
            watcher.reroute(bookie, port, self._relays[bookie].port)
        for name in (WRITER, RECOVERER):
            self._clients[name] = Client(cluster, name)
        self.tell(f"BookKeeper {cluster.release} is up", names(cluster.bookies))

    def close_clients(self) -> None:
        for client in self._clients.values():
            client.gateway.close()
        for relay in self._relays.values():
            relay.close()

    @property
    def ensemble(self) -> tuple[str, ...]:
        """The bookies of the ledger, which were chosen at random."""
        return self._ledger.ensemble

    # --- Bookies and clients ---------------------------------------------------------------------

    def start(self, *bookies: str) -> None:
        """Bookies start again."""
        self.cluster.start(*bookies)
        self._away -= {*bookies}
        up = [each for each in bookies if self.cluster.is_up(each)]
        self.tell(f"{who(bookies)} started", f"up: {names(up) or 'none'}")

    def replace_disk(self, bookie: str, delete_cookie: bool, step: str = "") -> None:
        """A stopped bookie gets an empty disk, and is started under its old id.

        delete_cookie: as operators do, since a bookie without its cookie refuses to start.
        """
        self.cluster.empty_disk(bookie)
        self.tell(f"the disk of {bookie} is replaced", step=step)
        if delete_cookie:
            self.cluster.forget_cookie(bookie)
            self.tell(f"an operator deletes the cookie of {bookie}")
        self.start(bookie)

    def remove_journal(self, bookie: str) -> None:
        """The files of a bookie's journal are removed: the control of what is in it."""
        self.cluster.remove_journal(bookie)
        self.tell(f"the journal's files of {bookie} are removed")

    # --- The writer ------------------------------------------------------------------------------

    def create(self, ensemble: int, write_quorum: int, ack_quorum: int, step: str = "") -> None:
        """A creates a ledger."""
        self._ledger = self._clients[WRITER].create(ensemble, write_quorum, ack_quorum)
        shown = f"on {names(self.ensemble)}, write quorum {write_quorum}, ack quorum {ack_quorum}"
        self.tell(f"A creates ledger {self._ledger.id}", shown, step)

    def add(self, *values: str, step: str = "") -> None:
        """A adds entries, and waits for the answer to each; `step` is that of the first."""
        for value in values:
            self.answer(value, self.add_later(value), step)
            step = ""

    def add_later(self, value: str) -> Any:
        """A adds an entry, and does not wait."""
        return self._clients[WRITER].add(value)

    def add_delayed(self, value: str, *bookies: str, step: str = "") -> Any:
        """A adds an entry, which is delayed on its way to some bookies; A does not wait."""
        for bookie in bookies:
            self._relays[bookie].hold()
        sent = self.add_later(value)
        for bookie in bookies:
            relay = self._relays[bookie]
            wait_until(lambda relay=relay: relay.has_held, f"{value} is on its way to {bookie}")
        self.tell(f"A sends {value}", f"delayed on its way to {names(bookies)}", step)
        return sent

    def deliver(self, bookie: str, step: str = "") -> None:
        """What A added reaches a bookie to which it was delayed."""
        self._relays[bookie].release()
        self.tell(f"what A sent reaches {bookie}", step=step)

    def answer(self, value: str, sent: Any, step: str = "") -> None:
        """Wait for the answer to an entry that A added."""
        answer = self._answered(value, sent, lambda number: f"as entry {number}")
        self.tell(f"A adds {value}", answer, step)

    def close(self) -> str:
        """A closes the ledger; "ok", or the class of the error."""
        answer = self._answer_of(self._clients[WRITER].close())[0]
        self.tell("A closes the ledger", answer)
        return answer

    # --- The recovery, and readers ---------------------------------------------------------------

    def recover(self, step: str = "") -> str:
        """B opens the ledger with recovery, and waits; "ok", or the class of the error."""
        return self.recovered(self.recover_later(), step)

    def lose_fence(self, bookie: str, step: str = "") -> None:
        """B's fence will not reach a bookie: the connection fails, and B reads over another one."""
        self._relays[bookie].lose(_is_read)  # a client fences by a read
        self.tell(f"B's fence to {bookie} will be lost: that connection fails", step=step)

    def recover_later(self) -> Any:
        """B opens the ledger with recovery, and does not wait."""
        return self._clients[RECOVERER].open_ledger(self._ledger, recovery=True)

    def recovered(self, asked: Any, step: str = "") -> str:
        """Wait for the end of a recovery; "ok", or the class of the error."""
        answer, handle = self._answer_of(asked)
        if handle is not None:
            answer = f"ok, last entry {handle.getLastAddConfirmed()}"
        self.tell("B recovers the ledger", answer, step)
        return answer

    def delete(self) -> None:
        """B deletes the ledger, and each bookie forgets it at its next garbage collection.

        What was acknowledged until then is nobody's loss.
        """
        self._clients[RECOVERER].delete(self._ledger)
        self._run.outcome.acknowledged.clear()
        self.tell("B deletes the ledger")

    def wait_for_garbage_collection(self) -> None:
        """Wait until no bookie of the ledger has any of its entries. Raises DidNotHappen."""
        wait_until(
            lambda: (
                not any(
                    self.cluster.entries_of(bookie, self._ledger.id) for bookie in self.ensemble
                )
            ),
            "the bookies have collected the ledger",
        )
        self.tell("the bookies have collected the ledger")

    def read(self) -> list[str]:
        """What a new reader can read of the ledger; the last answer is the outcome's."""
        opening = self._clients[WATCHER].open_ledger(self._ledger, recovery=False)
        handle = self._answer_of(opening)[1]
        values = [] if handle is None else _values(handle)
        self._run.outcome.readable = values
        self.tell("a reader reads", " ".join(values) or "nothing")
        return values

    def length(self) -> int:
        """How many bytes the closed ledger has, as its metadata say."""
        length = self._clients[WATCHER].length(self._ledger)
        self.tell("the length in the metadata", str(length))
        return length

    # --- What is waited for, and what is kept ----------------------------------------------------

    def wait_for_state(self, *states: str) -> None:
        """Wait until the ledger's metadata have one of these states. Raises DidNotHappen."""
        wait_until(
            lambda: self._clients[WATCHER].metadata(self._ledger)[0] in states,
            f"the ledger is {' or '.join(states)}",
        )
        self.tell("the ledger's metadata are read")

    def wait_for_entries(self, bookie: str, count: int) -> None:
        """Wait until a bookie has so many entries of the ledger. Raises DidNotHappen."""
        wait_until(
            lambda: len(self.cluster.entries_of(bookie, self._ledger.id)) == count,
            f"{bookie} has {count} entries",
        )
        self.tell(f"{bookie} has {count} entries")

    def keep_copies(self) -> None:
        """Keep which entries each bookie of the ensemble has in the end."""
        copies = {
            bookie: [f"e{number}" for number in self.cluster.entries_of(bookie, self._ledger.id)]
            for bookie in sorted(self.ensemble)
        }
        self._run.outcome.copies = copies
        shown = "; ".join(f"{name}: {' '.join(each) or 'nothing'}" for name, each in copies.items())
        self.tell("the bookies have", shown)

    def count_of(self, value: str) -> int:
        """How many bookies have an entry, of those copies that were kept."""
        return sum(value in each for each in self._run.outcome.copies.values())

    def _seen(self) -> dict[str, Any]:
        """What the picture of this moment needs (see `picture`)."""
        if self._ledger is None:
            return {}
        state, last = self._clients[WATCHER].metadata(self._ledger)
        return {
            "state": state,
            "last": last,
            "ensemble": sorted(self.ensemble),
            "away": sorted(self._away),
            "acknowledged": list(self._run.outcome.acknowledged),
            "failed": list(self._run.outcome.failed),
            "copies": dict(self._run.outcome.copies),
        }
