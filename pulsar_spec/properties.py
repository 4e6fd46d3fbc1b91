"""What is claimed of compaction, for every variant: `declare_properties` registers it.

Invariants, a consumer's expectations, what must eventually happen, and situations worth finding.
"""

from protocol_lab import *
from pulsar_spec.model import *

# --- The original's invariants -----------------------------------------------------------------


def is_message(s: State, c: Constants, message) -> bool:
    """Has the message an id, a key and a value of their types?"""
    return (
        1 <= message.id <= c.message_sent_limit
        and 0 <= message.key <= c.key_space
        and 0 <= message.value <= c.value_space
    )


def is_phase_one_result(s: State, c: Constants) -> bool:
    """Is there no result, or one that points into the topic?"""
    result = s.phase_one_result
    return 0 <= result.read_position <= len(s.messages) and all(
        0 <= result.latest_for_key[key] <= result.read_position for key in range(c.key_space + 1)
    )


def type_safe(s: State, c: Constants):
    """Every variable has a value of its type."""
    for message in s.messages:
        if not is_message(s, c, message):
            return "a message has an id, key or value that there is not"
    for ledger in range(1, c.compaction_times_limit + 1):
        for message in s.compacted_ledgers[ledger].messages:
            if not is_message(s, c, message):
                return "a compacted message has an id, key or value that there is not"
    if not is_phase_one_result(s, c):
        return "the result of phase one points outside of the topic"
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


def compacted_ledger_leak(s: State, c: Constants):
    """There are never more than two compacted ledgers: the one in use, and its successor."""
    return "three compacted ledgers exist" if existing_ledgers(s, c) > 2 else HOLDS


def is_in_context(s: State, message) -> bool:
    """Does the context's ledger have a message of the same key that is not older?"""
    if s.compacted_topic_context == NONE:
        return False
    for kept in s.compacted_ledgers[s.compacted_topic_context].messages:
        if kept.key == message.key and kept.id >= message.id:
            return True
    return False


def compaction_horizon_correctness(s: State, c: Constants):
    """Of each message up to the horizon, the context's ledger has that one or a later one."""
    for k in range(s.compaction_horizon):
        message = s.messages[k]
        if (message.key != NULL_KEY or c.retain_null_key) and not is_in_context(s, message):
            return "the context's ledger lacks what the horizon promises"
    return HOLDS


def duplicate_null_key_message(s: State, c: Constants):
    """No message without a key is both in the context's ledger and after the horizon."""
    if not c.retain_null_key or s.compacted_topic_context == NONE:
        return HOLDS
    for message in s.compacted_ledgers[s.compacted_topic_context].messages:
        if message.key == NULL_KEY and message.id > s.compaction_horizon:
            return "a message without a key is in the ledger and after the horizon"
    return HOLDS


# --- Not in the original: what a consumer that reads expects -------------------------------------


def key_of(s: State, id) -> int:
    """The key of the topic's message with this id."""
    return s.messages[id - 1].key


def value_of(s: State, id) -> int:
    """The value of the topic's message with this id."""
    return s.messages[id - 1].value


def last_sent(s: State, key) -> int:
    """The id of the topic's last message of a key; 0 if there is none."""
    latest = 0
    for message in s.messages:
        if message.key == key:
            latest = message.id
    return latest


def last_received(s: State, key) -> int:
    """The id of the message of a key that the consumer got last; 0 if it got none."""
    latest = 0
    for id in s.consumer.received:
        if key_of(s, id) == key:
            latest = id
    return latest


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
    for k in range(len(received)):
        for earlier in range(k):
            deleted, old = received[earlier], received[k]
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
    for k in range(len(received)):
        for earlier in range(k):
            if received[earlier] == received[k] and key_of(s, received[k]) == NULL_KEY:
                return "a message without a key was received twice"
    return HOLDS


# --- Not in the original: a stricter one, and what must be reachable -----------------------------


def between_compactions_one_ledger_exists(s: State, c: Constants):
    """While the compactor rests, no ledger is on disk but the cursor's.

    Stricter than compacted_ledger_leak: it fails as soon as a ledger is left over.
    """
    if s.compactor_state != "compactor_in_phase_one":
        return HOLDS
    for ledger in range(1, c.compaction_times_limit + 1):
        if s.compacted_ledgers[ledger].exists and ledger != s.cursor.compacted_topic_context:
            return "a compacted ledger is left over"
    return HOLDS


