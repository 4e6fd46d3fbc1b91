"""What a story can do to a Pulsar cluster, and what it can wait for.

The topic is `t`. Its messages are numbered from 1 on in the order in which they were sent, as the
model numbers them; a message without a key has the key "".
"""

import re
from collections.abc import Iterator
from typing import Any

from real_systems.pulsar.cluster import TOPIC, PulsarCluster
from real_systems.runner import stage as runner_stage
from real_systems.runner.java_gateway import JavaGateway, cause_of
from real_systems.runner.processes import DidNotHappen, wait_until
from real_systems.runner.stories import Run

_MOST_MISSING = 5
"""As many ids without a ledger in a row mean that there is none behind them."""


class Clients:
    """Producers and readers of the topic, and a client of BookKeeper, in one Java process."""

    def __init__(self, cluster: PulsarCluster):
        self.gateway = JavaGateway(cluster.processes, cluster.jars, options=cluster.options)
        jvm = self._jvm = self.gateway.jvm
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

    def compacted_ledgers(self) -> dict[int, str]:
        """The ledgers of compactions, finished or not: the state of each, OPEN, CLOSED or
        IN_RECOVERY, by its id."""
        found = {}
        for number, metadata in self._ledgers():
            component = metadata.getCustomMetadata().get("component")
            if component is not None and bytes(component) == b"compacted-ledger":
                found[number] = metadata.getState().toString()
        return found

    def delete_ledger(self, number: int) -> None:
        """Delete a ledger behind the broker's back."""
        self._bookkeeper.deleteLedger(number)

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


_COMPACTOR = "compactor"
_CURSOR = "__compaction"
_NO_LEDGER = -1
_PATIENCE = 8  # seconds that a reader waits for the next message


