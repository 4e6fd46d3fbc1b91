"""The compactor: it reads the topic twice, writes a compacted ledger, and makes it known.

Phase one notes the last message of each key. Phase two writes those messages into a new ledger,
then updates the context, the horizon and the cursor one after the other, and deletes the old
ledger.
"""

from protocol_lab import TAKEN, append, erase
from pulsar_spec.model import (
    COMPACTOR_IN_PHASE_ONE,
    COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER,
    COMPACTOR_IN_PHASE_TWO_PERSIST_CUSROR,
    COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT,
    COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON,
    COMPACTOR_IN_PHASE_TWO_WRITE,
    NULL_KEY,
    Constants,
    State,
    max_compacted_ledger_id,
)


def compactor_phase_one(s: State, c: Constants):
    """The compactor reads the topic to its end and notes the last message of each key."""
    if s.compactor_state != COMPACTOR_IN_PHASE_ONE:
        return "the compactor is not in phase one"
    if s.messages.length == 0:
        return "the topic is empty"
    s.phase_one_result.read_position = s.messages.length
    for k in range(s.messages.length):
        if s.messages.items[k].key != NULL_KEY:
            s.phase_one_result.latest_for_key[s.messages.items[k].key] = s.messages.items[k].id
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_WRITE
    return TAKEN


def is_kept(s, c, message) -> bool:
    """Does a message survive compaction? The last of its key does, whatever its value is."""
    if message.key == NULL_KEY:
        return bool(c.retain_null_key)
    return message.id == s.phase_one_result.latest_for_key[message.key]


def write_ledger(s, c, new) -> None:
    """Write what is kept of what phase one has read into a new compacted ledger."""
    s.compacted_ledgers[new].exists = True
    for k in range(s.phase_one_result.read_position):
        if is_kept(s, c, s.messages.items[k]):
            append(s.compacted_ledgers[new].messages, s.messages.items[k])
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT


def compactor_phase_two_write(s: State, c: Constants):
    """The compactor reads the topic again and writes what is kept into a new compacted ledger."""
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_WRITE:
        return "the compactor is not about to write a ledger"
    new = max_compacted_ledger_id(s) + 1
    if new > c.compaction_times_limit:
        return "compaction_times_limit ledgers have been written"
    write_ledger(s, c, new)
    return TAKEN


def compactor_phase_two_update_context(s: State, c: Constants):
    """From now on consumers read the new ledger."""
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT:
        return "the compactor is not about to update the context"
    s.compacted_topic_context = max_compacted_ledger_id(s)
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON
    return TAKEN


def compactor_phase_two_update_horizon(s: State, c: Constants):
    """From now on the ledger stands for the topic up to where phase one has read."""
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON:
        return "the compactor is not about to update the horizon"
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_PERSIST_CUSROR
    return TAKEN


def compactor_phase_two_persist_cusror(s: State, c: Constants):
    """Horizon and context are written to disk, as properties of the compaction cursor."""
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_PERSIST_CUSROR:
        return "the compactor is not about to persist the cursor"
    s.cursor.compaction_horizon = s.compaction_horizon
    s.cursor.compacted_topic_context = s.compacted_topic_context
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER
    return TAKEN


def compactor_phase_two_delete_ledger(s: State, c: Constants):
    """The last ledger but one is deleted, if it exists, and the compactor begins anew."""
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER:
        return "the compactor is not about to delete a ledger"
    old = max_compacted_ledger_id(s) - 1
    if old > 0:
        erase(s.compacted_ledgers, old)
    forget_phase_one(s)
    return TAKEN


def forget_phase_one(s) -> None:
    """The compactor drops the result of phase one, which is in its memory only."""
    s.phase_one_result = 0
    s.compactor_state = COMPACTOR_IN_PHASE_ONE
