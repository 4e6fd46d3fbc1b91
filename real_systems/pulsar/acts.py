"""What a story can do to a Pulsar cluster, and what it can wait for.

The topic is `t`. Its messages are numbered from 1 on in the order in which they were sent, as the
model numbers them; a message without a key has the key "".
"""

import re
from typing import Any

from real_systems.pulsar.clients import Clients, CompactedLedger
from real_systems.pulsar.cluster import PulsarCluster
from real_systems.runner import stage as runner_stage
from real_systems.runner.recordings import Recorder
from real_systems.runner.waiting import DidNotHappen, wait_until

_COMPACTOR = "compactor"
_CURSOR = "__compaction"
_NO_LEDGER = -1
_PATIENCE = 8  # seconds that a reader waits for the next message


class Stage(runner_stage.Stage):
    """A cluster that a story acts on, and its one topic."""

    def __init__(self, cluster: PulsarCluster, recorder: Recorder):
        super().__init__(cluster, recorder)
        cluster.bring_up()
        self._clients = Clients(cluster)
        self._sent: list[tuple[str, str]] = []
        self._kept_from = 1
        self._last_named = _NO_LEDGER
        self._served: list[str] | None = None
        self.tell(f"Pulsar {cluster.release} is up", "ZooKeeper, one bookie, one broker")

    def close_clients(self) -> None:
        self._clients.end()

    # --- Producers, subscriptions, readers -------------------------------------------------------

    def send(self, value: str, key: str = "", step: str = "") -> None:
        """A producer sends a message and waits for the answer; an empty value deletes the key.

        Of a key's messages a compacted topic promises the last one: those before it are nobody's
        loss from now on.
        """
        place = self._clients.send(value, key)
        value = value or f"{key}=none"
        acknowledged = self._recorder.outcome.acknowledged
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
            self._recorder.outcome.readable = self._served = values
            self._recorder.outcome.facts["errors of the compacted reader"] = error or "none"
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

    def kill_compactor(self, step: str = "") -> CompactedLedger:
        """Pulsar's compactor, a process of its own, is killed while it writes; its ledger."""
        known = {each.id for each in self._clients.compacted_ledgers()}
        self.cluster.start_compactor(_COMPACTOR)

        def begun() -> CompactedLedger | None:
            if self.cluster.processes.has_ended(_COMPACTOR):
                raise DidNotHappen("The compactor ended before its ledger was seen: run it again.")
            found = self._clients.compacted_ledgers()
            return next((each for each in found if each.id not in known), None)

        ledger = wait_until(begun, "the compactor has created its ledger", pause=0)
        self.cluster.processes.kill(_COMPACTOR)
        state = self.state_of(ledger.id)
        if state != "OPEN":
            raise DidNotHappen("The compactor had closed its ledger when it was killed: again.")
        self.tell(f"the compactor is killed while it writes ledger {ledger.id}", state, step)
        return ledger

    def state_of(self, ledger: int) -> str:
        """The state of a ledger of compaction, as BookKeeper's metadata say: or "deleted"."""
        found = {each.id: each.state for each in self._clients.compacted_ledgers()}
        return found.get(ledger, "deleted")

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
            "acknowledged": list(self._recorder.outcome.acknowledged),
            "served": self._served,
            "named": None if named == _NO_LEDGER else named,
            "ledgers": [(each.id, each.state) for each in self._clients.compacted_ledgers()],
        }
