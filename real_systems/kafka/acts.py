"""What a story can do to a cluster of Kafka, and what it can wait for.

Every act is recorded with what the controller has decided and what lies in the replicas' logs. The
topic is `t`, with one partition; brokers are named by their numbers.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from real_systems.kafka.cluster import TOPIC, Cluster, PartitionState, number_of
from real_systems.kafka.kraft import Quorum
from real_systems.kafka.tools import Tools
from real_systems.kafka.zookeeper import names_a_leader
from real_systems.runner import stage as runner_stage
from real_systems.runner.java_gateway import cause_of
from real_systems.runner.processes import BOUND, DidNotHappen, wait_until
from real_systems.runner.stage import copies_text, names, who
from real_systems.runner.stories import Run

_ASKING = 2000
"""Milliseconds that a client waits for a broker that tells it who leads."""

_UNSET: Any = object()


@dataclass(frozen=True)
class Sent:
    """A record under way to a broker, whose answer is awaited. `is_promised`: with acks=all an
    acknowledgement promises that the record is safe, with acks=1 only that the leader has it."""

    value: str
    future: Any
    is_promised: bool


class Producer:
    """A producer that knows these brokers, and who leads. `seconds`: how long it waits.

    It asks any broker that it has heard of for the leader, also one that is paused; so it asks with
    a short time-out, and another one is made if it gets no answer. Raises DidNotHappen.
    """

    def __init__(self, cluster: Cluster, to: tuple[int, ...], acks: str, seconds: int):
        self.seconds, self._acks = seconds, acks
        text = "org.apache.kafka.common.serialization.StringSerializer"
        settings = {
            "bootstrap.servers": cluster.address(*to),
            "acks": acks,
            "retries": 0,
            "linger.ms": 0,
            "max.block.ms": _ASKING,
            "request.timeout.ms": seconds * 1000,
            "key.serializer": text,
            "value.serializer": text,
        }
        if number_of(cluster.release) >= (2, 1):
            settings |= {"delivery.timeout.ms": seconds * 1000, "enable.idempotence": "false"}
        self._api = cluster.clients.jvm.org.apache.kafka.clients.producer

        def informed() -> Any:
            made = self._api.KafkaProducer(cluster.clients.properties(settings))
            try:
                made.partitionsFor(TOPIC)
            except Exception:  # py4j's own for anything that Java throws
                made.close()
                return None
            return made

        self._producer = wait_until(informed, "a producer knows the leader")

    def send(self, value: str) -> Sent:
        """Send a record, and do not wait."""
        record = self._api.ProducerRecord(TOPIC, 0, None, value)
        return Sent(value, self._producer.send(record), self._acks == "all")


class Stage(runner_stage.Stage):
    """A cluster that a story acts on; some acts need one under KRaft, others one under ZooKeeper.

    state: what was decided last.
    """

    def __init__(self, cluster: Cluster, run: Run):
        super().__init__(cluster, run)
        self.state: PartitionState | Any = None  # until the controller has decided
        self._quorum: Quorum | None = None
        self._tools: Tools | None = None
        cluster.bring_up()
        self.tell(f"Kafka {cluster.release} is up", f"brokers {names(cluster.brokers)}")

    def close_clients(self) -> None:
        self.cluster.clients.close()

    # --- Nodes -----------------------------------------------------------------------------------

    def power_cut(self, broker: int, keep: int, step: str = "") -> None:
        """A broker's machine loses power: all but the first `keep` records were not flushed."""
        self.cluster.processes.kill(str(broker))
        self._away.add(broker)
        self.cluster.cut(broker, keep)
        self.tell(f"a power cut at {broker}: what was not flushed is gone", step=step)

    def replace_disk(self, node: int, as_before: bool = True, step: str = "") -> None:
        """A node that was stopped or killed gets an empty disk, formatted for it.

        as_before: whether a controller's new disk is formatted with the first voters, as its old
        one was; without them it belongs to nobody who votes.
        """
        self.cluster.replace_disk(node, as_before)
        self.tell(f"the disk of {node} is replaced", step=step)

    def start(self, node: int, step: str = "") -> None:
        """A node that was stopped or killed starts again."""
        self.cluster.start(node)
        self._away.discard(node)
        self.tell(f"{node} is started", step=step)

    # --- The controllers' quorum -----------------------------------------------------------------

    def wait_for_quorum(
        self,
        what: str = "the quorum has a leader",
        until: Callable[[Quorum], bool] = lambda quorum: True,
        step: str = "",
    ) -> Quorum:
        """Wait until the quorum has a leader, and is so. Raises DidNotHappen."""
        seen: list[Quorum | None] = []

        def is_so() -> Quorum | None:
            seen[:] = [self.cluster.quorum()]
            return seen[0] if seen[0] and until(seen[0]) else None

        self._quorum = wait_until(is_so, what, describe=lambda: str(seen[0] or "no answer"))
        self.tell("the quorum", str(self._quorum), step)
        return self._quorum

    def has_leader_within(self, seconds: int) -> bool:
        """Does the quorum get a leader in this time? It ends early if it does."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.cluster.quorum(patience=3000):
                return True
        if self._quorum:
            self._quorum = replace(self._quorum, leader=0)
        self.tell(f"the quorum, {seconds} s later", "no leader")
        return False

    def read_decisions_of(self, controller: int) -> None:
        """From now on what was decided is read from this controller's disk, not the first one's."""
        self.cluster.read_decisions_of(controller)
        self.state = None

    def add_voter(self, controller: int) -> str:
        """A controller is made a voter; "ok", or the class of the error."""
        answer = self.cluster.add_voter(controller)
        self.tell(f"an operator adds controller {controller}", answer)
        return answer

    def remove_voter(self, controller: int, step: str = "") -> str:
        """A controller is no voter any more; "ok", or the class of the error."""
        answer = self.cluster.remove_voter(controller)
        self.tell(f"an operator removes controller {controller}", answer, step)
        return answer

    # --- The partition ---------------------------------------------------------------------------

    def create_topic(
        self,
        replicas: Iterable[int] = (1, 2, 3),
        min_isr: int | None = 2,
        unclean: bool = False,
        step: str = "",
    ) -> None:
        """Create the topic, and wait for its leader, the first of the replicas."""
        replicas, settings = list(replicas), {}
        if min_isr is not None:
            settings["min.insync.replicas"] = str(min_isr)
        if unclean:
            settings["unclean.leader.election.enable"] = "true"
        self.cluster.create_topic(replicas, settings)
        shown = "".join(f" {name}={value}" for name, value in settings.items())
        self.wait(leader=replicas[0], isr=replicas)
        self.tell(f"the topic is created on {names(replicas)}{shown}", step=step)

    def prefer(self, order: Iterable[int], through: int, step: str = "") -> None:
        """The replicas get another order, and its first, the preferred leader, is elected."""
        order = list(order)
        self.cluster.reorder(order)
        self.elect_preferred(order[0], through, step)

    def reorder(self, order: Iterable[int]) -> None:
        """The replicas get another order. The leader stays, and has a new epoch."""
        order = list(order)
        self.cluster.reorder(order)
        self.tell(f"the replicas are reassigned as {names(order)}")

    def elect_preferred(self, leader: int, through: int, step: str = "") -> None:
        """The preferred leader, which is this one, is elected."""
        self.cluster.elect_preferred(through)
        self.wait(leader=leader)
        self.tell(f"{leader} is preferred", step=step)

    def hold(self, broker: int) -> None:
        """From now on a broker hears nothing of the controller; it reaches all others itself."""
        self.cluster.relays[broker].hold()
        self.tell(f"what the controller says to {broker} is held back")

    def deliver_one(self, broker: int, step: str = "") -> None:
        """The next decision of the controller reaches a broker, and no further one."""
        what = f"{broker} hears of one decision"
        self.cluster.relays[broker].pass_until(names_a_leader, what)
        self.tell(what, step=step)

    def release(self, *brokers: int) -> None:
        """All that was held back reaches these brokers."""
        for broker in brokers:
            self.cluster.relays[broker].release()
        self.tell(f"what was held back reaches {names(brokers)}")

    def elect_unclean(self, through: int, step: str = "") -> None:
        """An operator asks for an unclean election."""
        self.cluster.elect("UNCLEAN", through)
        self.tell("an operator asks for an unclean election", step=step)

    def run(self, line: str) -> str:
        """An operator runs a command of the release (see `tools`); its output."""
        if self._tools is None:
            self._tools = Tools(self.cluster)
        answer = self._tools.run(line)
        self.tell(f"$ {line}", answer)
        return answer

    # --- Clients ---------------------------------------------------------------------------------

    def producer(self, to: Iterable[int] = (), acks: str = "all", seconds: int = 30) -> "Producer":
        """A producer that knows these brokers, by default all that are there, and who leads.

        seconds: how long it waits for an answer.
        """
        return Producer(self.cluster, tuple(to) or self._present(), acks, seconds)

    def answer(self, sent: Sent, seconds: int = BOUND, step: str = "") -> bool:
        """Wait for the answer to a record that was sent; is it acknowledged?"""
        answer = self._answered(
            sent.value,
            sent.future,
            lambda place: f"at offset {place.offset()}",
            sent.is_promised,
            seconds,
        )
        acks = "all" if sent.is_promised else "1"
        self.tell(f"the producer of {sent.value}, acks={acks}", answer, step)
        return self.last_answer == "acknowledged"

    def produce(
        self,
        value: str,
        to: Iterable[int] = (),
        acks: str = "all",
        step: str = "",
        by: "Producer | None" = None,
    ) -> bool:
        """A producer, by default a new one, sends a record and waits; is it acknowledged?"""
        by = by or self.producer(to, acks)
        return self.answer(by.send(value), by.seconds + 30, step)

    def consume(self, through: Iterable[int] = ()) -> list[str]:
        """What a new consumer reads from the beginning; the last answer is the outcome's."""
        values = self._read(tuple(through) or self._present())
        self._run.outcome.readable = values
        self.tell("a consumer reads", " ".join(values) or "nothing")
        return values

    def topics(self) -> list[str]:
        """The topics that brokers know, once they answer. Raises DidNotHappen."""
        (found,) = wait_until(self.cluster.topics, "a broker names its topics")
        self.tell("the brokers' topics", names(found) or "none")
        return found

    # --- Settings --------------------------------------------------------------------------------

    def topic_setting(self, name: str, until: Callable[[str], bool] = lambda source: True) -> str:
        """A setting of the topic as brokers have it, once it comes from such a source."""

        def found() -> tuple[str, str] | None:
            value, source = self.cluster.topic_setting(name)
            return (value, source) if until(source) else None

        value, source = wait_until(found, f"the topic's {name} is known")
        self.tell(f"the topic's {name}", f"{value} ({source.lower().replace('_', ' ')})")
        return value

    def set_for_broker(self, broker: int, name: str, value: str) -> str:
        """Set a broker's own value; "accepted" or "refused"."""
        refusal = self.cluster.set_for_broker(broker, name, value)
        self.tell(f"{name}={value} is set for {broker}", refusal or "accepted")
        return "refused" if refusal else "accepted"

    def upgrade(self, release: str) -> None:
        """The documented upgrade: `kafka-features upgrade --release-version`."""
        broker = self.cluster.brokers[0]
        self.run(
            f"kafka-features.sh --bootstrap-server broker{broker}:9092 upgrade"
            f" --release-version {release}"
        )

    # --- What is waited for, and what is kept ----------------------------------------------------

    def wait(
        self,
        leader: int | None = _UNSET,
        isr: Iterable[int] = _UNSET,
        elr: Iterable[int] = _UNSET,
        until: Callable[[PartitionState], bool] = lambda state: True,
    ) -> PartitionState:
        """Wait until the controller has decided so. Raises DidNotHappen."""
        wanted = {"leader": leader, "isr": isr, "elr": elr}
        wanted = {name: value for name, value in wanted.items() if value is not _UNSET}

        def is_so() -> bool:
            state = self._look()
            return (
                state is not None
                and until(state)
                and all(
                    getattr(state, name) == value
                    if name == "leader"
                    else {*getattr(state, name)} == {*value}
                    for name, value in wanted.items()
                )
            )

        shown = ", ".join(f"{name} {value}" for name, value in wanted.items()) or "a decision"
        wait_until(is_so, shown, describe=lambda: str(self.state))
        return self.state

    def ends_within(self, node: int, seconds: int) -> bool:
        """Does a node's process end by itself in this time? It returns as soon as it does."""
        try:
            wait_until(lambda: self.cluster.processes.has_ended(str(node)), f"{node} ends", seconds)
        except DidNotHappen:
            self.tell(f"{node} runs", f"{seconds} s later")
            return False
        self._away.add(node)
        self.tell(f"{node} ends by itself")
        return True

    def wait_for_brokers(self, *brokers: int) -> None:
        """Wait until the controller lets these brokers lead. Raises DidNotHappen."""
        wait_until(
            lambda: {*brokers} <= self.cluster.unfenced(),
            f"{who(brokers)} there again",
        )
        self.tell(f"{who(brokers)} there again, as the controller sees it")

    def wait_for_line(self, node: int, pattern: str) -> None:
        """Wait until a node's log has a line that matches. Raises DidNotHappen."""
        wait_until(lambda: self.cluster.said(node, pattern), f"{node} logs {pattern}")
        self.keep_lines(node, pattern)

    def wait_for_copies(self, copies: dict[int, list[str]], step: str = "") -> None:
        """Wait until these replicas have exactly these records on disk. Raises DidNotHappen."""

        def there() -> dict[int, list[str]]:
            return {each: self.cluster.values(each) for each in copies}

        wait_until(
            lambda: there() == copies,
            f"the logs have {copies}",
            describe=lambda: str(there()),
        )
        self.tell("the replicas have", copies_text(there()), step)

    def keep_lines(self, node: int, pattern: str) -> list[str]:
        """Keep the lines of a node's log that match, as an operator would find them."""
        found = self.cluster.said(node, pattern)
        for line in found:
            self.tell(f"{node} logs", line.replace(str(self.cluster.folder), "/kafka"))
        return found

    def keep_copies(self) -> None:
        """Keep what each replica has in the end."""
        copies = {str(each): self.cluster.values(each) for each in self.cluster.brokers}
        self._run.outcome.copies = {name: each for name, each in copies.items() if each}
        self.tell("the replicas have", copies_text(copies))

    def tell(self, text: str, answer: str = "", step: str = "") -> None:
        """Record an act, with what was decided and what is on disk."""
        self._look()
        super().tell(text, answer, step)

    def sleep(self, seconds: float) -> None:
        """Let time pass, where time itself is what the story needs."""
        time.sleep(seconds)

    def _look(self) -> PartitionState | None:
        """What was decided last; a decision that was not recorded yet is an act of its own."""
        state = self.cluster.state()
        if state is not None and state != self.state:
            self.state = state
            self._run.act("the controller decides", str(state), self._seen())
        return state

    def _seen(self) -> dict[str, Any]:
        """What the picture of this moment needs (see `picture`)."""
        if self.state is None:
            return {}
        return asdict(self.state) | {
            "away": sorted(self._away),
            "acknowledged": list(self._run.outcome.acknowledged),
            "copies": {
                str(broker): self.cluster.records(broker) for broker in self.cluster.brokers
            },
        }

    def _present(self) -> tuple[int, ...]:
        """The brokers that are neither paused nor dead."""
        return tuple(each for each in self.cluster.brokers if each not in self._away)

    def _read(self, through: tuple[int, ...]) -> list[str]:
        clients = self.cluster.clients
        jvm = clients.jvm
        text = "org.apache.kafka.common.serialization.StringDeserializer"
        settings = {
            "bootstrap.servers": self.cluster.address(*through),
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            "key.deserializer": text,
            "value.deserializer": text,
            "default.api.timeout.ms": 20_000,
        }
        consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(clients.properties(settings))
        partition = jvm.org.apache.kafka.common.TopicPartition(TOPIC, 0)
        values: list[str] = []
        try:
            consumer.assign([partition])
            consumer.seekToBeginning([partition])
            end = consumer.endOffsets([partition]).get(partition)
            old = number_of(self.cluster.release) < (2, 0)
            moment = 200 if old else jvm.java.time.Duration.ofMillis(200)

            def is_read() -> bool:
                values.extend(each.value() for each in consumer.poll(moment).records(partition))
                return consumer.position(partition) >= end

            wait_until(is_read, f"a consumer reads up to offset {end}", BOUND, 0)
        except DidNotHappen:
            raise
        except Exception as error:  # py4j's own for anything that Java throws
            raise DidNotHappen(f"A consumer can't read: {': '.join(cause_of(error))}") from None
        finally:
            consumer.close()
        return values


class QuorumStage(Stage):
    """A cluster under KRaft whose moments are those of its controllers and their logs."""

    def keep_copies(self) -> None:
        """Keep which topics each controller's metadata log has in the end."""
        copies = {str(node): [name for name, _ in each] for node, each in self._logs().items()}
        self._run.outcome.copies = {name: each for name, each in copies.items() if each}
        self.tell("the controllers' logs have", copies_text(copies) or "no topic")

    def _seen(self) -> dict[str, Any]:
        """What the picture of this moment needs (see `picture.describe_quorum`)."""
        quorum, nodes = self._quorum, self.cluster.controllers
        if quorum is None:
            return {}
        return {
            "leader": quorum.leader,
            "epoch": quorum.epoch,
            "voters": [each for each in nodes if self.cluster.is_voter(each, quorum)],
            "away": sorted(self._away),
            "topics": {str(node): each for node, each in self._logs().items()},
        }

    def _logs(self) -> dict[int, list[tuple[str, int | None]]]:
        return {node: self.cluster.topics_in_log(node) for node in self.cluster.controllers}
