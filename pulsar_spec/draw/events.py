"""What happens in a step, as the sequence diagrams of the compaction specs tell it; messages,
positions and the cursor in a few words.

The specs count messages from 1, as their original does, with a horizon of 0 while nothing is
compacted. All that is shown names messages A, B, C, and counts positions as Pulsar counts the
entries of a ledger, from 0: the horizon is that of the last compacted message, and -1 before.

Told by what the step did to the state and not by the action's name, so that the fixed variants and
a learner's own need nothing more.
"""

from protocol_lab.explain.wording import letter
from protocol_lab.model.containers import last
from protocol_lab.model.layout import NONE
from protocol_lab.model.step_text import Step
from protocol_lab.traces.events import AT_ONCE, CRASH, RESTART, Arrow, Event, Note
from pulsar_spec.model import first_in_ledger


def key_text(message, none: str = "no key") -> str:
    """A message's key: k1, or the words for none."""
    return f"k{message.key}" if message.key else none


def value_text(message) -> str:
    """A message's value: v1, or null."""
    return f"v{message.value}" if message.value else "null"


def message_text(message) -> str:
    """A message with its name: "B: k1 v1"."""
    return f"{letter(message.id)}: {key_text(message)} {value_text(message)}"


def horizon_text(horizon: int) -> str:
    """The horizon with what it means: "0: up to A"."""
    return f"{horizon - 1}: {f'up to {letter(horizon)}' if horizon else 'nothing'}"


def cursor_text(s, nothing: str) -> str:
    """What the cursor on disk names."""
    cursor = s.cursor
    if cursor.compacted_topic_context == NONE:
        return nothing
    ledger = cursor.compacted_topic_context
    return f"ledger {ledger}, horizon {horizon_text(cursor.compaction_horizon)}"


PRODUCER, TOPIC, COMPACTOR, BROKER = "producer", "topic", "compactor", "broker"
DISK, CONSUMER = "ledgers and cursor", "consumer"
ASKS_LEDGER = 1
"""The stage in which a consumer has asked for a message of the compacted ledger."""

NO_CURSOR = "no cursor"
LIFELINES = (PRODUCER, TOPIC, COMPACTOR, BROKER, DISK, CONSUMER)


def compaction_events(before, after, c, step: Step) -> list[Event]:
    """Messages, the compactor's reads and writes, what the broker learns, and what is served."""
    if after.crash_times > before.crash_times:
        return _crash(before, after)
    return [
        *_sent(before, after),
        *_compacted(before, after),
        *_made_known(before, after),
        *_deleted(before, after),
        *_trimmed(before, after),
        *_served(before, after, c),
    ]


def _named(s) -> list[int]:
    """The ledgers that the cursor names, in the variant where it does."""
    return list(s.cursor.ledgers) if hasattr(s.cursor, "ledgers") else []


def _crash(before, after) -> list[Event]:
    return [
        Note(BROKER, "crashes", CRASH),
        Note(BROKER, "another one takes over", RESTART),
        Arrow(AT_ONCE, DISK, BROKER, cursor_text(after, NO_CURSOR)),
        *_deleted(before, after),
    ]


def _sent(before, after) -> list[Event]:
    sent = list(after.messages)[len(before.messages) :]
    return [Arrow(AT_ONCE, PRODUCER, TOPIC, message_text(message)) for message in sent]


def _compacted(before, after) -> list[Event]:
    found: list[Event] = []
    position = after.phase_one_result.read_position
    if position > before.phase_one_result.read_position:
        found.append(Arrow(AT_ONCE, TOPIC, COMPACTOR, f"read up to {letter(position)}"))
    if _named(after) != _named(before):
        names = ", ".join(str(each) for each in _named(after))
        found.append(Arrow(AT_ONCE, COMPACTOR, DISK, f"cursor names ledgers: {names}"))
    for ledger in range(1, len(after.compacted_ledgers) + 1):
        new, old = after.compacted_ledgers[ledger], before.compacted_ledgers[ledger]
        if new.exists and not old.exists:
            names = ", ".join(letter(message.id) for message in new.messages)
            text = f"ledger {ledger}, messages: {names or 'none'}"
            found.append(Arrow(AT_ONCE, COMPACTOR, DISK, text))
    return found


def _made_known(before, after) -> list[Event]:
    changes = []
    if after.compacted_topic_context != before.compacted_topic_context:
        changes.append(f"context ledger {after.compacted_topic_context}")
    if after.compaction_horizon != before.compaction_horizon:
        changes.append(f"horizon {horizon_text(after.compaction_horizon)}")
    found: list[Event] = []
    if changes:
        found.append(Arrow(AT_ONCE, COMPACTOR, BROKER, ", ".join(changes)))
    if cursor_text(after, NO_CURSOR) != cursor_text(before, NO_CURSOR):
        found.append(Arrow(AT_ONCE, BROKER, DISK, cursor_text(after, NO_CURSOR)))
    return found


def _deleted(before, after) -> list[Event]:
    deleted: list[Event] = [
        Arrow(AT_ONCE, BROKER, DISK, f"delete ledger {ledger}")
        for ledger in range(1, len(after.compacted_ledgers) + 1)
        if before.compacted_ledgers[ledger].exists and not after.compacted_ledgers[ledger].exists
    ]
    ends = (
        before.compactor_state == "compactor_in_phase_two_delete_ledger"
        and after.compactor_state == "compactor_in_phase_one"
        and after.crash_times == before.crash_times
    )
    return deleted or ([Note(BROKER, "no ledger to delete")] if ends else [])


def _trimmed(before, after) -> list[Event]:
    """In the variant whose topic is trimmed."""
    trimmed = getattr(after, "trimmed", 0)
    if trimmed == getattr(before, "trimmed", 0):
        return []
    return [Note(TOPIC, f"messages up to {letter(trimmed)} are deleted")]


def _asked(before, after) -> list[Event]:
    """In the variant whose consumer asks first."""
    stage = getattr(after, "consumer_stage", 0)
    if stage == getattr(before, "consumer_stage", 0) or not stage:
        return []
    whom = "compacted ledger" if stage == ASKS_LEDGER else "topic"
    position = before.consumer.position - 1
    return [Arrow(AT_ONCE, CONSUMER, BROKER, f"from position {position}: the {whom}")]


def _served(before, after, c) -> list[Event]:
    old, new = before.consumer, after.consumer
    if len(new.received) > len(old.received):
        received = after.messages[last(new.received) - 1]
        source = DISK if _is_from_ledger(before, c, received.id) else TOPIC
        return [Arrow(AT_ONCE, source, CONSUMER, message_text(received))]
    if after.consume_times > before.consume_times:
        return [Note(CONSUMER, "has read everything")]
    if new.connected and (not old.connected or new.ledger != old.ledger):
        where = "from position 0"
        if new.ledger:
            where = f"ledger {new.ledger}, then from position {new.topic_position - 1}"
        return [Arrow(AT_ONCE, CONSUMER, BROKER, f"connect: {where}")]
    return _asked(before, after)


def _is_from_ledger(before, c, received: int) -> bool:
    """Does the consumer get this message from its ledger, or from the context's?"""
    if getattr(before, "consumer_stage", 0):
        return before.consumer_stage == ASKS_LEDGER
    if before.consumer.ledger != NONE:
        return True
    position = before.consumer.position
    return (
        c.consumer_reads == "by_position"
        and position <= before.compaction_horizon
        and first_in_ledger(before, before.compacted_topic_context, position) == received
    )
