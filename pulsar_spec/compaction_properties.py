"""What the compaction specs claim: the original's invariants, and what must be reachable."""

from protocol_lab import HOLDS, NONE, Spec, eventually
from pulsar_spec.compaction_core import (
    COMPACTOR_IN_PHASE_ONE,
    COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER,
    NULL_KEY,
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


def termination():
    """In the end all messages are sent, all ledgers written and all readings done.

    The original assumes no fairness, so a run may stop anywhere and this fails at once. If a run
    stops only where no step is left (weak fairness of the next step), it holds, crashes included:
    they are bounded. It can't hold with the original's consumer, who counts no readings, and a
    limit of them.
    """
    return eventually(has_ended)


# --- Not in the original -------------------------------------------------------------------------


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


def declare_properties(spec: Spec) -> None:
    """Register the invariants, and what must be reachable."""
    spec.invariant(type_safe)
    spec.invariant(compacted_ledger_leak)
    spec.invariant(compaction_horizon_correctness)
    spec.invariant(duplicate_null_key_message)
    spec.property(termination)
    spec.invariant(between_compactions_one_ledger_exists, by_default=False)
    spec.sometimes(everything_ends)
    spec.sometimes(a_message_is_compacted_away)