class Stage(runner_stage.Stage):
    """A cluster that a story acts on, and its one topic."""

    def __init__(self, cluster: PulsarCluster, run: Run):
        super().__init__(cluster, run)
        cluster.bring_up()
        self._clients = Clients(cluster)
        self._sent: list[tuple[str, str]] = []
        self._kept_from = 1
        self._last_named = _NO_LEDGER
        self._served: list[str] | None = None
        self.tell(f"Pulsar {cluster.release} is up", "ZooKeeper, one bookie, one broker")

    def close_clients(self) -> None:
        self._clients.gateway.close()

    # --- Producers, subscriptions, readers -------------------------------------------------------

    def send(self, value: str, key: str = "", step: str = "") -> None:
        """A producer sends a message and waits for the answer; an empty value deletes the key.

        Of a key's messages a compacted topic promises the last one: those before it are nobody's
        loss from now on.
        """
        place = self._clients.send(value, key)
        value = value or f"{key}=none"
        acknowledged = self._run.outcome.acknowledged
        earlier = [each for name, each in self._sent if key and name == key]
        acknowledged[:] = [each for each in acknowledged if each not in earlier]
        acknowledged.append(value)
        self._sent.append((key, value))
        shown = f"key {key}" if key else "without a key"
        self.tell(f"{value} is sent, {shown}", f"acknowledged at {place}", step)

    def send_many(self, count: int, size: int) -> None:
        """So many other messages of this size are sent, each with a key of its own."""
        self._clients.send_many(count, size)
        self.tell(f"{count} other messages of {size} bytes are sent", "acknowledged")

    def subscribe(self) -> None:
        """A subscription from the first message on: the topic keeps what it did not acknowledge."""
        self._clients.subscribe("keep")
        self.tell("a subscription begins at the first message")

    def acknowledge_all(self) -> None:
        """The subscription acknowledges all that was sent."""
        self._clients.acknowledge(len(self._sent))
        self.tell("the subscription acknowledges everything")

    def read(
        self, compacted: bool = True, seconds: int = _PATIENCE, goes_on: bool = False
    ) -> list[str]:
        """What a new reader gets, by default of the compacted topic; that is the outcome's.

        seconds: how long it waits for the next message. Those of `send_many` are counted, and not
        listed. goes_on: it starts where the last reader from the beginning stopped.
        """
        found, error = self._clients.read(compacted, seconds, goes_on)
        values = [value for _, value in found if value]
        others = len(found) - len(values)
        if compacted:
            self._run.outcome.readable = self._served = values
            self._run.outcome.facts["errors of the compacted reader"] = error or "none"
        answer = " ".join(values) or "nothing"
        answer += f" and {others} others" if others else ""
        answer += f", then {error}" if error else ""
        topic = "compacted topic" if compacted else "topic"
        waits = "" if seconds == _PATIENCE else f", until {seconds} s pass without a message"
        start = ", which starts where the first one stopped," if goes_on else ""
        self.tell(f"a reader of the {topic}{start} gets{waits}", answer)
        return values

    # --- Compaction ------------------------------------------------------------------------------

    def compact(self, step: str = "") -> str:
        """The broker compacts the topic; returns the status in the end: SUCCESS or ERROR."""
        self.cluster.ask("compaction", "PUT")

        def status() -> str:
            answer = self.cluster.ask("compaction")
            found = answer.get("status", "") if isinstance(answer, dict) else answer
            return "" if found == "RUNNING" else found

        ended = wait_until(status, "the compaction ends")
        if ended == "SUCCESS":
            # The cursor is written at the end, and the statistics follow it.
            wait_until(self._is_compacted, "the cursor names the new ledger")
        self.tell("the broker compacts the topic", ended, step)
        return ended

    def kill_compactor(self, step: str = "") -> int:
        """Pulsar's compactor, a process of its own, is killed while it writes; its ledger's id."""
        known = self._clients.compacted_ledgers().keys()
        self.cluster.start_compactor(_COMPACTOR)

        def begun() -> set[int]:
            if self.cluster.processes.has_ended(_COMPACTOR):
                raise DidNotHappen("The compactor ended before its ledger was seen: run it again.")
            return self._clients.compacted_ledgers().keys() - known

        ledger = min(wait_until(begun, "the compactor has created its ledger", pause=0))
        self.cluster.processes.kill(_COMPACTOR)
        state = self.state_of(ledger)
        if state != "OPEN":
            raise DidNotHappen("The compactor had closed its ledger when it was killed: again.")
        self.tell(f"the compactor is killed while it writes ledger {ledger}", state, step)
        return ledger

    def state_of(self, ledger: int) -> str:
        """The state of a ledger of compaction, as BookKeeper's metadata say: or "deleted"."""
        return self._clients.compacted_ledgers().get(ledger, "deleted")

    def delete_compacted_ledger(self, step: str = "") -> None:
        """The ledger that the cursor names is deleted behind the broker's back."""
        ledger = self._named()
        self._clients.delete_ledger(ledger)
        self.tell(f"ledger {ledger}, which the cursor names, is deleted", step=step)

    # --- The broker ------------------------------------------------------------------------------

    def trim(self, step: str = "") -> None:
        """The topic's ledgers that nobody needs any more are deleted. Raises DidNotHappen."""

        def is_trimmed() -> bool:
            self.cluster.ask("trim", "POST")
            return sum(each["entries"] for each in self._statistics()["ledgers"]) == 0

        wait_until(is_trimmed, "the topic's ledgers are deleted", pause=1)
        self._kept_from = len(self._sent) + 1
        self.tell("the topic is trimmed: all ledgers of its messages are deleted", step=step)

    def restart_broker(self, step: str = "") -> None:
        """The broker is stopped cleanly, and starts again."""
        self.cluster.restart_broker()
        self.tell("the broker is restarted", step=step)

    def statistics(self) -> str:
        """Whether the topic's internal statistics are answered: "ok", or such as "HTTP 500"."""
        answer = self.cluster.ask("internalStats")
        answered = answer if isinstance(answer, str) else "ok"
        self.tell("the topic's internal statistics", answered)
        return answered

    def keep_lines(self, pattern: str, most: int = 1) -> list[str]:
        """Keep what matches in the first lines of the broker's log that do."""
        lines = self.cluster.said("broker", pattern)[:most]
        found = [match[0] for line in lines if (match := re.search(pattern, line))]
        for each in found:
            self.tell("the broker logs", each)
        return found

    # --- What is known ---------------------------------------------------------------------------

    def _statistics(self) -> dict[str, Any]:
        """The topic's internal statistics; empty while they can't be had."""
        answer = self.cluster.ask("internalStats")
        return answer if isinstance(answer, dict) else {}

    def _is_compacted(self) -> bool:
        statistics = self._statistics()
        cursor = statistics.get("cursors", {}).get(_CURSOR, {})
        return (
            cursor.get("markDeletePosition") == statistics.get("lastConfirmedEntry")
            and self._named() != _NO_LEDGER
        )

    def _named(self) -> int:
        """The ledger that the compaction's cursor names, as it was last known."""
        cursor = self._statistics().get("cursors", {}).get(_CURSOR, {})
        self._last_named = cursor.get("properties", {}).get(
            "CompactedTopicLedger", self._last_named
        )
        return self._last_named

    def _seen(self) -> dict[str, Any]:
        """What the picture of this moment needs (see `picture`)."""
        if not self._sent:
            return {}
        named = self._named()
        return {
            "sent": list(self._sent),
            "kept_from": self._kept_from,
            "acknowledged": list(self._run.outcome.acknowledged),
            "served": self._served,
            "named": None if named == _NO_LEDGER else named,
            "ledgers": list(self._clients.compacted_ledgers().items()),
        }
