"""Not in the original: a consumer that reads a compacted topic, if `consumer_reads` says how.

- ledger_then_topic, which is what the original's duplicate_null_key_message has in mind: when it
  connects, it takes the context's compacted ledger and the horizon. It reads that ledger to its
  end, and then the topic from the message after that horizon on.
- by_position, as Pulsar's brokers serve a consumer with readCompacted: it asks for what comes after
  the message that it got last. If that is at or before the horizon, it gets the next message that
  the context's ledger has; otherwise, or if there is none, it gets the topic's.

It reads from the first message to the last, consume_times_limit times, and remembers nothing from
one time to the next. If its ledger is deleted while it reads, it has to connect again.
"""

from protocol_lab import NONE, TAKEN, append
from pulsar_spec.model import BY_POSITION, LEDGER_THEN_TOPIC, NOTHING, Constants, State

# --- Which message comes next ------------------------------------------------------------------


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