def null_key_messages_are_not_lost(s: State, c: Constants):
    """Every message without a key up to the horizon is in the context's ledger.

    What compaction_horizon_correctness does not check: it accepts a later message of the same key,
    also for messages without a key, which nothing supersedes. False unless `retain_null_key` is on.
    """
    for k in range(s.compaction_horizon):
        message = s.messages[k]
        if message.key == NULL_KEY and (
            first_in_ledger(s, s.compacted_topic_context, message.id) != message.id
        ):
            return "the context's ledger lacks a message without a key"
    return HOLDS


# --- What must eventually happen -----------------------------------------------------------------


def termination():
    """Eventually all messages are sent, all ledgers written and all readings done.

    The original assumes no fairness, so a run may stop anywhere and this fails at once. If a run
    stops only where no step is left (weak fairness of the next step), it holds, crashes included:
    they are bounded. It can't hold with the original's consumer and a limit on readings, since that
    consumer counts none.
    """
    return eventually(has_ended)


# --- Situations: the first two must be reachable, the others claim nothing -----------------------


def everything_ends(s: State, c: Constants) -> bool:
    """All messages are sent, all ledgers written, all readings done."""
    return has_ended(s, c)


def a_message_is_compacted_away(s: State, c: Constants) -> bool:
    """A consumer is spared a message: the context's ledger has fewer than its horizon promises."""
    if s.compacted_topic_context == NONE:
        return False
    return len(s.compacted_ledgers[s.compacted_topic_context].messages) < s.compaction_horizon


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
    return any(message.id > s.compaction_horizon for message in messages)


def a_ledger_is_left_over(s: State, c: Constants) -> bool:
    """The compactor rests, and there are two compacted ledgers."""
    return s.compactor_state == "compactor_in_phase_one" and existing_ledgers(s, c) > 1


def a_ledger_is_empty(s: State, c: Constants) -> bool:
    """Consumers read a compacted ledger without a message in it."""
    if s.compacted_topic_context == NONE:
        return False
    return len(s.compacted_ledgers[s.compacted_topic_context].messages) == 0


def one_message_stands_for_all(s: State, c: Constants) -> bool:
    """The context's ledger has one message, which stands for three or more of the topic."""
    if s.compacted_topic_context == NONE:
        return False
    kept = len(s.compacted_ledgers[s.compacted_topic_context].messages)
    return kept == 1 and s.compaction_horizon >= 3


def the_consumers_ledger_was_deleted(s: State, c: Constants) -> bool:
    """The ledger that the consumer reads was deleted under it."""
    return has_lost_its_ledger(s)


def the_consumer_was_spared_a_message(s: State, c: Constants) -> bool:
    """The consumer is at the end and has received fewer messages with a key than were sent."""
    received = sum(1 for id in s.consumer.received if key_of(s, id) != NULL_KEY)
    sent = sum(1 for message in s.messages if message.key != NULL_KEY)
    return has_received_everything(s, c) and received < sent


# --- All of it -----------------------------------------------------------------------------------


def declare_properties(spec: Spec) -> None:
    """Declare for one variant what is above, in the order in which a search checks it."""
    spec.invariant(ends_with_latest_values)
    spec.invariant(deleted_keys_stay_deleted)
    spec.invariant(null_key_message_received_once)
    spec.invariant(type_safe)
    spec.invariant(compacted_ledger_leak)
    spec.invariant(compaction_horizon_correctness)
    spec.invariant(duplicate_null_key_message)
    spec.property(termination)
    spec.invariant(between_compactions_one_ledger_exists, by_default=False)
    spec.invariant(null_key_messages_are_not_lost, by_default=False)
    spec.situation(everything_ends, expected=True)
    spec.situation(a_message_is_compacted_away, expected=True)
    spec.situation(a_crash_would_take_consumers_back)
    spec.situation(the_ledger_reaches_beyond_the_horizon)
    spec.situation(a_ledger_is_left_over)
    spec.situation(a_ledger_is_empty)
    spec.situation(one_message_stands_for_all)
    spec.situation(the_consumers_ledger_was_deleted)
    spec.situation(the_consumer_was_spared_a_message)
