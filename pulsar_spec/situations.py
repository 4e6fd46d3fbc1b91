"""Situations: states of a compacted topic that a learner may search for. They claim nothing."""

from protocol_lab import NONE
from pulsar_spec.actions.reading_consumer import has_lost_its_ledger, has_received_everything
from pulsar_spec.model import COMPACTOR_IN_PHASE_ONE, NULL_KEY, Constants, State
from pulsar_spec.properties import existing_ledgers


def a_crash_would_take_consumers_back(s: State, c: Constants) -> bool:
    """The broker's memory is ahead of the cursor on disk."""
    return (
        s.compacted_topic_context != s.cursor.compacted_topic_context
        or s.compaction_horizon != s.cursor.compaction_horizon
    )


def the_ledger_reaches_beyond_the_horizon(s: State, c: Constants) -> bool:
    """The context's ledger has a message from after the horizon."""
    if s.compacted_topic_context == NONE:
        return False
    messages = s.compacted_ledgers[s.compacted_topic_context].messages
    return any(messages.items[k].id > s.compaction_horizon for k in range(messages.length))


def a_ledger_is_left_over(s: State, c: Constants) -> bool:
    """The compactor rests, and there are two compacted ledgers."""
    return s.compactor_state == COMPACTOR_IN_PHASE_ONE and existing_ledgers(s) > 1


def a_ledger_is_empty(s: State, c: Constants) -> bool:
    """Consumers read a compacted ledger without a message in it."""
    if s.compacted_topic_context == NONE:
        return False
    return s.compacted_ledgers[s.compacted_topic_context].messages.length == 0


def one_message_stands_for_all(s: State, c: Constants) -> bool:
    """The context's ledger has one message, and the horizon counts three or more."""
    if s.compacted_topic_context == NONE:
        return False
    context = s.compacted_ledgers[s.compacted_topic_context]
    return context.messages.length == 1 and s.compaction_horizon >= 3


def the_consumers_ledger_was_deleted(s: State, c: Constants) -> bool:
    """The ledger that the consumer reads was deleted under it."""
    return has_lost_its_ledger(s)


def the_consumer_was_spared_a_message(s: State, c: Constants) -> bool:
    """The consumer is at the end and has received fewer messages with a key than were sent."""
    received = s.consumer.received
    keyed = sum(
        1 for k in range(received.length) if s.messages.items[received.items[k] - 1].key != NULL_KEY
    )
    sent = sum(1 for k in range(s.messages.length) if s.messages.items[k].key != NULL_KEY)
    return has_received_everything(s, c) and keyed < sent
