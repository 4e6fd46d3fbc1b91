"""What all compaction specs share: constants, state, and what happens to a topic.

A producer sends keyed messages to a topic. A compactor reads the topic twice and writes the latest
message of each key into a new compacted ledger. Then it makes the result known, step by step:

    compacted_topic_context   which compacted ledger is read, in the broker's memory
    compaction_horizon        up to which message it stands for the topic, in the broker's memory
    cursor                    both of these on disk: what a broker has after a crash
    compacted_ledgers         the ledgers on disk, of which the last but one is deleted

Message ids count from 1, and so do ledger ids. Key 0 is the null key; value 0 is the null value,
with which applications delete a key. The names are the original's, its spelling of "persist_cusror"
included, and the actions stand in the order in which a message lives.
"""

from typing import Annotated, NamedTuple

from protocol_lab import (
    TAKEN,
    Array,
    Bool,
    Int8,
    Limits,
    Named,
    Node,
    Per,
    Range,
    Seq,
    Sequences,
    Struct,
    append,
    choice,
    erase,
    flag,
)

# --- Constants -------------------------------------------------------------------------------

NOTHING, LEDGER_THEN_TOPIC, BY_POSITION = 0, 1, 2


class Constants(NamedTuple):
    """How much happens, and what of it is modelled. All of it is finite: nothing is cut off."""

    message_sent_limit: Annotated[
        int, Limits(0, 20, "messages that the producer sends", classes=(3, 8, 20))
    ] = 3
    compaction_times_limit: Annotated[
        int, Limits(0, 20, "compacted ledgers that may be written", classes=(3, 8, 20))
    ] = 3
    model_consumer: Annotated[int, flag("is there a consumer")] = 0
    consume_times_limit: Annotated[
        int, Limits(0, 99, "times that a consumer which reads does so from start to end")
    ] = 0
    key_space: Annotated[
        int, Limits(0, 20, "keys beside the null key: 1, 2, ...", classes=(2, 8, 20))
    ] = 2
    value_space: Annotated[int, Limits(0, 99, "values beside the null value: 1, 2, ...")] = 2
    retain_null_key: Annotated[
        int, flag("does compaction keep messages without a key (topicCompactionRetainNullKey)")
    ] = 0
    max_crash_times: Annotated[int, Limits(0, 99, "times that the broker may crash")] = 1
    model_producer: Annotated[
        int, flag("does a producer send, or are all messages there from the start")
    ] = 1
    consumer_reads: Annotated[
        int,
        choice(
            "nothing",
            "ledger_then_topic",
            "by_position",
            meaning="what the consumer does: nothing, as in the original, or how it reads",
        ),
    ] = NOTHING


# --- State -----------------------------------------------------------------------------------

LedgerId = Node("compaction_times_limit")

(
    COMPACTOR_IN_PHASE_ONE,
    COMPACTOR_IN_PHASE_TWO_WRITE,
    COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT,
    COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON,
    COMPACTOR_IN_PHASE_TWO_PERSIST_CUSROR,
    COMPACTOR_IN_PHASE_TWO_DELETE_LEDGER,
) = range(6)

CompactorState = Named(
    (
        "compactor_in_phase_one",
        "compactor_in_phase_two_write",
        "compactor_in_phase_two_update_context",
        "compactor_in_phase_two_update_horizon",
        "compactor_in_phase_two_persist_cusror",
        "compactor_in_phase_two_delete_ledger",
    )
)

NULL_KEY, NULL_VALUE = 0, 0


class Message(Struct):
    """A message of the topic; its id is its position."""

    id: Int8
    key: Int8
    value: Int8


class Ledger(Struct):
    """A compacted ledger: messages of the topic, by rising id. An existing one may be empty."""

    exists: Bool
    messages: Seq(Message, "message_sent_limit")


class Cursor(Struct):
    """What the subscription __compaction has on disk; all NONE before the first compaction."""

    compaction_horizon: Int8
    compacted_topic_context: LedgerId


