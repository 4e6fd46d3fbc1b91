"""Clients of Pulsar, through its official Java client, and a look at the ledgers of compaction."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from real_systems.pulsar.cluster import TOPIC, PulsarCluster
from real_systems.runner.java_gateway import JavaGateway, cause_of

_MOST_MISSING = 5
"""As many ids without a ledger in a row mean that there is none behind them."""


@dataclass(frozen=True)
class CompactedLedger:
    """A ledger that a compaction has begun to write. state: OPEN, CLOSED or IN_RECOVERY."""

    id: int
    state: str


class Clients:
    """Producers and readers of the topic, and a client of BookKeeper, in one Java process."""

    def __init__(self, cluster: PulsarCluster):
        self._gateway = JavaGateway(cluster.processes, cluster.jars, options=cluster.options)
        jvm = self._jvm = self._gateway.jvm
        self._seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
        self._api = jvm.org.apache.pulsar.client.api
        self._client = self._api.PulsarClient.builder().serviceUrl(cluster.url).build()
        made = jvm.org.apache.bookkeeper.conf.ClientConfiguration()
        made.setMetadataServiceUri(cluster.storage.metadata)
        made.setZkTimeout(30_000)
        self._bookkeeper = jvm.org.apache.bookkeeper.client.BookKeeper(made)
        self._newest = -1
        self._producer: Any = None
        self._consumer: Any = None
        self._stopped_at: Any = None

    def send(self, value: str, key: str = "") -> str:
        """Send a message, one without a key if it is empty; returns its ledger and entry."""
        place = self._message(value.encode(), key).send()
        return f"{place.getLedgerId()}:{place.getEntryId()}"

    def send_many(self, count: int, size: int) -> None:
        """Send so many messages of this size, each with a key of its own; wait for all."""
        sent = [self._message(bytes(size), f"x{number}").sendAsync() for number in range(count)]
        for each in sent:
            each.get()

    def subscribe(self, name: str) -> None:
        """Subscribe to the topic, from its first message on."""
        earliest = self._api.SubscriptionInitialPosition.Earliest
        self._consumer = (
            self._client.newConsumer()
            .topics([TOPIC])
            .subscriptionName(name)
            .subscriptionInitialPosition(earliest)
            .subscribe()
        )

    def acknowledge(self, count: int) -> None:
        """The subscription gets so many messages, and acknowledges them."""
        for _ in range(count):
            self._consumer.acknowledge(self._consumer.receive())

    def read(
        self, compacted: bool, seconds: int, goes_on: bool = False
    ) -> tuple[list[tuple[str, str]], str]:
        """Key and value of each message that a new reader gets, and its error, if it gets one.

        compacted: does it read what compaction kept, and then the rest of the topic? seconds: how
        long it waits for the next message. goes_on: does it start where the last one that read from
        the beginning stopped? The value of a deletion of key a is "a=none".
        """
        found: list[tuple[str, str]] = []
        reader: Any = None
        try:
            reader = (
                self._client.newReader()
                .topic(TOPIC)
                .startMessageId(self._stopped_at if goes_on else self._api.MessageId.earliest)
                .readCompacted(compacted)
                .create()
            )
            while message := reader.readNext(seconds, self._seconds):
                # Messages of `send_many` have no value worth a look.
                data, key = bytes(message.getData()), message.getKey() or ""
                found.append((key, data.rstrip(b"\0").decode() if data else f"{key}=none"))
                self._stopped_at = self._stopped_at if goes_on else message.getMessageId()
        except Exception as error:  # py4j's own for anything that Java throws
            return found, cause_of(error)[0]
        finally:
            if reader is not None:
                reader.close()
        return found, ""

    def compacted_ledgers(self) -> list[CompactedLedger]:
        """The ledgers of compactions, finished or not, by id."""
        found = []
        for number, metadata in self._ledgers():
            component = metadata.getCustomMetadata().get("component")
            if component is not None and bytes(component) == b"compacted-ledger":
                found.append(CompactedLedger(number, metadata.getState().toString()))
        return found

    def delete_ledger(self, number: int) -> None:
        """Delete a ledger behind the broker's back."""
        self._bookkeeper.deleteLedger(number)

    def end(self) -> None:
        """Close the connection to the process; it ends with the run."""
        self._gateway.close()

    def _ledgers(self) -> Iterator[tuple[int, Any]]:
        """All ledgers by id, with their metadata."""
        number = missing = 0
        while missing < _MOST_MISSING or number <= self._newest:
            metadata = self._metadata(number)
            if metadata is None:
                missing += 1
            else:
                self._newest, missing = max(self._newest, number), 0
                yield number, metadata
            number += 1

    def _metadata(self, ledger: int) -> Any:
        try:
            manager = self._bookkeeper.getLedgerManager()
            return manager.readLedgerMetadata(ledger).get().getValue()
        except Exception as error:  # py4j's own for anything that Java throws
            if "NoSuchLedger" not in cause_of(error)[0]:
                raise
            return None

    def _message(self, content: bytes, key: str) -> Any:
        if self._producer is None:
            made = self._client.newProducer().topic(TOPIC).enableBatching(False)
            self._producer = made.blockIfQueueFull(True).create()
        message = self._producer.newMessage().value(content)
        return message.key(key) if key else message
