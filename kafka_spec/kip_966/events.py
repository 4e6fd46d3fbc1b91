"""The events of a step, for sequence diagrams: messages in few words, and what changes at brokers.

The model counts offsets, and leaders' and partitions' epochs, from 1, as its original does; all
that is shown counts them from 0, as Kafka.
"""

from collections.abc import Iterator
from typing import Any

from kafka_spec.kip_966.model import Broker, Error, ReplicaStatus
from protocol_lab import Spec
from protocol_lab.drawing import letter, or_none, set_text
from protocol_lab.model.declarations import lifeline
from protocol_lab.model.layout import NONE
from protocol_lab.model.node_sets import members
from protocol_lab.model.step_text import Step
from protocol_lab.traces.events import AT_ONCE, CRASH, EVERYBODY, RESTART, Arrow, Event, Note


def register_request(message: Any) -> str:
    """A broker registers."""
    file = f"clean, epoch {message.broker_epoch}" if message.broker_epoch else "unclean"
    return f"register ({file})"


def register_answer(message: Any) -> str:
    """The broker's new epoch."""
    return f"broker epoch {message.broker_epoch}"


def alter_request(message: Any) -> str:
    """The ISR that a leader asks for."""
    return f"ISR {set_text(message.isr)}? p{message.partition_epoch - 1}"


def alter_answer(message: Any) -> str:
    """The ISR as it is now, or why it was refused."""
    if message.error != "nil":
        return Error.names[message.error].replace("_", " ")
    return f"ISR {set_text(message.isr)} p{message.partition_epoch - 1}"


def fetch_request(message: Any) -> str:
    """From where a follower wants records."""
    return f"fetch {message.fetch_offset - 1}"


def fetch_answer(message: Any) -> str:
    """A record, or why there is none."""
    if message.error != "nil":
        return Error.names[message.error].replace("_", " ")
    if message.diverges:
        return f"diverges at {message.diverging_offset - 1}"
    told = letter(message.record.value) if message.record.value != NONE else "nothing new"
    return f"{told}, hw {message.hwm - 1}"


CONTROLLER = "controller"
STOPPING = ("data_loss_shutdown", "no_data_loss_shutdown")


def declare_messages(spec: Spec) -> None:
    """Declare where messages are in flight, and a label for each kind."""
    for bag, source, dest, label in (
        ("register_requests", "source", CONTROLLER, register_request),
        ("register_responses", CONTROLLER, "dest", register_answer),
        ("alter_requests", "source", CONTROLLER, alter_request),
        ("alter_responses", CONTROLLER, "dest", alter_answer),
    ):
        spec.messages(f"messages.{bag}", source=source, dest=dest, label=label)
    for bag, label in (
        ("fetch_requests", fetch_request),
        ("fetch_responses", fetch_answer),
    ):
        spec.messages(
            f"messages.{bag}", source="source", dest="dest", lost_by=STOPPING, label=label
        )


def broker_events(before: Any, after: Any, c: Any, step: Step) -> list[Event] | None:
    """What the controller decided, what was learned of it, and how logs changed; None for none."""
    found: list[Event] = []
    if step.action in STOPPING:
        lost = step.action == "data_loss_shutdown"
        broker = lifeline(Broker, step.args["broker"])
        found.append(Note(broker, "stops, its log is lost" if lost else "stops", CRASH))
    if step.action == "broker_start":
        found.append(Note(lifeline(Broker, step.args["broker"]), "starts", RESTART))
    if step.action == "fence_broker":
        found.append(Note(CONTROLLER, f"session of {step.args['broker']} expires"))
    if len(after.con_metadata_log) > len(before.con_metadata_log):
        found.append(Note(CONTROLLER, _decision(after.con_partition_metadata)))
    for broker in range(1, c.broker_count + 1):
        learned = after.broker_metadata_log[broker] > before.broker_metadata_log[broker]
        if learned and step.action == "receive_metadata_update":
            offset = f"record {after.broker_metadata_log[broker]}"
            found.append(Arrow(AT_ONCE, CONTROLLER, lifeline(Broker, broker), offset))
        if step.action not in STOPPING and (text := ", ".join(_changes(before, after, broker))):
            found.append(Note(lifeline(Broker, broker), text))
    if after.inv_pos_acked != before.inv_pos_acked:
        new = after.inv_pos_acked & ~before.inv_pos_acked
        values = ", ".join(map(letter, members(new)))
        found.append(Note(EVERYBODY, f"{values} acknowledged"))
    return found or None


def _decision(partition: Any) -> str:
    """The partition as the controller has it now."""
    told = f"leader {or_none(partition.leader)} e{partition.leader_epoch - 1}"
    told += f", ISR {set_text(partition.isr)}"
    return told + (f", ELR {set_text(partition.elr)}" if partition.elr else "")


def _changes(before: Any, after: Any, broker: int) -> Iterator[str]:
    """What changed at a broker: its role, its log, its high watermark."""
    role = after.partition_status[broker]
    if (before.partition_status[broker], _epoch(before, broker)) != (role, _epoch(after, broker)):
        yield {
            "leader": f"leads e{_epoch(after, broker)}",
            "follower": f"follows {after.partition_metadata[broker].leader}"
            f" e{_epoch(after, broker)}",
            "nil": "neither leads nor follows",
        }[ReplicaStatus.names[role]]
    old, new = len(before.log[broker]), len(after.log[broker])
    if new > old:
        record = after.log[broker][new - 1]
        yield f"appends {letter(record.value)} e{record.epoch - 1}"
    elif new < old:
        yield f"truncates to {new} record{'s' if new != 1 else ''}"
    if before.hwm[broker] != after.hwm[broker]:
        yield f"hw {after.hwm[broker] - 1}"


def _epoch(s: Any, broker: int) -> int:
    return s.partition_metadata[broker].leader_epoch - 1