class PhaseOneResult(Struct):
    """How far phase one has read, and the last message of each key; read_position 0 is no result.

    latest_for_key is indexed by the key; the slot of the null key stays 0.
    """

    read_position: Int8
    latest_for_key: Array(Int8, "key_space + 1")


class Consumer(Struct):
    """A consumer that reads. `received` are the ids of what it got since it has connected."""

    connected: Bool
    ledger: LedgerId  # the compacted ledger that it reads, NONE for the topic
    position: Int8  # it asks for messages from this id on
    topic_position: Int8  # where it goes on in the topic after that ledger
    received: Seq(Int8, "2 * message_sent_limit")


class State(Struct):
    """Topic, ledgers and cursor on disk; the compactor and the broker's memory; the consumer."""

    messages: Seq(Message, "message_sent_limit")
    compacted_ledgers: Per(LedgerId, Ledger)
    cursor: Cursor
    compactor_state: CompactorState
    phase_one_result: PhaseOneResult
    compaction_horizon: Int8
    compacted_topic_context: LedgerId
    crash_times: Int8
    consume_times: Int8
    consumer: Consumer


def sent_before(c) -> int:
    """How many messages are there from the start: all, if no producer is modelled."""
    return 0 if c.model_producer else c.message_sent_limit


def init(
    s: State,
    c: Constants,
    keys: Sequences(0, "key_space", sent_before),
    values: Sequences(0, "value_space", sent_before),
):
    """The topic is empty, or holds any sequence of messages; nothing has been compacted."""
    for k in range(len(keys)):
        append(s.messages, Message(id=k + 1, key=keys[k], value=values[k]))
    return TAKEN


# --- What the guards ask ---------------------------------------------------------------------


def max_compacted_ledger_id(s) -> int:
    """The latest of the compacted ledgers that exist; 0 if there is none."""
    latest = 0
    for ledger in range(1, len(s.compacted_ledgers)):
        if s.compacted_ledgers[ledger].exists:
            latest = ledger
    return latest


def has_ended(s, c) -> bool:
    """Has everything been sent, and every ledger been written, and is the consumer through?"""
    return (
        s.messages.length == c.message_sent_limit
        and s.compactor_state == COMPACTOR_IN_PHASE_TWO_WRITE
        and max_compacted_ledger_id(s) == c.compaction_times_limit
        and (not c.model_consumer or s.consume_times == c.consume_times_limit)
    )


# --- The producer ------------------------------------------------------------------------------


def producer(
    s: State, c: Constants, input_key: Range(0, "key_space"), input_value: Range(0, "value_space")
):
    """The producer sends a message, with any key and value or without."""
    if not c.model_producer:
        return "all messages are there from the start"
    if s.messages.length >= c.message_sent_limit:
        return "all messages have been sent"
    append(s.messages, Message(id=s.messages.length + 1, key=input_key, value=input_value))
    return TAKEN


# --- The compactor -----------------------------------------------------------------------------


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


# --- Crashes -----------------------------------------------------------------------------------


def take_over(s) -> None:
    """Another broker serves the topic. It knows what the cursor says, and nothing else."""
    s.crash_times += 1
    forget_phase_one(s)
    s.compaction_horizon = s.cursor.compaction_horizon
    s.compacted_topic_context = s.cursor.compacted_topic_context


def broker_crash(s: State, c: Constants):
    """The broker crashes, and the compactor with it; another broker reads the cursor from disk."""
    if s.crash_times >= c.max_crash_times:
        return "the broker has crashed max_crash_times times"
    take_over(s)
    return TAKEN


# --- What changes nothing ------------------------------------------------------------------------


def consumer(s: State, c: Constants):
    """The original's consumer, which does nothing at any time."""
    if not c.model_consumer:
        return "no consumer is modelled"
    if c.consumer_reads != NOTHING:
        return "the consumer reads; see the other actions"
    return TAKEN


def terminating(s: State, c: Constants):
    """All is done and stays as it is: so that the end is no deadlock."""
    if not has_ended(s, c):
        return "not all messages are sent, ledgers written or readings done"
    return TAKEN
