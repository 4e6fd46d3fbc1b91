"""A consumer that reads a compacted topic (the original's does nothing): `consumer_reads`.

- ledger_then_topic, which is what the original's duplicate_null_key_message has in mind: when it
  connects, it takes the context's compacted ledger and the horizon. It reads that ledger to its
  end, and then the topic from the message after that horizon on.
- by_position, as Pulsar's brokers serve a consumer with readCompacted: it asks for what comes after
  the message that it got last. If that is at or before the horizon, it gets the next message that
  the context's ledger has; otherwise, or if there is none, it gets the topic's.

It reads from the first message to the last, consume_times_limit times, and remembers nothing from
one time to the next. If its ledger is deleted while it reads, it has to connect again.
"""

from protocol_lab import HOLDS, NONE, TAKEN, Spec, append
from pulsar_spec.compaction_core import (
    BY_POSITION,
    LEDGER_THEN_TOPIC,
    NOTHING,
    NULL_KEY,
    NULL_VALUE,
    Constants,
    State,
)

# --- What it gets ------------------------------------------------------------------------------


def first_in_ledger(s, ledger, position) -> int:
    """The id of the first message from this position on that a compacted ledger has, or 0."""
    if ledger == NONE:
        return 0
    messages = s.compacted_ledgers[ledger].messages
    for k in range(messages.length):
        if messages.items[k].id >= position:
            return messages.items[k].id
    return 0


def next_received(s, c) -> int:
    """The id of the message that the consumer gets next; 0 if there is none."""
    position = s.consumer.position
    if s.consumer.ledger != NONE:
        return first_in_ledger(s, s.consumer.ledger, position)
    if c.consumer_reads == BY_POSITION and position <= s.compaction_horizon:
        found = first_in_ledger(s, s.compacted_topic_context, position)
        if found > 0:
            return found
        position = s.compaction_horizon + 1
    return position if position <= s.messages.length else 0


def has_lost_its_ledger(s) -> bool:
    """Was the ledger that the consumer reads deleted?"""
    return s.consumer.ledger != NONE and not s.compacted_ledgers[s.consumer.ledger].exists


def has_received_everything(s, c) -> bool:
    """Is the consumer connected, and at the end of the topic?"""
    return bool(s.consumer.connected) and not has_lost_its_ledger(s) and next_received(s, c) == 0


# --- Actions -----------------------------------------------------------------------------------


def disconnect(s) -> None:
    """Forget where the consumer is and what it has received."""
    s.consumer = 0


def consumer_connects(s: State, c: Constants):
    """The consumer connects, to read from the first message on."""
    if not c.model_consumer or c.consumer_reads == NOTHING:
        return "no consumer that reads is modelled"
    if s.consumer.connected and not has_lost_its_ledger(s):
        return "the consumer is connected"
    if s.consume_times >= c.consume_times_limit:
        return "the consumer has read the topic consume_times_limit times"
    disconnect(s)
    s.consumer.connected = True
    s.consumer.position = 1
    if c.consumer_reads == LEDGER_THEN_TOPIC and s.compacted_topic_context != NONE:
        s.consumer.ledger = s.compacted_topic_context
        s.consumer.topic_position = s.compaction_horizon + 1
        go_on_in_the_topic(s)
    return TAKEN


def go_on_in_the_topic(s) -> None:
    """A consumer that reads a ledger and has got all of it turns to the topic."""
    at_end = first_in_ledger(s, s.consumer.ledger, s.consumer.position) == 0
    if s.consumer.ledger != NONE and at_end:
        s.consumer.ledger = NONE
        s.consumer.position = s.consumer.topic_position
        s.consumer.topic_position = 0


def consumer_receives(s: State, c: Constants):
    """The consumer gets the next message, from the compacted ledger or from the topic."""
    if not s.consumer.connected:
        return "the consumer is not connected"
    if has_lost_its_ledger(s):
        return "the compacted ledger that the consumer reads was deleted"
    if next_received(s, c) == 0:
        return "there is no message that the consumer has not received"
    received = next_received(s, c)
    append(s.consumer.received, received)
    s.consumer.position = received + 1
    go_on_in_the_topic(s)
    return TAKEN


def consumer_finishes(s: State, c: Constants):
    """The consumer has read the whole topic, and nothing more will be sent."""
    if s.messages.length < c.message_sent_limit:
        return "not all messages have been sent"
    if not has_received_everything(s, c):
        return "the consumer is not connected, or has not received everything"
    disconnect(s)
    s.consume_times += 1
    return TAKEN


# --- What a user expects -------------------------------------------------------------------------


def key_of(s, id) -> int:
    """The key of the topic's message with this id."""
    return s.messages.items[id - 1].key


def value_of(s, id) -> int:
    """The value of the topic's message with this id."""
    return s.messages.items[id - 1].value


def last_sent(s, key) -> int:
    """The id of the topic's last message of a key; 0 if there is none."""
    last = 0
    for k in range(s.messages.length):
        if s.messages.items[k].key == key:
            last = k + 1
    return last


def last_received(s, key) -> int:
    """The id of the message of a key that the consumer got last; 0 if it got none."""
    received, last = s.consumer.received, 0
    for k in range(received.length):
        if key_of(s, received.items[k]) == key:
            last = received.items[k]
    return last


def ends_with_latest_values(s: State, c: Constants):
    """A consumer that has received everything has the latest message of every key."""
    if not has_received_everything(s, c):
        return HOLDS
    for key in range(1, c.key_space + 1):
        if last_received(s, key) != last_sent(s, key):
            return "the consumer is at the end without the latest message of a key"
    return HOLDS


def deleted_keys_stay_deleted(s: State, c: Constants):
    """What was sent before a key's deletion does not reach the consumer after the deletion."""
    received = s.consumer.received
    for k in range(received.length):
        for earlier in range(k):
            deleted, old = received.items[earlier], received.items[k]
            if (
                old < deleted
                and key_of(s, old) == key_of(s, deleted)
                and key_of(s, old) != NULL_KEY
                and value_of(s, deleted) == NULL_VALUE
                and value_of(s, old) != NULL_VALUE
            ):
                return "a deleted key has come back with an older value"
    return HOLDS


def null_key_message_received_once(s: State, c: Constants):
    """No message without a key reaches the consumer twice."""
    received = s.consumer.received
    for k in range(received.length):
        for earlier in range(k):
            if received.items[earlier] == received.items[k] and (
                key_of(s, received.items[k]) == NULL_KEY
            ):
                return "a message without a key was received twice"
    return HOLDS


def declare_consumer(spec: Spec) -> None:
    """Register the consumer's actions, and what its user expects."""
    spec.action(consumer_connects)
    spec.action(consumer_receives)
    spec.action(consumer_finishes)
    spec.invariant(ends_with_latest_values)
    spec.invariant(deleted_keys_stay_deleted)
    spec.invariant(null_key_message_received_once)
