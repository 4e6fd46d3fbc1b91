"""What is claimed of compaction: invariants, a consumer's expectations, and reachable states."""

from protocol_lab import HOLDS, NONE
from pulsar_spec.actions.reading_consumer import has_received_everything
from pulsar_spec.model import (
    COMPACTOR_IN_PHASE_ONE,
    COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER,
    NULL_KEY,
    NULL_VALUE,
    Constants,
    State,
    has_ended,
)

# --- The original's invariants -----------------------------------------------------------------


def is_message(s, c, message) -> bool:
    """Has the message an id, a key and a value of their types?"""
    return (
        1 <= message.id <= c.message_sent_limit
        and 0 <= message.key <= c.key_space
        and 0 <= message.value <= c.value_space
    )


def is_phase_one_result(s, c) -> bool:
    """Is there no result, or one that points into the topic?"""
    result = s.phase_one_result
    return 0 <= result.read_position <= s.messages.length and all(
        0 <= result.latest_for_key[key] <= result.read_position for key in range(c.key_space + 1)
    )


def type_safe(s: State, c: Constants):
    """Every variable has a value of its type."""
    for k in range(s.messages.length):
        if not is_message(s, c, s.messages.items[k]):
            return "a message has an id, key or value that there is not"
    for ledger in range(1, c.compaction_times_limit + 1):
        messages = s.compacted_ledgers[ledger].messages
        for k in range(messages.length):
            if not is_message(s, c, messages.items[k]):
                return "a compacted message has an id, key or value that there is not"
    if not is_phase_one_result(s, c):
        return "the result of phase one points outside of the topic"
    if not (COMPACTOR_IN_PHASE_ONE <= s.compactor_state <= COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER):
        return "the compactor is in no known state"
    if not 0 <= s.compaction_horizon <= c.message_sent_limit:
        return "the horizon is out of range"
    if not 0 <= s.compacted_topic_context <= c.compaction_times_limit:
        return "the context is out of range"
    if not 0 <= s.crash_times <= c.max_crash_times:
        return "the broker has crashed too often"
    if s.cursor.compacted_topic_context != NONE and s.cursor.compaction_horizon < 1:
        return "the cursor has a context and no horizon"
    if s.cursor.compacted_topic_context == NONE and s.cursor.compaction_horizon != 0:
        return "the cursor has a horizon and no context"
    return HOLDS


def existing_ledgers(s) -> int:
    """How many compacted ledgers are on disk."""
    return sum(
        1 for ledger in range(1, len(s.compacted_ledgers)) if s.compacted_ledgers[ledger].exists
    )


def compacted_ledger_leak(s: State, c: Constants):
    """There are never more than two compacted ledgers: the one in use, and its successor."""
    return "three compacted ledgers exist" if existing_ledgers(s) > 2 else HOLDS


def is_in_context(s, message) -> bool:
    """Does the context's ledger have a message of the same key that is not older?"""
    if s.compacted_topic_context == NONE:
        return False
    messages = s.compacted_ledgers[s.compacted_topic_context].messages
    for k in range(messages.length):
        if messages.items[k].key == message.key and messages.items[k].id >= message.id:
            return True
    return False


def compaction_horizon_correctness(s: State, c: Constants):
    """Of each message up to the horizon, the context's ledger has that one or a later one."""
    for k in range(s.compaction_horizon):
        message = s.messages.items[k]
        if (message.key != NULL_KEY or c.retain_null_key) and not is_in_context(s, message):
            return "the context's ledger lacks what the horizon promises"
    return HOLDS


def duplicate_null_key_message(s: State, c: Constants):
    """No message without a key is both in the context's ledger and after the horizon."""
    if not c.retain_null_key or s.compacted_topic_context == NONE:
        return HOLDS
    messages = s.compacted_ledgers[s.compacted_topic_context].messages
    for k in range(messages.length):
        if messages.items[k].key == NULL_KEY and messages.items[k].id > s.compaction_horizon:
            return "a message without a key is in the ledger and after the horizon"
    return HOLDS


# --- Not in the original: what a consumer that reads expects -------------------------------------


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


# --- Not in the original: a stricter one, and what must be reachable -----------------------------


def between_compactions_one_ledger_exists(s: State, c: Constants):
    """While the compactor rests, no ledger is on disk but the cursor's.

    Stricter than compacted_ledger_leak: it fails as soon as a ledger is left over.
    """
    if s.compactor_state != COMPACTOR_IN_PHASE_ONE:
        return HOLDS
    for ledger in range(1, c.compaction_times_limit + 1):
        if s.compacted_ledgers[ledger].exists and ledger != s.cursor.compacted_topic_context:
            return "a compacted ledger is left over"
    return HOLDS


def everything_ends(s: State, c: Constants):
    """All messages are sent, all ledgers written, all readings done."""
    return HOLDS if has_ended(s, c) else "something is still to be done"


def a_message_is_compacted_away(s: State, c: Constants):
    """A consumer is spared a message: the context's ledger has fewer than the horizon counts."""
    if s.compacted_topic_context == NONE:
        return "consumers have no compacted ledger"
    context = s.compacted_ledgers[s.compacted_topic_context]
    if context.messages.length < s.compaction_horizon:
        return HOLDS
    return "the context's ledger has all messages up to the horizon"
